import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AssertionFault } from "./assert.ts";
import { canonicalJson } from "./canonical-json.ts";

describe("canonicalJson writes one text per value", () => {
  it.each([
    ["null", null, "null"],
    ["true", true, "true"],
    ["a whole number", 12, "12"],
    ["a large number in the shortest form", 1e21, "1e+21"],
    ["minus zero as zero", -0, "0"],
    ["an empty text", "", '""'],
    ["control characters as escapes", "a\n\u0001", '"a\\n\\u0001"'],
    ["letters of any script as they are", "é漢😀", '"é漢😀"'],
    ["half of a surrogate pair as an escape, so that the bytes are valid", "\ud83d", '"\\ud83d"'],
    ["an empty list", [], "[]"],
    ["a list in its own order", [3, 1, 2], "[3,1,2]"],
    ["an empty object", {}, "{}"],
    [
      "keys in order, at every depth",
      { b: { d: 1, c: 2 }, a: [{ z: 0, y: 0 }] },
      '{"a":[{"y":0,"z":0}],"b":{"c":2,"d":1}}',
    ],
    [
      "keys by code unit, not by locale or by number",
      { ä: 1, z: 2, Z: 3, "10": 4, "9": 5 },
      '{"10":4,"9":5,"Z":3,"z":2,"ä":1}',
    ],
    ["the empty key first", { a: 1, "": 2 }, '{"":2,"a":1}'],
    ["a key that needs escapes", { 'a"b': 1 }, '{"a\\"b":1}'],
    ["an absent field not at all", { a: undefined, b: 1 }, '{"b":1}'],
  ])("it writes %s", (_, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it("two values that differ only in the order of keys have the same text", () => {
    expect(canonicalJson({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(canonicalJson({ b: [{ d: 3, c: 2 }], a: 1 }));
  });

  it("two lists that differ only in order have different texts", () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });
});

describe("canonicalJson refuses values JSON would silently drop", () => {
  it.each([
    ["NaN", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["minus infinity", Number.NEGATIVE_INFINITY],
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a big integer", 1n],
    ["NaN deep inside", { a: [{ b: Number.NaN }] }],
    ["undefined in a list", [1, undefined]],
    ["a function in a field", { a: () => 1 }],
  ])("it refuses %s", (_, value) => {
    expect(() => canonicalJson(value)).toThrow(AssertionFault);
  });

  it("it refuses a hole in a list, which would make invalid JSON", () => {
    const holed: unknown[] = [];
    holed[2] = 1;
    expect(() => canonicalJson(holed)).toThrow(AssertionFault);
  });
});

describe("canonicalJson over any JSON value", () => {
  const json = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

  it("parsing the text gives the value back", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });

  it("the text does not depend on the order of keys", () => {
    fc.assert(
      fc.property(json, fc.infiniteStream(fc.nat()), (value, chance) => {
        expect(canonicalJson(reordered(value, () => chance.next().value ?? 0))).toBe(canonicalJson(value));
      }),
    );
  });

  it("the order of keys is the same whether there are few of them or many", () => {
    const keys = fc.uniqueArray(fc.string({ maxLength: 4 }), { minLength: 2, maxLength: 60 });
    fc.assert(
      fc.property(keys, (names) => {
        const value = Object.fromEntries(names.map((name) => [name, 0]));
        const sorted = [...names].sort((a, b) => (a < b ? -1 : 1));
        expect(canonicalJson(value)).toBe(`{${sorted.map((name) => `${JSON.stringify(name)}:0`).join()}}`);
      }),
    );
  });

  it("every character of a text is written as JSON writes it", () => {
    for (let code = 0; code <= 0xffff; code++) {
      const text = `a${String.fromCharCode(code)}`;
      if (canonicalJson(text) !== JSON.stringify(text))
        expect(canonicalJson(text)).toBe(JSON.stringify(text));
    }
  });

  it("writing, reading and writing again changes nothing", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });
});

/** The same value with the keys of every object shuffled. */
function reordered(value: unknown, chance: () => number): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, chance));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([key, item]) => ({ key, item, order: chance() }));
  fields.sort((a, b) => a.order - b.order);
  const shuffled = Object.create(null) as Record<string, unknown>;
  for (const { key, item } of fields) shuffled[key] = reordered(item, chance);
  return shuffled;
}
