import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import { sameData } from "./equal.ts";

describe("sameData", () => {
  it.each<[string, unknown, unknown]>([
    ["equal texts", "a", "a"],
    ["null and null", null, null],
    ["undefined and undefined", undefined, undefined],
    ["objects with the same fields in another order", { a: 1, b: [2] }, { b: [2], a: 1 }],
    ["equal lists of objects", [{ a: null }], [{ a: null }]],
  ])("finds %s the same", (_, a, b) => {
    expect([sameData(a, b), sameData(b, a)]).toEqual([true, true]);
  });

  it.each<[string, unknown, unknown]>([
    ["a number and its text", 1, "1"],
    ["null and undefined", null, undefined],
    ["null and an empty object", null, {}],
    ["null and zero", null, 0],
    ["an empty list and an empty object", [], {}],
    ["lists in another order", [1, 2], [2, 1]],
    ["a list and a longer one", [1], [1, 2]],
    ["an object and one with a field more", { a: 1 }, { a: 1, b: 2 }],
    ["objects with as many fields of other names", { a: 1 }, { b: 1 }],
    ["a missing field and one that is undefined", { a: undefined }, { b: undefined }],
    ["values that differ deep inside", { a: { b: [1] } }, { a: { b: [2] } }],
    ["a field inherited by one and owned by the other", { toString: 1 }, { other: 1 }],
  ])("tells apart %s", (_, a, b) => {
    expect([sameData(a, b), sameData(b, a)]).toEqual([false, false]);
  });

  it("agrees with the canonical text of any two JSON values", () => {
    const few = fc.jsonValue({ maxDepth: 2, noUnicodeString: true });
    fc.assert(
      fc.property(few, few, (a, b) => {
        expect(sameData(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
        expect(sameData(a, JSON.parse(canonicalJson(a)))).toBe(true);
      }),
    );
  });
});
