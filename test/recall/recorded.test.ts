// Names that models of recorded sessions used again must find the result that contains them.
import { expect, test } from "vitest";
import { farRequestsMin } from "../../bench/awareness/far-references.ts";
import { blockText } from "../../src/analysis/play/block-text.ts";
import { identifiersIn, namesInText } from "../../src/analysis/play/identifiers.ts";
import { blockId, turnOf } from "../../src/base/index.ts";
import type { BlockKind } from "../../src/engine/frames/index.ts";
import { LexicalIndex } from "../../src/recall/index.ts";
import { recordingStreams } from "../../src/transcripts/index.ts";
import {
  type RecordedBlock,
  type RecordedMessage,
  type RecordedTurn,
  readRecording,
  recordingNames,
} from "../support/recordings.ts";

const hitsMax = 5;
/** The sessions in the repository have too few names for a share. */
const namesMin = 500;

/** The rank of the result among the hits, from 0, in all blocks and in results only; -1 if it is no hit. */
type NameRank = { readonly session: string; readonly amongAll: number; readonly amongResults: number };
type IndexedResult = { readonly id: number; readonly turn: number; readonly names: ReadonlySet<string> };

class IndexedStream {
  readonly #all = new LexicalIndex();
  readonly #resultIndex = new LexicalIndex();
  readonly #results: IndexedResult[] = [];
  #id = 0;

  add(role: string, block: RecordedBlock, turn: number): void {
    const text = blockText(block);
    if (text === "") return;
    this.#id += 1;
    const [speaker, kind] = [role === "assistant" ? "model" : "client", kindOf(role, block)];
    const source = { block: blockId(this.#id), kind, turn: turnOf(turn), speaker, text };
    this.#all.add(source);
    if (kind !== "tool-result") return;
    this.#resultIndex.add(source);
    this.#results.push({ id: this.#id, turn, names: namesInText(text) });
  }

  /** The ranks for each name that no recent result contains: its latest result should be found. */
  ranksOf(names: ReadonlySet<string>, turn: number): readonly Omit<NameRank, "session">[] {
    return [...names].flatMap((name) => {
      const wanted = this.#results.findLast((result) => result.names.has(name));
      if (wanted === undefined || turn - wanted.turn < farRequestsMin) return [];
      const rankIn = (index: LexicalIndex): number =>
        index.find(name, { max: hitsMax, now: turnOf(turn) }).findIndex(({ block }) => block === wanted.id);
      return [{ amongAll: rankIn(this.#all), amongResults: rankIn(this.#resultIndex) }];
    });
  }
}

function kindOf(role: string, { type }: RecordedBlock): BlockKind {
  if (type === "thinking") return "reasoning";
  if (type === "tool_use") return "tool-call";
  if (type === "tool_result") return "tool-result";
  return role === "assistant" ? "assistant" : "user";
}

function blocksOf({ content }: RecordedMessage): readonly RecordedBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function ranksIn(session: string, turns: readonly RecordedTurn[]): readonly NameRank[] {
  const stream = new IndexedStream();
  return turns.flatMap(({ c, a }, turn) => {
    for (const message of c) for (const block of blocksOf(message)) stream.add(message.role, block, turn + 1);
    const names = new Set(a.flatMap((block) => [...identifiersIn(blockText(block))]));
    const ranks = stream.ranksOf(names, turn + 1);
    for (const block of a) stream.add("assistant", block, turn + 1);
    return ranks.map((one) => ({ session, ...one }));
  });
}

const shareOf = (ranks: readonly number[], max: number): number =>
  ranks.filter((rank) => rank >= 0 && rank < max).length / ranks.length;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

test("a name finds the latest result that contains it, however old", { timeout: 300_000 }, ({ skip }) => {
  const ranks = recordingNames().flatMap((session) =>
    recordingStreams(readRecording(session)).flatMap((turns) => ranksIn(session, turns)),
  );
  const all = ranks.map(({ amongAll }) => amongAll);
  const results = ranks.map(({ amongResults }) => amongResults);
  const sessions = new Set(ranks.map(({ session }) => session)).size;
  if (ranks.length > 0)
    console.log(
      `${ranks.length} names of ${sessions} sessions, ${farRequestsMin} requests back or more: ` +
        `among all blocks first ${percent(shareOf(all, 1))}, in the first five ${percent(shareOf(all, hitsMax))}; ` +
        `among results ${percent(shareOf(results, 1))} and ${percent(shareOf(results, hitsMax))}`,
    );
  if (ranks.length < namesMin) skip(`${ranks.length} names are too few to speak of shares`);
  expect(shareOf(all, hitsMax)).toBeGreaterThanOrEqual(0.8);
  expect(shareOf(results, hitsMax)).toBeGreaterThanOrEqual(0.92);
});
