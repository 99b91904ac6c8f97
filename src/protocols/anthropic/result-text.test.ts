import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prependToResult } from "./result-text.ts";

const header = '[k7f3 part 27: "result"]\n';
const own = JSON.stringify({ type: "text", text: header });

function prepend(unit: string): string | null {
  const bytes = prependToResult(Buffer.from(unit), header);
  return bytes === null ? null : Buffer.from(bytes).toString();
}

describe("a text put first inside a tool result", () => {
  it("stands before a string, which becomes a block with the same bytes", () => {
    const text = String.raw`"caf\u00e9 \/ \"x\""`;
    expect(prepend(`{"type":"tool_result","tool_use_id":"t","content":${text}}`)).toBe(
      `{"type":"tool_result","tool_use_id":"t","content":[${own},{"type":"text","text":${text}}]}`,
    );
  });

  it("stands before the blocks of a list, whose bytes and spaces stay", () => {
    expect(prepend('{"content": [ {"type":"text","text":"a","n":1.0} ] ,"type":"tool_result"}')).toBe(
      `{"content": [${own}, {"type":"text","text":"a","n":1.0} ] ,"type":"tool_result"}`,
    );
  });

  it.each(["[]", '""', '" \\n"', "null"])("is the only content if the content was %s", (content) => {
    expect(prepend(`{"type":"tool_result","content":${content},"is_error":true}`)).toBe(
      `{"type":"tool_result","content":[${own}],"is_error":true}`,
    );
  });

  it("becomes the content of a result without one", () => {
    expect(prepend(' {"type":"tool_result" , "n" : 1.0 } ')).toBe(
      ` {"type":"tool_result" , "n" : 1.0,"content":[${own}] } `,
    );
  });

  it.each([
    "",
    "[]",
    '{"type":"text","text":"a"}',
    '{"content":"a"}',
    '{"type":"tool_result","content":1}',
    '{"type":"tool_result","content":{}}',
    '{"type":"tool_result","content":"a"',
    '{"type":"tool_result","content":"a"}x',
    '{"type":"tool_result","content":"\\x"}',
    '{"type":"tool_result","content":["a"',
    '{"type":"tool_result","content":"a","content":"b"}',
    '{"type":"tool_result","content":"a","type":"text"}',
  ])("is not put into %s", (unit) => {
    expect(prepend(unit)).toBeNull();
  });

  const block = fc.oneof(
    fc.record({ type: fc.constant("text"), text: fc.string({ unit: "binary" }) }),
    fc.record({ type: fc.constant("image"), source: fc.jsonValue({ maxDepth: 2 }) }),
  );
  const content = fc.oneof(fc.string({ unit: "binary" }), fc.array(block), fc.constant(null));
  const fields = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 4,
    noNullPrototype: true,
  });
  const spacing = fc.constantFrom(undefined, 1, "\t");

  it("changes nothing else, for any result", () => {
    const unit = fc.tuple(fields, fc.option(content, { nil: undefined }), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(unit, spacing, ([more, given, text], space) => {
        const { type: _type, content: _content, ...rest } = more;
        const result = { ...rest, type: "tool_result", ...(given === undefined ? {} : { content: given }) };
        const bytes = prependToResult(Buffer.from(JSON.stringify(result, null, space)), text);
        const before = typeof given !== "string" ? (given ?? []) : textsOf(given);
        const after = { ...result, content: [{ type: "text", text }, ...before] };
        // JSON has fewer values than JavaScript: -0 is 0, and lone halves of characters are replaced.
        expect(JSON.parse(Buffer.from(bytes ?? []).toString())).toEqual(JSON.parse(JSON.stringify(after)));
      }),
    );
  });

  it("removes no byte, and adds bytes at two positions at most", () => {
    fc.assert(
      fc.property(
        content.filter((given) => given !== null && !isBlank(given)),
        spacing,
        (given, space) => {
          const unit = JSON.stringify({ a: 1, type: "tool_result", content: given, z: [1.5] }, null, space);
          const bytes = prepend(unit) ?? "";
          const added = Array.isArray(given) ? [own, `${own},`] : [`[${own},{"type":"text","text":`];
          const plain = added.map((piece) => bytes.replace(piece, () => "")).map(unwrapped(given));
          expect(plain).toContain(unit);
        },
      ),
    );
  });

  it("never throws on what is no JSON", () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ maxLength: 40 }), (text, noise) => {
        for (const start of [
          "",
          "{",
          '{"type":"tool_result","content":',
          '{"type":"tool_result","content":[',
        ]) {
          prependToResult(Buffer.concat([Buffer.from(start + text), noise]), "x");
        }
      }),
    );
  });
});

function textsOf(given: string): readonly unknown[] {
  return isBlank(given) ? [] : [{ type: "text", text: given }];
}

function isBlank(given: unknown): boolean {
  return typeof given === "string" && given.trim() === "";
}

/** Removes the end of the list around a text that was a string. */
function unwrapped(given: unknown): (text: string) => string {
  if (typeof given !== "string") return (text) => text;
  const literal = JSON.stringify(given);
  return (text) => text.replace(`${literal}}]`, () => literal);
}
