import { describe, expect, it } from "vitest";
import { failed, isNotInstalled, masked, problemOf, retryAfterMsOf } from "./failure.ts";

const nowMs = Date.parse("2026-11-17T08:00:00Z");
const question = { provider: "somebody", secrets: ["secret-of-tests"], nowMs };

function refusedWith(status: number, isFinal = false) {
  return failed({ type: "refused", status, problem: "no", retryAfter: null, isFinal }, question).error;
}

describe("a failure", () => {
  it.each([408, 424, 429, 500, 502, 503, 504, 529])("of status %s may be asked again", (status) => {
    expect(refusedWith(status).details).toMatchObject({ status, retryable: true });
  });

  it.each([400, 401, 402, 403, 404, 409, 413, 422])("of status %s is not asked again", (status) => {
    expect(refusedWith(status).details).toMatchObject({ status, retryable: false });
  });

  it("that is final is not asked again, whatever its status", () => {
    expect(refusedWith(529, true).details).toMatchObject({ retryable: false });
  });

  it("is a sentence, short, without credentials", () => {
    const problem = `secret-of-tests is wrong, and so is sk-${"a".repeat(24)}. ${"x".repeat(900)}`;
    const { message } = failed({ type: "unreachable", problem }, question).error;
    expect(message).toMatch(
      /^There is no answer from the provider somebody \(\*\*\* is wrong, and so is \*\*\*\. x+\)\.$/,
    );
    expect(message.length).toBeLessThan(600);
  });

  it("does not end in two full stops", () => {
    expect(failed({ type: "setup", problem: "There is no key." }, question).error.message).toMatch(
      /no key\.$/,
    );
  });
});

describe("when to come back", () => {
  it.each([
    ["2", 2_000],
    ["0.5", 500],
    ["-3", 0],
    ["Tue, 17 Nov 2026 08:00:09 GMT", 9_000],
    ["Tue, 17 Nov 2026 07:00:00 GMT", 0],
    ["soon", null],
    ["", null],
  ])("%j", (header, ms) => {
    expect(retryAfterMsOf(header, nowMs)).toBe(ms);
  });
});

it("short texts are not taken for secrets", () => {
  expect(masked("a test of a key", ["a", ""])).toBe("a test of a key");
});

it("the first cause says most", () => {
  const inner = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  expect(
    problemOf(new Error("Connection error.", { cause: new Error("fetch failed", { cause: inner }) })),
  ).toBe("ECONNREFUSED");
  expect(problemOf("so")).toBe("so");
});

it("a package that is not there is told from one that fails", () => {
  expect(isNotInstalled(Object.assign(new Error("x"), { code: "ERR_MODULE_NOT_FOUND" }))).toBe(true);
  expect(isNotInstalled(new Error("x"))).toBe(false);
});
