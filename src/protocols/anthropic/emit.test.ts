import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import type { WireRequest } from "../wire.ts";
import {
  emitBody,
  emitList,
  emitMarked,
  isClearing,
  type Replaced,
  systemMessage,
  textBlock,
} from "./emit.ts";
import { ingestRequest } from "./ingest.ts";

function read(body: string): WireRequest {
  return must(ingestRequest(Buffer.from(body), null), "the body can be read");
}

function emitted(body: string, replaced: Replaced): string {
  return Buffer.concat(emitBody(read(body), replaced)).toString();
}

const piece = (text: string): readonly Uint8Array[] => [Buffer.from(text)];
const messages = '"messages":[{"role":"user","content":"a"}]';

/** What no program may write down anew. */
const odd =
  '"a":1.0,"b":12345678901234567890,"z":{"y":1,"b":2},"é":"\\u00e9 \\ud83d\\ude00 \\/","c" : [ 1 ,2 ],' +
  '"messages2":"\\"messages\\":[]","block":{"type":"of the future","n":-0.0e+1}';

describe("a body with replaced fields", () => {
  test("keeps every other byte, wherever the field stands", () => {
    const wanted = '"messages":[X]';
    const replaced = new Map([["messages", piece("[X]")]]);
    expect(emitted(`{${messages},${odd}}`, replaced)).toBe(`{${wanted},${odd}}`);
    expect(emitted(`{${odd},${messages},"m":1}`, replaced)).toBe(`{${odd},${wanted},"m":1}`);
    expect(emitted(`{${odd},${messages}}`, replaced)).toBe(`{${odd},${wanted}}`);
    expect(emitted(`{${messages}}`, replaced)).toBe(`{${wanted}}`);
  });

  test("keeps the space between what stays together", () => {
    const body = `\n{ "a" : 1 ,\n  "b":2 , ${messages} }\n`;
    const replaced = new Map([["messages", piece("[X]")]]);
    expect(emitted(body, replaced)).toBe('{"a" : 1 ,\n  "b":2,"messages":[X]}');
  });

  test("hands on what is unchanged as slices of what came", () => {
    // In memory of its own, so that slices of it can be told.
    const own = Uint8Array.from(Buffer.from(`{${odd},${messages}}`));
    const request = must(ingestRequest(own, null), "the body can be read");
    const pieces = emitBody(request, new Map([["messages", piece("[X]")]]));
    const slices = pieces.filter(({ buffer }) => buffer === own.buffer);
    const texts = slices.map((slice) => Buffer.from(slice).toString());
    expect(texts).toEqual([odd, '"messages":']);
  });

  test("gets a field it did not have at its end", () => {
    const replaced = new Map([["system", piece('["s"]')]]);
    expect(emitted(`{${messages}}`, replaced)).toBe(`{${messages},"system":["s"]}`);
    expect(emitted(`{${messages},"system":"old"}`, replaced)).toBe(`{${messages},"system":["s"]}`);
  });

  test("loses a field, first, in between or last", () => {
    const mark = '"cache_control":{"type":"ephemeral"}';
    const replaced = new Map([["cache_control", null]]);
    for (const body of [
      `{${mark},"a":1,${messages}}`,
      `{"a":1,${mark},${messages}}`,
      `{"a":1,${messages},${mark}}`,
    ])
      expect(emitted(body, replaced)).toBe(`{"a":1,${messages}}`);
    expect(emitted(`{"a":1,${messages}}`, replaced)).toBe(`{"a":1,${messages}}`);
  });

  test("is read as the same request", () => {
    const body = `{${odd},${messages},"system":"be brief"}`;
    const again = read(emitted(body, new Map()));
    expect(again.talk).toEqual(read(body).talk);
    expect(again.system.units[0]?.hash).toBe(read(body).system.units[0]?.hash);
  });
});

describe("marks", () => {
  test("are put on the blocks that end there, in any order", () => {
    const blocks = '{"a":1},{"b":2}';
    const marks = [
      { end: 15, mark: '{"type":"2"}' },
      { end: 7, mark: '{"type":"1"}' },
    ];
    const wanted = '{"a":1,"cache_control":{"type":"1"}},{"b":2,"cache_control":{"type":"2"}}';
    expect(Buffer.concat(emitMarked(Buffer.from(blocks), marks)).toString()).toBe(wanted);
    expect(Buffer.concat(emitMarked(Buffer.from(blocks), [])).toString()).toBe(blocks);
  });

  test("in a list stand on their blocks", () => {
    const list = [
      { bytes: Buffer.from('{"a":1.0}'), mark: null },
      { bytes: Buffer.from('{"b":2}'), mark: "{}" },
    ];
    expect(Buffer.concat(emitList(list)).toString()).toBe('[{"a":1.0},{"b":2,"cache_control":{}}]');
    expect(Buffer.concat(emitList([])).toString()).toBe("[]");
  });
});

test("texts and system messages of ours are JSON, whatever they say", () => {
  const text = 'a "quoted"\nline with \u2028 and \ud83d\ude00';
  expect(JSON.parse(textBlock(text).toString())).toEqual({ type: "text", text });
  for (const clears of [true, false]) {
    const { head, tail } = systemMessage(clears);
    const message = JSON.parse(`${head}${textBlock("x").toString()}${tail}`) as { clear_at?: string };
    expect(message.clear_at).toBe(clears ? "next_user_message" : undefined);
    expect(isClearing(head)).toBe(clears);
  }
});
