// Names that models of recorded sessions used again: is the result they stand in found by them?
import { expect, test } from "vitest";
import { farRequestsMin } from "../../bench/awareness/far.ts";
import { blockText, identifiersIn, standingIn } from "../../src/analysis/index.ts";
import { blockId, turnOf } from "../../src/base/index.ts";
import type { BlockKind } from "../../src/engine/index.ts";
import { LexicalIndex } from "../../src/recall/index.ts";
import { streamsOf } from "../../src/transcripts/index.ts";
import {
  type RecordedTurn,
  readRecording,
  recordingNames,
  type WireBlock,
  type WireMessage,
} from "../support/recordings.ts";

const first = 5;
/** The sessions in the repository are too few for a share of anything. */
const enough = 500;

/** Where in the hits the result is, from 0, among all blocks and among results alone; -1 if it is not. */
type Asked = { readonly session: string; readonly amongAll: number; readonly amongResults: number };
type Result = { readonly id: number; readonly turn: number; readonly names: ReadonlySet<string> };

class Line {
  readonly #all = new LexicalIndex();
  readonly #only = new LexicalIndex();
  readonly #results: Result[] = [];
  #id = 0;

  add(role: string, block: WireBlock, turn: number): void {
    const text = blockText(block);
    if (text === "") return;
    this.#id += 1;
    const [speaker, kind] = [role === "assistant" ? "model" : "client", kindOf(role, block)];
    const source = { block: blockId(this.#id), kind, turn: turnOf(turn), speaker, text };
    this.#all.add(source);
    if (kind !== "tool-result") return;
    this.#only.add(source);
    this.#results.push({ id: this.#id, turn, names: standingIn(text) });
  }

  /** Of each name that no result of the last requests has: the latest result that has it is wanted. */
  asked(names: ReadonlySet<string>, turn: number): readonly Omit<Asked, "session">[] {
    return [...names].flatMap((name) => {
      const wanted = this.#results.findLast((result) => result.names.has(name));
      if (wanted === undefined || turn - wanted.turn < farRequestsMin) return [];
      const placeIn = (index: LexicalIndex): number =>
        index.find(name, { max: first, now: turnOf(turn) }).findIndex(({ block }) => block === wanted.id);
      return [{ amongAll: placeIn(this.#all), amongResults: placeIn(this.#only) }];
    });
  }
}

function kindOf(role: string, { type }: WireBlock): BlockKind {
  if (type === "thinking") return "reasoning";
  if (type === "tool_use") return "tool-call";
  if (type === "tool_result") return "tool-result";
  return role === "assistant" ? "assistant" : "user";
}

function blocksOf({ content }: WireMessage): readonly WireBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function askedIn(session: string, turns: readonly RecordedTurn[]): readonly Asked[] {
  const line = new Line();
  return turns.flatMap(({ c, a }, turn) => {
    for (const message of c) for (const block of blocksOf(message)) line.add(message.role, block, turn + 1);
    const names = new Set(a.flatMap((block) => [...identifiersIn(blockText(block))]));
    const asked = line.asked(names, turn + 1);
    for (const block of a) line.add("assistant", block, turn + 1);
    return asked.map((one) => ({ session, ...one }));
  });
}

const shareOf = (places: readonly number[], max: number): number =>
  places.filter((place) => place >= 0 && place < max).length / places.length;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

test("a name leads to the latest result that has it, however far back", { timeout: 300_000 }, ({ skip }) => {
  const asked = recordingNames().flatMap((session) =>
    streamsOf(readRecording(session)).flatMap((turns) => askedIn(session, turns)),
  );
  const all = asked.map(({ amongAll }) => amongAll);
  const results = asked.map(({ amongResults }) => amongResults);
  const sessions = new Set(asked.map(({ session }) => session)).size;
  if (asked.length > 0)
    console.log(
      `${asked.length} names of ${sessions} sessions, ${farRequestsMin} requests back or more: ` +
        `among all blocks first ${percent(shareOf(all, 1))}, in the first five ${percent(shareOf(all, first))}; ` +
        `among results ${percent(shareOf(results, 1))} and ${percent(shareOf(results, first))}`,
    );
  if (asked.length < enough) skip(`${asked.length} names are too few to speak of shares`);
  expect(shareOf(all, first)).toBeGreaterThanOrEqual(0.8);
  expect(shareOf(results, first)).toBeGreaterThanOrEqual(0.92);
});
