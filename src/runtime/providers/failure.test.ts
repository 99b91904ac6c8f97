import { describe, expect, it } from "vitest";
import { isNotInstalled, maskCredentials, problemOf, providerFailure, retryAfterMsOf } from "./failure.ts";

const nowMs = Date.parse("2026-11-17T08:00:00Z");
const context = { provider: "somebody", secrets: ["secret-of-tests"], nowMs };

function refusedWith(status: number, isFinal = false) {
  return providerFailure({ type: "refused", status, problem: "no", retryAfter: null, isFinal }, context)
    .error;
}

describe("a failure", () => {
  it.each([408, 424, 429, 500, 502, 503, 504, 529])("of status %s is retryable", (status) => {
    expect(refusedWith(status).details).toMatchObject({ status, retryable: true });
  });

  it.each([400, 401, 402, 403, 404, 409, 413, 422])("of status %s is not retryable", (status) => {
    expect(refusedWith(status).details).toMatchObject({ status, retryable: false });
  });

  it("that is final is not retryable, whatever its status", () => {
    expect(refusedWith(529, true).details).toMatchObject({ retryable: false });
  });

  it("has a short message without credentials", () => {
    const problem = `secret-of-tests is wrong, and so is sk-${"a".repeat(24)}. ${"x".repeat(900)}`;
    const { message } = providerFailure({ type: "unreachable", problem }, context).error;
    expect(message).toMatch(
      /^No answer from the provider somebody \(\*\*\* is wrong, and so is \*\*\*\. x+\)\.$/,
    );
    expect(message.length).toBeLessThan(600);
  });

  it("does not end in two full stops", () => {
    expect(providerFailure({ type: "setup", problem: "There is no key." }, context).error.message).toMatch(
      /no key\.$/,
    );
  });
});

describe("the header retry-after in milliseconds", () => {
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

it("short texts are not masked as secrets", () => {
  expect(maskCredentials("a test of a key", ["a", ""])).toBe("a test of a key");
});

it("the problem is the message of the innermost cause", () => {
  const inner = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  expect(
    problemOf(new Error("Connection error.", { cause: new Error("fetch failed", { cause: inner }) })),
  ).toBe("ECONNREFUSED");
  expect(problemOf("so")).toBe("so");
});

it("a package that is missing is told from one that fails", () => {
  expect(isNotInstalled(Object.assign(new Error("x"), { code: "ERR_MODULE_NOT_FOUND" }))).toBe(true);
  expect(isNotInstalled(new Error("x"))).toBe(false);
});
