import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashContent, must } from "../../base/index.ts";
import { sharedMessageCount, unitBytes, type WireRequest } from "../wire.ts";
import { readText } from "./read-part.ts";
import { readRequest } from "./read-request.ts";

const mark = { cache_control: { type: "ephemeral" } };
type Block = Readonly<Record<string, unknown>>;
type Message = { readonly role: string; readonly content: string | readonly Block[] };

function bodyOf(messages: readonly Message[], over: object = {}): Buffer {
  const system = [{ type: "text", text: "Be brief.", ...mark }];
  const tools = [{ name: "read", input_schema: { type: "object" } }];
  return Buffer.from(JSON.stringify({ model: "claude-x", messages, system, tools, stream: true, ...over }));
}

function read(body: Buffer, previous: WireRequest | null = null): WireRequest {
  return must(readRequest(body, previous), "the body can be read");
}

/** The units of a request without their ranges. */
function unitsOf(request: WireRequest): unknown {
  const groups = [request.tools, request.system, ...request.messages];
  return groups.flatMap(({ role, units }) => units.map(({ key, kind, hash }) => ({ role, key, kind, hash })));
}

describe("reading a request", () => {
  it("gives every unit the bytes of its hash and its slices", () => {
    const request = read(
      bodyOf([
        { role: "user", content: "hello" },
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: { n: 1 } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x", ...mark }] },
      ]),
    );
    for (const group of [request.tools, request.system, ...request.messages]) {
      for (const unit of group.units) {
        const bytes = Buffer.from(unitBytes(request.bytes, group.range.start, unit));
        expect(hashContent(bytes)).toBe(unit.hash);
        expect(bytes.length).toBe(unit.length);
        expect(bytes.toString()).not.toContain("cache_control");
        for (const { at, from, length } of unit.slices) {
          const start = group.range.start + at;
          const slice = request.bytes.subarray(start, start + length);
          expect(slice.equals(bytes.subarray(from, from + length))).toBe(true);
        }
        expect(JSON.parse(bytes.toString())).toBeTypeOf("object");
      }
    }
    expect(request.messages.map(({ units }) => units[0]?.kind)).toEqual(["user", "tool-call", "tool-result"]);
    expect(request.messageKeys).toHaveLength(3);
  });

  it("reads the same unit with a mark anywhere in the block, and in string or block form", () => {
    const text = { type: "text", text: "hi" };
    const forms: readonly Message["content"][] = [
      "hi",
      [text],
      [{ ...text, ...mark }],
      [{ ...mark, ...text }],
      [{ type: "text", ...mark, text: "hi" }],
    ];
    const units = forms.map((content) => read(bodyOf([{ role: "user", content }])).messages[0]?.units[0]);
    expect(new Set(units.map((unit) => unit?.hash)).size).toBe(1);
    expect(new Set(units.map((unit) => unit?.key)).size).toBe(1);
  });

  it("recognises units of the model by their ids, and units of the client by their content", () => {
    const keyOf = (role: string, block: Block) =>
      read(bodyOf([{ role, content: [block] }])).messages[0]?.units[0]?.key;
    const call = { type: "tool_use", id: "t1", name: "edit", input: {} };
    expect(keyOf("assistant", { ...call, input: { replace_all: false } })).toBe(keyOf("assistant", call));
    const result = { type: "tool_result", tool_use_id: "t1", content: "secret" };
    expect(keyOf("user", { ...result, content: "[cleared]" })).not.toBe(keyOf("user", result));
    const thought = { type: "thinking", thinking: "", signature: "s".repeat(4_000) };
    expect(keyOf("assistant", thought)?.length).toBeLessThan(80);
    expect(keyOf("assistant", { type: "text", text: " said \n" })).toBe(
      keyOf("assistant", { type: "text", text: "said" }),
    );
  });

  it("gives back the text of a text unit", () => {
    const { messages, bytes } = read(bodyOf([{ role: "user", content: 'a "quoted" \u{1f525}' }]));
    const [message] = messages;
    const unit = must(message?.units[0], "there is one");
    expect(readText(unitBytes(bytes, message?.range.start ?? 0, unit))).toBe('a "quoted" \u{1f525}');
  });

  it.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["no messages", '{"model":"m"}'],
    ["messages that are none", '{"messages":{"a":1}}'],
    ["a message without a role", '{"messages":[{"content":"x"}]}'],
    ["a key that comes twice", '{"messages":[],"messages":[]}'],
    ["something behind the end", '{"messages":[]} x'],
    ["blocks that are no objects", '{"messages":[{"role":"user","content":[1]}]}'],
  ])("leaves %s to the provider", (_name, text) => {
    expect(readRequest(Buffer.from(text), null)).toBeNull();
  });

  it("finds the session that Claude Code names in its metadata", () => {
    const user_id = JSON.stringify({ device_id: "d", session_id: "7f3a" });
    expect(read(bodyOf([], { metadata: { user_id } })).sessionHint).toBe("7f3a");
    expect(read(bodyOf([], { metadata: { user_id: "plain" } })).sessionHint).toBeNull();
  });

  it("does not read a message with a key that comes twice", () => {
    const body = (message: string): Buffer => Buffer.from(`{"messages":[${message}]}`);
    expect(readRequest(body('{"role":"user","content":"a"}'), null)).not.toBeNull();
    expect(readRequest(body('{"role":"user","content":"a","content":"b"}'), null)).toBeNull();
  });

  it("never throws on bytes that are no request", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(400), (noise, at) => {
        const body = bodyOf([{ role: "user", content: "hello there" }]);
        const cut = Buffer.concat([
          body.subarray(0, at % body.length),
          noise,
          body.subarray(at % body.length),
        ]);
        readRequest(cut, read(body));
        readRequest(Buffer.from(noise), null);
      }),
    );
  });
});

