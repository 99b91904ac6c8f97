import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BlockId, blockId, must, streamId, viewId } from "../../base/index.ts";
import { ingestRequest, type WireGroup, type WireRequest } from "../../protocols/index.ts";
import { countsBefore, placedUnits, sharedKeys, sharedTalk, sharedUnits } from "./align.ts";
import { StreamIndex } from "./stream-index.ts";

/** A talk as lists of short texts, one list per message; few texts, so that they repeat. */
const talk = fc.array(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }), { maxLength: 8 });
const head = fc.array(fc.constantFrom("x", "y"), { maxLength: 2 });

function read(system: readonly string[], said: readonly (readonly string[])[], before: WireRequest | null) {
  const block = (text: string) => ({ type: "text", text });
  const messages = said.map((texts, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: texts.map(block),
  }));
  const body = Buffer.from(JSON.stringify({ model: "m", system: system.map(block), messages }));
  return must(ingestRequest(body, before), "the body is a request");
}

function allUnits({ tools, system, messages }: WireRequest) {
  const groups: readonly WireGroup[] = [tools, system, ...messages];
  return groups.flatMap((group) => group.units.map((unit) => ({ unit, group })));
}

describe("what is new in a request", () => {
  it("is placed as if all units had been gone through from the first", () => {
    fc.assert(
      fc.property(head, talk, fc.nat(30), (system, said, first) => {
        const request = read(system, said, null);
        expect(placedUnits(request, first)).toEqual(allUnits(request).slice(first));
      }),
    );
  });

  it("begins behind what was taken over from the request before, unit by unit and key by key", () => {
    fc.assert(
      fc.property(head, fc.tuple(talk, talk), fc.nat(8), (system, [said, later], cut) => {
        const before = read(system, said, null);
        const request = read(system, [...said.slice(0, cut), ...later], before);
        const kept = sharedUnits(request, before);
        const keys = (one: WireRequest) => allUnits(one).map(({ unit }) => unit.key);
        expect(keys(request).slice(0, kept)).toEqual(keys(before).slice(0, kept));
        expect(kept).toBeGreaterThanOrEqual(allUnits(read(system, said.slice(0, cut), null)).length);
        const last = { exchange: 1, path: [], blocks: [], talk: before.talk, request: before };
        const shared = sharedKeys(request.talk, before.talk);
        expect(sharedTalk(request, last)).toBe(shared);
        expect(sharedTalk(request, { ...last, request: null })).toBe(shared);
      }),
    );
  });

  it("is the nth of its key, by the keys before it and by the blocks before it", () => {
    fc.assert(
      fc.property(head, talk, fc.nat(30), (system, said, count) => {
        const request = read(system, said, null);
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
