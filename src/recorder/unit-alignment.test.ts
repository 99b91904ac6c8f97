import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BlockId, blockId, must, streamId, viewId } from "../base/index.ts";
import { protocolOf, type WireGroup, type WireRequest } from "../protocols/index.ts";
import { StreamIndex } from "./stream-index.ts";
import { countsBefore, placedUnits, sharedKeys, sharedMessageKeys, sharedUnits } from "./unit-alignment.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

/** A conversation as lists of short texts, one list per message; few texts, so that they repeat. */
const conversation = fc.array(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }), { maxLength: 8 });
const head = fc.array(fc.constantFrom("x", "y"), { maxLength: 2 });

function read(system: readonly string[], texts: readonly (readonly string[])[], before: WireRequest | null) {
  const block = (text: string) => ({ type: "text", text });
  const messages = texts.map((messageTexts, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: messageTexts.map(block),
  }));
  const body = Buffer.from(JSON.stringify({ model: "m", system: system.map(block), messages }));
  return must(readRequest(body, before), "the body is a request");
}

function allUnits({ tools, system, messages }: WireRequest) {
  const groups: readonly WireGroup[] = [tools, system, ...messages];
  return groups.flatMap((group) => group.units.map((unit) => ({ unit, group })));
}

describe("the new units of a request", () => {
  it("are the same as all units from an index on", () => {
    fc.assert(
      fc.property(head, conversation, fc.nat(30), (system, texts, first) => {
        const request = read(system, texts, null);
        expect(placedUnits(request, first)).toEqual(allUnits(request).slice(first));
      }),
    );
  });

  it("start after the units and keys shared with the previous request", () => {
    fc.assert(
      fc.property(head, fc.tuple(conversation, conversation), fc.nat(8), (system, [texts, later], cut) => {
        const before = read(system, texts, null);
        const request = read(system, [...texts.slice(0, cut), ...later], before);
        const kept = sharedUnits(request, before);
        const keys = (one: WireRequest) => allUnits(one).map(({ unit }) => unit.key);
        expect(keys(request).slice(0, kept)).toEqual(keys(before).slice(0, kept));
        expect(kept).toBeGreaterThanOrEqual(allUnits(read(system, texts.slice(0, cut), null)).length);
        const last = { exchange: 1, path: [], blocks: [], messageKeys: before.messageKeys, request: before };
        const shared = sharedKeys(request.messageKeys, before.messageKeys);
        expect(sharedMessageKeys(request, last)).toBe(shared);
        expect(sharedMessageKeys(request, { ...last, request: null })).toBe(shared);
      }),
    );
  });

  it("are numbered per key by the keys and blocks before them", () => {
    fc.assert(
      fc.property(head, conversation, fc.nat(30), (system, texts, count) => {
        const request = read(system, texts, null);
        const keys = allUnits(request).map(({ unit }) => unit.key);
        const index = new StreamIndex(streamId(1), viewId(1));
        for (const [at, key] of keys.entries()) index.addBlock(key, blockId(at + 1));
        const known = keys.slice(0, count).map((_, at): BlockId => blockId(at + 1));
        for (const [key, nth] of countsBefore(request, count, keys)) {
          expect(nth).toBe(keys.slice(0, count).filter((one) => one === key).length);
          expect(index.blocksAmong(key, (block) => known.includes(block))).toBe(nth);
        }
        expect(index.blocksAmong("never said", () => true)).toBe(0);
      }),
    );
  });
});
