import { changesIn, relevantFrames } from "../awareness/index.ts";
import { cutText, must, ok, type Result } from "../base/index.ts";
import { type Lookup, printCommand } from "../commands/index.ts";
import { reasoningOutcome, storedText } from "../content/index.ts";
import type { AddedBlock, Frame } from "../engine/frames/index.ts";
import type { State, View } from "../engine/index.ts";
import {
  attributesOf,
  blockOf,
  blockViewOf,
  isWithheld,
  type Moment,
  streamOf,
  turnNow,
  viewBlocks,
} from "../engine/moment/index.ts";
import { changesText, hitsText, hitText, manifestText, reasoningText } from "../notes/index.ts";
import { blocksAfterReasoning, type ManifestDeps, nextManifestIn } from "../queries/index.ts";
import type { RecallExcerpt } from "../recall/index.ts";
import type { StreamRecall } from "../recorder/index.ts";
import type { Store } from "../store/index.ts";

export type LookupDeps = {
  readonly state: State;
  readonly moment: Moment;
  readonly view: View;
  readonly store: Store;
  readonly windowOf: (model: string | null) => number | null;
  readonly nonce: string;
  readonly recall: StreamRecall;
  /** The names the model is likely to need. */
  readonly needed: NonNullable<ManifestDeps["needed"]>;
};

/** The limit of one result: enough for a file, too little to fill a window again. */
const answerCharsMax = 24_000;
const hitsMax = 5;
const framesPerRead = 2_000;

/** Returns the content a lookup asks for, labelled, as the text of a tool result. */
export async function answerLookup(deps: LookupDeps, lookup: Lookup): Promise<string> {
  switch (lookup.of) {
    case "blocks":
      return await blocksText(deps, lookup);
    case "words":
      return recallText(deps, lookup.words);
    case "diff":
      return await changesLookup(deps, lookup.since);
    case "manifest":
      return await manifestLookup(deps, lookup.detail);
  }
}

async function blocksText(
  deps: LookupDeps,
  { blocks, level, from: first }: Extract<Lookup, { of: "blocks" }>,
): Promise<string> {
  const texts: string[] = [];
  let room = answerCharsMax;
  for (const id of blocks) {
    const block = blockOf(deps.moment, id);
    if (block === null || room <= 0) break;
    const from = id === blocks[0] ? first : 0;
    const text = await blockText(deps, block, { level, from, chars: room });
    texts.push(text);
    room -= text.length;
  }
  const left = blocks.slice(texts.length).map((id) => `#${id}`);
  const more = left.length === 0 ? [] : [`[${deps.nonce} no room for ${left.join(", ")}]`];
  return [...texts, ...more].join("\n");
}

type BlockPart = Pick<Extract<Lookup, { of: "blocks" }>, "level" | "from"> & { readonly chars: number };

async function blockText(deps: LookupDeps, block: AddedBlock, part: BlockPart): Promise<string> {
  const { level } = part;
  const { moment, nonce, store } = deps;
  const shorter = level === "original" ? undefined : attributesOf(moment, block.id)?.renditions[level];
  const stored = await store.content(shorter?.content ?? block.content);
  if (!stored.ok) return `[${nonce} #${block.id} cannot be read now (${stored.error.code})]`;
  const asStored = (): string => Buffer.from(stored.value).toString("utf8");
  const text = shorter === undefined ? storedText(stored.value, block.kind) : asStored();
  if (block.kind === "reasoning") return await reasoningLookup(deps, block, text);
  return hitText({ ...block, ...pieceOf(text ?? "", block, part) }, { nonce, now: turnIn(deps) });
}

/** Reasoning is returned as a report about it, never as words the model says now. */
async function reasoningLookup(
  { nonce, moment, view, store }: LookupDeps,
  block: AddedBlock,
  text: string | null,
): Promise<string> {
  const outcome: string[] = [];
  for (const { content } of text === null ? blocksAfterReasoning([...viewBlocks(moment, view)], block) : []) {
    const read = await store.content(content);
    if (read.ok) outcome.push(reasoningOutcome(read.value));
  }
  const { id, message, turn } = block;
  return reasoningText(nonce, [{ block: id, message, turn, text, outcome }]);
}

