import { cutText, must, ok, type Result } from "../../base/index.ts";
import { printCommand, type Reading } from "../../commands/index.ts";
import {
  type AddedBlock,
  blockOf,
  blocksOf,
  type Frame,
  isWithheld,
  type Moment,
  notesOf,
  placeOf,
  type State,
  streamOf,
  turnNow,
  type View,
} from "../../engine/index.ts";
import { type Excerpt, hitsText, hitText } from "../../recall/index.ts";
import { changesIn, changesText, manifestText, reasoningText, tellingFrames } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { outcomeOf } from "../read/expansion.ts";
import { type ToldPlace, toldIn } from "../read/manifest.ts";
import { outcomeWords, storedWords } from "../read/stored-words.ts";
import type { StreamRecall } from "./stream-recall.ts";

/** What reading needs: where things are stored, what marks our lines, and what can be found by words. */
export type ReadingPlace = {
  readonly state: State;
  readonly moment: Moment;
  readonly view: View;
  readonly store: Store;
  readonly windowOf: (model: string | null) => number | null;
  readonly nonce: string;
  readonly recall: StreamRecall;
  readonly needed: NonNullable<ToldPlace["needed"]>;
};

/** A model gets so much at once, at the tail: enough for a file, and never what fills a window again. */
const answerCharsMax = 24_000;
const hitsMax = 5;
const framesRead = 2_000;

/** What was asked for, labelled, as the text of a result. */
export async function readingText(place: ReadingPlace, reading: Reading): Promise<string> {
  switch (reading.of) {
    case "blocks":
      return await blocksText(place, reading);
    case "words":
      return foundText(place, reading.words);
    case "diff":
      return await diffText(place, reading.since);
    case "manifest":
      return await manifestWords(place, reading.detail);
  }
}

async function blocksText(
  place: ReadingPlace,
  { blocks, level, from: first }: Extract<Reading, { of: "blocks" }>,
): Promise<string> {
  const texts: string[] = [];
  let room = answerCharsMax;
  for (const id of blocks) {
    const block = blockOf(place.moment, id);
    if (block === null || room <= 0) break;
    const from = id === blocks[0] ? first : 0;
    const text = await blockText(place, block, { level, from, chars: room });
    texts.push(text);
    room -= text.length;
  }
  const left = blocks.slice(texts.length);
  const more =
    left.length === 0 ? [] : [`[${place.nonce} no room for ${left.map((id) => `#${id}`).join(", ")}]`];
  return [...texts, ...more].join("\n");
}

type Wanted = Pick<Extract<Reading, { of: "blocks" }>, "level" | "from"> & { readonly chars: number };

async function blockText(place: ReadingPlace, block: AddedBlock, wanted: Wanted): Promise<string> {
  const { level } = wanted;
  const { moment, nonce, store } = place;
  const shorter = level === "original" ? undefined : notesOf(moment, block.id)?.renditions[level];
  const stored = await store.content(shorter?.content ?? block.content);
  if (!stored.ok) return `[${nonce} #${block.id} cannot be read now (${stored.error.code})]`;
  const asStored = (): string => Buffer.from(stored.value).toString("utf8");
  const text = shorter === undefined ? storedWords(stored.value, block.kind) : asStored();
  if (block.kind === "reasoning") return await reasoningWords(place, block, text);
  return hitText({ ...block, ...pieceOf(text ?? "", block, wanted) }, { nonce, now: turnIn(place) });
}

/** Reasoning comes back as what it is: a result about it, never as something the model says now. */
async function reasoningWords(
  { nonce, moment, view, store }: ReadingPlace,
  block: AddedBlock,
  text: string | null,
): Promise<string> {
  const outcome: string[] = [];
  for (const { content } of text === null ? outcomeOf([...blocksOf(moment, view)], block) : []) {
    const read = await store.content(content);
    if (read.ok) outcome.push(outcomeWords(read.value));
  }
  const { id, message, turn } = block;
  return reasoningText(nonce, [{ block: id, message, turn, text, outcome }]);
}

/**
 * Counted in characters, since a single line may be longer than an answer: whoever follows the calls it names
 * gets to the end, each character once.
 */
function pieceOf(text: string, { id }: AddedBlock, { level, from, chars }: Wanted): Piece {
  const start = Math.min(from, text.length);
  const piece = wholeLines(cutText(text.slice(start), chars), text.length - start);
  const end = start + piece.length;
  const line = text.slice(0, start).split("\n").length;
  const excerpt = { text: piece, from: start, line, isWhole: piece.length === text.length };
  const next = { verb: "expand", target: [{ by: "block", first: id, last: id }], level, from: end } as const;
  return { excerpt, rest: end < text.length ? `the rest: ${printCommand(next).slice(1)}` : null };
}

type Piece = { readonly excerpt: Excerpt; readonly rest: string | null };

/** What is cut ends with a line, where that does not cost much of it. */
function wholeLines(piece: string, left: number): string {
  const end = piece.lastIndexOf("\n") + 1;
  return piece.length === left || end < piece.length / 2 ? piece : piece.slice(0, end);
}

function foundText(place: ReadingPlace, words: string): string {
  const { moment, view, nonce, recall } = place;
  const now = turnIn(place);
  const isShowable = ({ block }: { readonly block: AddedBlock["id"] }): boolean => {
    const found = placeOf(moment, view, block);
    return found !== null && !isWithheld(found);
  };
  const hits = recall
    .find(words, { max: hitsMax * 2, now })
    .filter(isShowable)
    .slice(0, hitsMax);
  const shown = hits.map(({ block, excerpt }) => ({
    ...must(blockOf(moment, block), "it was found in the view"),
    excerpt,
  }));
  return hitsText(shown, { nonce, query: words, now });
}

/** Since a turn, or since the last one. */
async function diffText(place: ReadingPlace, since: number | null): Promise<string> {
  const { moment, view, nonce } = place;
  const sent = [...view.sent.entries()].map(([, turn]) => turn);
  const from = since === null ? sent.at(-2) : sent.findLast(({ turn }) => turn <= since);
  const frames = await framesAfter(place, from?.seq ?? 0);
  if (!frames.ok) return `[${nonce} what changed cannot be read now (${frames.error.code})]`;
  const changes = changesIn(frames.value, moment, view.id);
  if (changes.length === 0) return `[${nonce} nothing has changed since turn ${from?.turn ?? 0}]`;
  return `[${nonce} since turn ${from?.turn ?? 0}: ${changesText(changes, { nonce, max: 40 })}]`;
}

/** All of them up to now, some at a time: the newest change matters most. */
async function framesAfter(
  { state, view, store }: ReadingPlace,
  seq: number,
): Promise<Result<readonly Frame[]>> {
  const telling: Frame[] = [];
  let after = seq;
  for (;;) {
    const read = await store.frames({ session: state.session, after, limit: framesRead });
    if (!read.ok) return read;
    telling.push(...tellingFrames(read.value, view));
    const last = read.value.at(-1)?.seq ?? state.seq;
    if (last >= state.seq) return ok(telling);
    after = last;
  }
}

async function manifestWords(place: ReadingPlace, detail: "summary" | "detailed"): Promise<string> {
  const { moment, view, nonce } = place;
  const { facts, turn } = await toldIn(place, moment, view);
  return manifestText(facts, { nonce, turn: turn - 1, variant: "text", detail, fill: "shown" });
}

function turnIn({ moment, view }: ReadingPlace) {
  return turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
}