const content = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.array(fc.record({ type: fc.constant("text"), text: fc.string({ maxLength: 12 }) }), { maxLength: 3 }),
);
const message = fc.record({ role: fc.constantFrom("user", "assistant", "system"), content });

describe("reading with the previous request", () => {
  it("gives the same as reading without it, for any change", () => {
    const edits = fc.tuple(fc.nat(8), fc.array(message, { maxLength: 4 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), edits, (before, [kept, added, isMarked]) => {
        const previous = read(bodyOf(before));
        const messages = [...before.slice(0, kept), ...added];
        const body = bodyOf(messages, isMarked ? { system: "Other." } : {});
        const [reused, fresh] = [read(body, previous), read(body)];
        expect(unitsOf(reused)).toEqual(unitsOf(fresh));
        expect(reused.messageKeys).toEqual(fresh.messageKeys);
        expect(reused.messages.map(({ range }) => range)).toEqual(fresh.messages.map(({ range }) => range));
        expect(reused.tools.range).toEqual(fresh.tools.range);
      }),
    );
  });

  it("reuses unchanged messages, and only those", () => {
    const first = [
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
    ];
    const previous = read(bodyOf(first));
    const next = read(bodyOf([...first, { role: "user", content: "three" }]), previous);
    expect(sharedMessageCount(next, previous)).toBe(2);
    expect(next.tools.units).toBe(previous.tools.units);
    const edited = read(bodyOf([{ role: "user", content: "one!" }]), previous);
    expect(sharedMessageCount(edited, previous)).toBe(0);
  });
});

it.each([
  ['{"messages":[],"max_tokens":32000}', 32_000],
  ['{"messages":[]}', 0],
  ['{"messages":[],"max_tokens":"many"}', 0],
  ['{"messages":[],"max_tokens":-5}', 0],
])("the tokens for the answer: %s", (body, tokens) => {
  const request = readRequest(Buffer.from(body), null);
  expect(request?.answerTokensMax ?? null).toBe(tokens);
});