/**
 * Cuts a piece by characters, because a single line may be longer than an answer. Each piece names the call
 * for the rest; following those calls returns every character once.
 */
function pieceOf(text: string, { id }: AddedBlock, { level, from, chars }: BlockPart): LookupPiece {
  const start = Math.min(from, text.length);
  const piece = wholeLines(cutText(text.slice(start), chars), text.length - start);
  const end = start + piece.length;
  const line = text.slice(0, start).split("\n").length;
  const excerpt = { text: piece, from: start, line, isWhole: piece.length === text.length };
  const next = { verb: "expand", target: [{ by: "block", first: id, last: id }], level, from: end } as const;
  return { excerpt, rest: end < text.length ? `the rest: ${printCommand(next).slice(1)}` : null };
}

type LookupPiece = { readonly excerpt: RecallExcerpt; readonly rest: string | null };

/** Ends a cut piece with a whole line, unless that drops more than half of it. */
function wholeLines(piece: string, restLength: number): string {
  const end = piece.lastIndexOf("\n") + 1;
  return piece.length === restLength || end < piece.length / 2 ? piece : piece.slice(0, end);
}

function recallText(deps: LookupDeps, query: string): string {
  const { moment, view, nonce, recall } = deps;
  const now = turnIn(deps);
  const maySee = ({ block }: { readonly block: AddedBlock["id"] }): boolean => {
    const blockView = blockViewOf(moment, view, block);
    return blockView !== null && !isWithheld(blockView);
  };
  const hits = recall
    .find(query, { max: hitsMax * 2, now })
    .filter(maySee)
    .slice(0, hitsMax);
  const shown = hits.map(({ block, excerpt }) => ({
    ...must(blockOf(moment, block), "it was found in the view"),
    excerpt,
  }));
  return hitsText(shown, { nonce, query, now });
}

/** The changes since a turn, or since the last one. */
async function changesLookup(deps: LookupDeps, since: number | null): Promise<string> {
  const { moment, view, nonce } = deps;
  const sent = [...view.sent.entries()].map(([, turn]) => turn);
  const from = since === null ? sent.at(-2) : sent.findLast(({ turn }) => turn <= since);
  const frames = await framesAfter(deps, from?.seq ?? 0);
  if (!frames.ok) return `[${nonce} what changed cannot be read now (${frames.error.code})]`;
  const changes = changesIn(frames.value, moment, view.id);
  if (changes.length === 0) return `[${nonce} nothing has changed since turn ${from?.turn ?? 0}]`;
  return `[${nonce} since turn ${from?.turn ?? 0}: ${changesText(changes, { nonce, max: 40 })}]`;
}

/** Reads all frames up to now in batches, because the newest changes matter most. */
async function framesAfter(
  { state, view, store }: LookupDeps,
  seq: number,
): Promise<Result<readonly Frame[]>> {
  const found: Frame[] = [];
  let after = seq;
  for (;;) {
    const read = await store.frames({ session: state.session, after, limit: framesPerRead });
    if (!read.ok) return read;
    found.push(...relevantFrames(read.value, view));
    const last = read.value.at(-1)?.seq ?? state.seq;
    if (last >= state.seq) return ok(found);
    after = last;
  }
}

async function manifestLookup(deps: LookupDeps, detail: "summary" | "detailed"): Promise<string> {
  const { moment, view, nonce } = deps;
  const { facts, turn } = await nextManifestIn(deps, moment, view);
  return manifestText(facts, { nonce, turn: turn - 1, variant: "text", detail, fill: "shown" });
}

function turnIn({ moment, view }: LookupDeps) {
  return turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
}
