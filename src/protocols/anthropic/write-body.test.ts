import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { unitBytes, type WireRequest } from "../wire.ts";
import { readRequest } from "./read-request.ts";
import {
  emitBody,
  emitList,
  emitMarked,
  type FieldReplacements,
  systemMessage,
  textBlock,
  writeRequest,
} from "./write-body.ts";

function read(body: string): WireRequest {
  return must(readRequest(Buffer.from(body), null), "the body can be read");
}

function emit(body: string, replacements: FieldReplacements): string {
  return Buffer.concat(emitBody(read(body), replacements)).toString();
}

const piece = (text: string): readonly Uint8Array[] => [Buffer.from(text)];
const messages = '"messages":[{"role":"user","content":"a"}]';

/** Bytes that would change if they were parsed and written again. */
const odd =
  '"a":1.0,"b":12345678901234567890,"z":{"y":1,"b":2},"é":"\\u00e9 \\ud83d\\ude00 \\/","c" : [ 1 ,2 ],' +
  '"messages2":"\\"messages\\":[]","block":{"type":"of the future","n":-0.0e+1}';

describe("a body with replaced fields", () => {
  test("keeps every other byte, at any position of the field", () => {
    const wanted = '"messages":[X]';
    const replacements = new Map([["messages", piece("[X]")]]);
    expect(emit(`{${messages},${odd}}`, replacements)).toBe(`{${wanted},${odd}}`);
    expect(emit(`{${odd},${messages},"m":1}`, replacements)).toBe(`{${odd},${wanted},"m":1}`);
    expect(emit(`{${odd},${messages}}`, replacements)).toBe(`{${odd},${wanted}}`);
    expect(emit(`{${messages}}`, replacements)).toBe(`{${wanted}}`);
  });

  test("keeps the space between unchanged fields", () => {
    const body = `\n{ "a" : 1 ,\n  "b":2 , ${messages} }\n`;
    const replacements = new Map([["messages", piece("[X]")]]);
    expect(emit(body, replacements)).toBe('{"a" : 1 ,\n  "b":2,"messages":[X]}');
  });

  test("passes unchanged fields on as slices of the input", () => {
    // The input has a buffer of its own, so that its slices can be recognised.
    const own = Uint8Array.from(Buffer.from(`{${odd},${messages}}`));
    const request = must(readRequest(own, null), "the body can be read");
    const pieces = emitBody(request, new Map([["messages", piece("[X]")]]));
    const slices = pieces.filter(({ buffer }) => buffer === own.buffer);
    const texts = slices.map((slice) => Buffer.from(slice).toString());
    expect(texts).toEqual([odd, '"messages":']);
  });

  test("gets a new field at its end", () => {
    const replacements = new Map([["system", piece('["s"]')]]);
    expect(emit(`{${messages}}`, replacements)).toBe(`{${messages},"system":["s"]}`);
    expect(emit(`{${messages},"system":"old"}`, replacements)).toBe(`{${messages},"system":["s"]}`);
  });

  test("loses a field, first, in between or last", () => {
    const mark = '"cache_control":{"type":"ephemeral"}';
    const replacements = new Map([["cache_control", null]]);
    for (const body of [
      `{${mark},"a":1,${messages}}`,
      `{"a":1,${mark},${messages}}`,
      `{"a":1,${messages},${mark}}`,
    ])
      expect(emit(body, replacements)).toBe(`{"a":1,${messages}}`);
    expect(emit(`{"a":1,${messages}}`, replacements)).toBe(`{"a":1,${messages}}`);
  });

  test("is read as the same request", () => {
    const body = `{${odd},${messages},"system":"be brief"}`;
    const again = read(emit(body, new Map()));
    expect(again.messageKeys).toEqual(read(body).messageKeys);
    expect(again.system.units[0]?.hash).toBe(read(body).system.units[0]?.hash);
  });
});

describe("marks", () => {
  test("are put on the blocks that end at their positions, in any order", () => {
    const blocks = '{"a":1},{"b":2}';
    const marks = [
      { end: 15, mark: '{"type":"2"}' },
      { end: 7, mark: '{"type":"1"}' },
    ];
    const wanted = '{"a":1,"cache_control":{"type":"1"}},{"b":2,"cache_control":{"type":"2"}}';
    expect(Buffer.concat(emitMarked(Buffer.from(blocks), marks)).toString()).toBe(wanted);
    expect(Buffer.concat(emitMarked(Buffer.from(blocks), [])).toString()).toBe(blocks);
  });

  test("in a list are put on their blocks", () => {
    const list = [
      { bytes: Buffer.from('{"a":1.0}'), mark: null },
      { bytes: Buffer.from('{"b":2}'), mark: "{}" },
    ];
    expect(Buffer.concat(emitList(list)).toString()).toBe('[{"a":1.0},{"b":2,"cache_control":{}}]');
    expect(Buffer.concat(emitList([])).toString()).toBe("[]");
  });
});

test("our texts and system messages are JSON for any text", () => {
  const text = 'a "quoted"\nline with \u2028 and \ud83d\ude00';
  expect(JSON.parse(textBlock(text).toString())).toEqual({ type: "text", text });
  for (const isForOneTurn of [true, false]) {
    const { head, tail, isSelfClearing = false } = systemMessage(isForOneTurn);
    const message = JSON.parse(`${head}${textBlock("x").toString()}${tail}`) as { clear_at?: string };
    expect(message.clear_at).toBe(isForOneTurn ? "next_user_message" : undefined);
    expect(isSelfClearing).toBe(isForOneTurn);
  }
});

test("a request of ours is read back unit by unit, with its marks", () => {
  const block = (text: string): Buffer => textBlock(text);
  const written = writeRequest({
    model: 'a "model"',
    answerTokensMax: 7,
    tools: [Buffer.from('{"name":"look"}')],
    system: [block("one"), block("two")],
    messages: [
      { role: "user", units: [block("a"), block("b")], markedUnit: 1 },
      { role: "assistant", units: [block("c")], markedUnit: null },
    ],
  });
  const request = readRequest(written, null);
  const groups = request === null ? [] : [request.tools, request.system, ...request.messages];
  const units = groups.map(({ role, units: inside, range }) => [
    role,
    inside.map((unit) => [Buffer.from(unitBytes(written, range.start, unit)).toString(), unit.mark !== null]),
  ]);
  const text = (words: string, isMarked: boolean) => [block(words).toString(), isMarked];
  expect(units.slice(2)).toEqual([
    ["user", [text("a", false), text("b", true)]],
    ["assistant", [text("c", false)]],
  ]);
  expect(units[0]?.[1]).toEqual([['{"name":"look"}', false]]);
  expect(units[1]?.[1]).toEqual([text("one", false), text("two", true)]);
  expect([request?.model, request?.answerTokensMax]).toEqual(['a "model"', 7]);
  const empty = writeRequest({ model: "m", answerTokensMax: 0, tools: [], system: [], messages: [] });
  expect(JSON.parse(empty.toString())).toEqual({ model: "m", max_tokens: 0, messages: [] });
});
