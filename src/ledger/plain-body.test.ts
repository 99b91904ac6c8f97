import { expect, test } from "vitest";
import { must } from "../base/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import { plainBody } from "./plain-body.ts";
import type { WithheldContent } from "./withheld.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

const reasoning = '{"type":"thinking","thinking":"hm","signature":"s1"}';
const redacted = '{"type":"redacted_thinking","data":"d1"}';
const answerText = '{"type":"text","text":"yes", "n":1.0}';

function read(body: string): WireRequest {
  return must(readRequest(Buffer.from(body), null), "the body can be read");
}

function plain(body: string, withheld: WithheldContent = new Map()): string {
  return Buffer.concat(plainBody(read(body), withheld)).toString();
}

test("removes all reasoning and nothing else", () => {
  const first = '{"role":"user","content":"hello"}';
  const last =
    '{ "content" : [{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}], "role":"user" }';
  const body = `{"model":"m","n":12345678901234567890,"messages":[${first},`;
  const answer = (blocks: string) => `{"role":"assistant","content":[${blocks}]}`;
  expect(plain(`${body}${answer(`${reasoning},${answerText},${redacted}`)},${last}],"z":1}`)).toBe(
    `${body}${answer(answerText)},${last}],"z":1}`,
  );
});

test("leaves out a message of nothing but reasoning", () => {
  const body = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[${reasoning}]}]}`;
  expect(plain(body)).toBe('{"messages":[{"role":"user","content":"a"}]}');
  const only = `{"messages":[{"role":"assistant","content":[${redacted}]},{"role":"user","content":"a"}]}`;
  expect(plain(only)).toBe('{"messages":[{"role":"user","content":"a"}]}');
});

test("keeps the mark of a block beside reasoning", () => {
  const marked = '{"type":"text","cache_control":{"type":"ephemeral","ttl":"1h"},"text":"yes"}';
  const body = `{"messages":[{"role":"assistant","content":[${reasoning},${marked}]}]}`;
  expect(JSON.parse(plain(body))).toEqual({
    messages: [{ role: "assistant", content: [JSON.parse(marked)] }],
  });
});

test("keeps the bytes of a body without reasoning", () => {
  const body = '{"messages":[ {"role":"user","content":[{"type":"text","text":"\\u00e9","n":1.0}]} ]}';
  expect(plain(body)).toBe(body.replace("[ {", "[{").replace("} ]", "}]"));
});

test("replaces withheld units of any type", () => {
  const secret = '{"type":"tool_result","tool_use_id":"a","content":"4711"}';
  const first = `{"role":"user","content":[${secret},${answerText}]}`;
  const body = `{"messages":[${first},{"role":"user","content":"4712"}]}`;
  const { messageKeys } = read(body);
  const withheld = new Map([messageKeys[0], messageKeys[2]].map((key) => [must(key, "it is there"), null]));
  const sent = plain(body, withheld);
  expect(sent).not.toMatch(/471[12]/);
  expect(sent).toContain(answerText);
  expect(JSON.parse(sent)).toMatchObject({
    messages: [
      { content: [{ tool_use_id: "a", content: "[withheld by the user]" }, { text: "yes" }] },
      { content: [{ text: "[withheld by the user]" }] },
    ],
  });
});
