import { expect, test } from "vitest";
import type { ShownMemory } from "../../render/index.ts";
import { type Item, ownItem } from "./draft.ts";
import { userMessage } from "./own-calls.ts";
import { rootPlace } from "./place.ts";
import { unsaidMemories } from "./unsaid-memories.ts";

const memory: ShownMemory = { block: 9, text: 'The server is "heron",\nnot "crane".', taint: "model" };
const line = '[k7f3 memory #9, yours: The server is "heron", not "crane".]';

function unsaid(...items: readonly Item[]): readonly string[] {
  return unsaidMemories([memory], { end: rootPlace("root"), items }, "k7f3");
}
const own = (text: string): Item => ownItem(text, userMessage, true);

test("a memory is said where nothing on the way says it, once", () => {
  expect(unsaid()).toEqual([line]);
  expect(unsaid(own("[k7f3 turn 3]"))).toEqual([line]);
  expect(unsaid(own(`[k7f3 turn 3]\n${line}`))).toEqual([]);
});

test("the call that noted it says it, until something else stands in its place", () => {
  const input = JSON.stringify({ type: "tool_use", input: { text: memory.text } });
  const call = (bytes: string): Item => {
    const item = own("");
    const facts = { ...item.facts, kind: "tool-call", isHidden: true } as const;
    return { ...item, origin: "model", facts, bytes: Buffer.from(bytes) };
  };
  expect(unsaid(call(input))).toEqual([]);
  expect(unsaid(call(JSON.stringify({ type: "tool_use", input: {} })))).toEqual([line]);
});

test("what a client says is no memory of ours", () => {
  const said = own(`${line} ${memory.text}`);
  expect(unsaid({ ...said, origin: "client" })).toEqual([line]);
});
