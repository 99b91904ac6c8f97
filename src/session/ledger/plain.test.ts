import { expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import { plainBody } from "./plain.ts";
import type { Withheld } from "./withheld.ts";

const thought = '{"type":"thinking","thinking":"hm","signature":"s1"}';
const hidden = '{"type":"redacted_thinking","data":"d1"}';
const said = '{"type":"text","text":"yes", "n":1.0}';

function read(body: string): WireRequest {
  return must(ingestRequest(Buffer.from(body), null), "the body can be read");
}

function plain(body: string, withheld: Withheld = new Map()): string {
  return Buffer.concat(plainBody(read(body), withheld)).toString();
}

test("all reasoning goes, and nothing else", () => {
  const first = '{"role":"user","content":"hello"}';
  const last =
    '{ "content" : [{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}], "role":"user" }';
  const body = `{"model":"m","n":12345678901234567890,"messages":[${first},`;
  const answer = (blocks: string) => `{"role":"assistant","content":[${blocks}]}`;
  expect(plain(`${body}${answer(`${thought},${said},${hidden}`)},${last}],"z":1}`)).toBe(
    `${body}${answer(said)},${last}],"z":1}`,
  );
});

test("a message of nothing but reasoning is not said at all", () => {
  const body = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[${thought}]}]}`;
  expect(plain(body)).toBe('{"messages":[{"role":"user","content":"a"}]}');
  const only = `{"messages":[{"role":"assistant","content":[${hidden}]},{"role":"user","content":"a"}]}`;
  expect(plain(only)).toBe('{"messages":[{"role":"user","content":"a"}]}');
});

test("the mark of a block beside the reasoning stays", () => {
  const marked = '{"type":"text","cache_control":{"type":"ephemeral","ttl":"1h"},"text":"yes"}';
  const body = `{"messages":[{"role":"assistant","content":[${thought},${marked}]}]}`;
  expect(JSON.parse(plain(body))).toEqual({
    messages: [{ role: "assistant", content: [JSON.parse(marked)] }],
  });
});

test("a body without reasoning is handed on in its own bytes", () => {
  const body = '{"messages":[ {"role":"user","content":[{"type":"text","text":"\\u00e9","n":1.0}]} ]}';
  expect(plain(body)).toBe(body.replace("[ {", "[{").replace("} ]", "}]"));
});

test("what is withheld is replaced, whatever it was", () => {
  const secret = '{"type":"tool_result","tool_use_id":"a","content":"4711"}';
  const body = `{"messages":[{"role":"user","content":[${secret},${said}]},{"role":"user","content":"4712"}]}`;
  const { talk } = read(body);
  const withheld = new Map([talk[0], talk[2]].map((key) => [must(key, "it is there"), null]));
  const sent = plain(body, withheld);
  expect(sent).not.toMatch(/471[12]/);
  expect(sent).toContain(said);
  expect(JSON.parse(sent)).toMatchObject({
    messages: [
      { content: [{ tool_use_id: "a", content: "[withheld by the user]" }, { text: "yes" }] },
      { content: [{ text: "[withheld by the user]" }] },
    ],
  });
});
