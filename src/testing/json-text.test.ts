import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJsonText } from "./json-text.ts";

const parse = (text: string) => parseJsonText(Buffer.from(text));
const problemOf = (text: string) => {
  const parsed = parse(text);
  return parsed.type === "problem" ? parsed.message : "none";
};

test("any text of JSON.stringify is read as the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parse(text)).toMatchObject({ type: "value", value: JSON.parse(text) });
    }),
  );
});

test("text that the built-in parser refuses is refused without an exception", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0d8-1.eE tfn ') }), (text) => {
      let isValid = true;
      try {
        JSON.parse(text);
      } catch {
        isValid = false;
      }
      if (!isValid) expect(parse(text).type).toBe("problem");
    }),
  );
});

describe("stricter than the built-in parser", () => {
  test.each([
    ["a repeated key", '{"a":1,"b":{"a":2},"a":3}', "twice"],
    ["a repeated key that is spelled differently", '{"a":1,"\\u0061":2}', "twice"],
    ["half a character", '["\\ud800"]', "half a character"],
    ["the other half", '["x\\udc00"]', "half a character"],
    ["halves in the wrong order", '["\\udc00\\ud800"]', "half a character"],
    ["a number that is infinite", "[1e999]", "too large"],
    ["too many levels", "[".repeat(401) + "]".repeat(401), "levels"],
    ["a byte order mark", "\ufeff{}", "expected a value"],
    ["something after the value", "{} {}", "goes on"],
  ])("%s is refused", (_name, text, message) => {
    expect(problemOf(text)).toContain(message);
  });

  test("bytes that are not UTF-8 are refused", () => {
    expect(parseJsonText(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ type: "problem" });
  });

  test("a surrogate pair, allowed depth and a key named __proto__ are accepted", () => {
    expect(parse('["\\ud83d\\ude00"]')).toMatchObject({ value: ["😀"] });
    expect(parse("[".repeat(400) + "]".repeat(400)).type).toBe("value");
    const parsed = parse('{"__proto__":{"a":1}}');
    expect(parsed.type === "value" && JSON.stringify(parsed.value)).toBe('{"__proto__":{"a":1}}');
  });
});

test("numbers in an unusual form keep their text", () => {
  const parsed = parse('{"a":1.0,"b":[12345678901234567890,2],"c":3}');
  if (parsed.type !== "value") throw new Error(parsed.message);
  const texts = [...parsed.numbers.values()].flatMap((each) => [...each]);
  expect(new Map(texts)).toEqual(
    new Map([
      ["0", "12345678901234567890"],
      ["a", "1.0"],
    ]),
  );
});
