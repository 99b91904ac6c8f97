import { describe, expect, it } from "vitest";
import { AssertionFault } from "./assert.ts";
import { fail, ok, type Result, unwrap } from "./result.ts";

describe("results", () => {
  it("ok carries its value, even undefined", () => {
    expect(ok(7)).toEqual({ ok: true, value: 7 });
    expect(ok(undefined)).toEqual({ ok: true, value: undefined });
  });

  it("fail carries the error of its code, with the sentence filled in", () => {
    expect(fail("AP_FRAME_CHAIN", { seq: 3 })).toEqual({
      ok: false,
      error: {
        code: "AP_FRAME_CHAIN",
        message: "Frame 3 does not continue the hash chain of its session.",
        details: { seq: 3 },
      },
    });
  });

  it("unwrap returns the value, even a falsy one", () => {
    expect(unwrap(ok(0))).toBe(0);
    expect(unwrap(ok(null))).toBeNull();
  });

  it("unwrap of a failure throws and names the error", () => {
    const failed: Result<number> = fail("AP_STORE_CLOSED");
    expect(() => unwrap(failed)).toThrow(new AssertionFault("AP_STORE_CLOSED: The store is closed."));
  });
});
