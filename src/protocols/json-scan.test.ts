import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsOf, membersOf, parseAt, skipSpace, valueRangeAt } from "./json-scan.ts";

/** JSON in the form of other writers: spaces anywhere, escapes where none are needed. */
const jsonText = fc
  .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t", "\r\n  "))
  .map(([value, space]) => JSON.stringify(value, null, space));

const whole = (text: string) => {
  const bytes = Buffer.from(text);
  return { bytes, range: { start: 0, end: bytes.length } };
};

describe("scanning", () => {
  it("finds every member where JSON.parse finds it", () => {
    const object = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 2), (value, space) => {
        const { bytes, range } = whole(JSON.stringify(value, null, space));
        const found = membersOf(bytes, range)?.map((member) => [member.key, parseAt(bytes, member.value)]);
        expect(found).toEqual(Object.entries(JSON.parse(bytes.toString())));
      }),
    );
  });

  it("finds every element, and may start at any of them", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }), fc.nat(7), (list, from) => {
        const { bytes } = whole(JSON.stringify(list, null, 1));
        const all = elementsOf(bytes, 0);
        expect(all?.elements.map((range) => parseAt(bytes, range))).toEqual(JSON.parse(JSON.stringify(list)));
        expect(all?.end).toBe(bytes.length);
        const start = all?.elements[from]?.start;
        if (start === undefined) return;
        expect(elementsOf(bytes, 0, start)?.elements).toEqual(all?.elements.slice(from));
      }),
    );
  });

  it("measures any value to its end", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const { bytes, range } = whole(text);
        expect(valueRangeAt(bytes, 0)).toEqual(range);
      }),
    );
  });

  it("distinguishes an escaped quote from one after an escaped backslash", () => {
    const text = String.raw`["a\"b","c\\","d\\\"e"]`;
    const { bytes } = whole(text);
    expect(elementsOf(bytes, 0)?.elements.map((range) => parseAt(bytes, range))).toEqual(JSON.parse(text));
  });

  it("never throws or loops on bytes that are no JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ maxLength: 60 }), (noise, text) => {
        for (const start of ["{", "[", '"', '{"a":', "[1,"]) {
          const bytes = Buffer.concat([Buffer.from(start), Buffer.from(text), noise]);
          const range = { start: 0, end: bytes.length };
          membersOf(bytes, range);
          elementsOf(bytes, 0);
          valueRangeAt(bytes, 0);
          expect(skipSpace(bytes, 0)).toBeLessThanOrEqual(bytes.length);
        }
      }),
    );
  });

  it("gives up on JSON nested too deeply, and reads millions of backslashes", () => {
    const deep = Buffer.from("[".repeat(100_000));
    expect(valueRangeAt(deep, 0)).toBeNull();
    const slashes = Buffer.from(`"${"\\".repeat(2_000_000)}"`);
    expect(valueRangeAt(slashes, 0)?.end).toBe(slashes.length);
  });
});
