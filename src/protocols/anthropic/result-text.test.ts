import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resultWithText } from "./result-text.ts";

const header = '[k7f3 part 27: "result"]\n';
const own = JSON.stringify({ type: "text", text: header });

function put(unit: string): string | null {
  const bytes = resultWithText(Buffer.from(unit), header);
  return bytes === null ? null : Buffer.from(bytes).toString();
}

describe("a text put first inside a tool result", () => {
  it("stands before a string, which becomes a block with the same bytes", () => {
    const text = String.raw`"caf\u00e9 \/ \"x\""`;
    expect(put(`{"type":"tool_result","tool_use_id":"t","content":${text}}`)).toBe(
      `{"type":"tool_result","tool_use_id":"t","content":[${own},{"type":"text","text":${text}}]}`,
    );
  });

  it("stands before the blocks of a list, whose bytes and spaces stay", () => {
    expect(put('{"content": [ {"type":"text","text":"a","n":1.0} ] ,"type":"tool_result"}')).toBe(
      `{"content": [${own}, {"type":"text","text":"a","n":1.0} ] ,"type":"tool_result"}`,
    );
  });

  it.each(["[]", '""', '" \\n"', "null"])("stands alone where the content is %s", (content) => {
    expect(put(`{"type":"tool_result","content":${content},"is_error":true}`)).toBe(
      `{"type":"tool_result","content":[${own}],"is_error":true}`,
    );
  });

  it("comes with a content of its own where there is none", () => {
    expect(put(' {"type":"tool_result" , "n" : 1.0 } ')).toBe(
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
    expect(put(unit)).toBeNull();
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
  const written = fc.constantFrom(undefined, 1, "\t");

  it("leaves everything else as it was, for any result", () => {
    const unit = fc.tuple(fields, fc.option(content, { nil: undefined }), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(unit, written, ([more, said, text], space) => {
        const { type: _type, content: _content, ...rest } = more;
        const result = { ...rest, type: "tool_result", ...(said === undefined ? {} : { content: said }) };
        const bytes = resultWithText(Buffer.from(JSON.stringify(result, null, space)), text);
        const before = typeof said !== "string" ? (said ?? []) : textsOf(said);
        const after = { ...result, content: [{ type: "text", text }, ...before] };
        // JSON knows fewer values than JavaScript: -0 is 0, and lone halves of characters are replaced.
        expect(JSON.parse(Buffer.from(bytes ?? []).toString())).toEqual(JSON.parse(JSON.stringify(after)));
      }),
    );
  });

  it("takes away no byte, and adds them in at most two places", () => {
    fc.assert(
      fc.property(
        content.filter((said) => said !== null && !isBlank(said)),
        written,
        (said, space) => {
          const unit = JSON.stringify({ a: 1, type: "tool_result", content: said, z: [1.5] }, null, space);
          const bytes = put(unit) ?? "";
          const added = Array.isArray(said) ? [own, `${own},`] : [`[${own},{"type":"text","text":`];
          const plain = added.map((piece) => bytes.replace(piece, () => "")).map(unwrapped(said));
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
          resultWithText(Buffer.concat([Buffer.from(start + text), noise]), "x");
        }
      }),
    );
  });
});

function textsOf(said: string): readonly unknown[] {
  return isBlank(said) ? [] : [{ type: "text", text: said }];
}

function isBlank(said: unknown): boolean {
  return typeof said === "string" && said.trim() === "";
}

/** Without what closes the list around a text that was a string. */
function unwrapped(said: unknown): (text: string) => string {
  if (typeof said !== "string") return (text) => text;
  const literal = JSON.stringify(said);
  return (text) => text.replace(`${literal}}]`, () => literal);
}
