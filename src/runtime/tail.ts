import { cutText, must, type Seq, type StreamId } from "../base/index.ts";
import {
  type AddedBlock,
  asOf,
  blockOf,
  type Moment,
  notesOf,
  type ShownBlock,
  streamOf,
  turnNow,
  type View,
} from "../engine/index.ts";
import { spokenIn } from "../protocols/index.ts";
import {
  changeNote,
  compactHeader,
  type HeaderBlock,
  type ManifestFacts,
  type ManifestOptions,
  manifestText,
  safeText,
  shortened,
  withoutNonce,
} from "../render/index.ts";
import { activationOf } from "./activation.ts";
import type { Asked } from "./asked.ts";
import type { ReadContent } from "./contents.ts";
import { isOwn } from "./focus.ts";
import type { Standing } from "./standing.ts";
import { speakerName, whoSpoke } from "./unit.ts";

/** What stands behind everything else in a prompt, and which blocks it shows. */
export type Tail = { readonly text: string; readonly shows: readonly ShownBlock[] };

export type TailAsked = {
  readonly moment: Moment;
  readonly view: View;
  /** What the run answers, and whether it has been told of it. */
  readonly asked: Pick<Asked, "answering" | "isBegun">;
  readonly standing: Standing;
  readonly nonce: string;
  readonly read: ReadContent;
  /** Ambient blocks that the path shows already. */
  readonly shown: ReadonlySet<number>;
  /** Whether everything is told anew. */
  readonly isStart: boolean;
  /** Null where the agent is not told of its context. */
  readonly facts: ManifestFacts | null;
  /** Whether the agent spoke last: somebody has to ask it to go on. */
  readonly endsWithOwn: boolean;
  readonly peripheral: readonly AddedBlock[];
  /** What the agent itself has said and done since, which nobody has told it the numbers of. */
  readonly own: readonly AddedBlock[];
  readonly timeMs: number;
};

/**
 * Said once, and then only what is new: the tail stays where it was said, so that what follows can be read
 * from the provider's cache. What is around an agent changes; it is told of the change, not of all of it
 * again.
 */
export function tailOf(asked: TailAsked): Tail | null {
  const ambient = freshAmbient(asked);
  const lines = [
    ...goneAmbient(asked),
    ...ambient.map((block) => ambientText(asked, block)),
    ...asked.peripheral.map((block) => elsewhereText(asked, block)),
    ...passingTexts(asked),
    ...reasonLines(asked),
    ...contextLines(asked),
  ];
  if (lines.length === 0 && asked.endsWithOwn) lines.push(`[${asked.nonce} nobody has spoken since; go on]`);
  if (lines.length === 0) return null;
  return { text: lines.join("\n"), shows: ambient.map(({ id }) => ({ block: id, as: "original" })) };
}

/** What is around an agent now: in its stream and in the whole space, as far as its scope is open. */
export function ambientAround({
  moment,
  view,
  standing,
}: Pick<TailAsked, "moment" | "view" | "standing">): readonly AddedBlock[] {
  const all = standing.of(moment, view.stream, "ambient");
  const open = new Set(
    all.flatMap(({ anchor }) => (anchor.startsWith(scopePrefix) ? [anchor.slice(scopePrefix.length)] : [])),
  );
  return all.filter(({ during }) => during === undefined || open.has(during));
}

/** An ambient block with such an anchor opens the scope of that name. */
export const scopePrefix = "scope ";

function freshAmbient(asked: TailAsked): readonly AddedBlock[] {
  return ambientAround(asked).filter(({ id }) => !asked.shown.has(id));
}

/** Ambient blocks that were told of and are not around any more, nor anything of their name. */
function goneAmbient(asked: TailAsked): readonly string[] {
  const { moment, nonce, shown } = asked;
  const around = ambientAround(asked);
  const [ids, names] = [
    new Set<number>(around.map(({ id }) => id)),
    new Set(around.map(({ anchor }) => anchor)),
  ];
  const gone = [...shown]
    .filter((id) => !ids.has(id))
    .flatMap((id) => moment.state.blocks.get(id)?.block ?? []);
  const anchors = new Set(gone.map(({ anchor }) => anchor).filter((anchor) => !names.has(anchor)));
  return [...anchors].map((anchor) => `[${nonce} ${nameOf(anchor, nonce)}: no longer there]`);
}

function ambientText({ nonce, read }: TailAsked, { anchor, content, id }: AddedBlock): string {
  const text = wordsOf(read(content), nonce);
  const head = `[${nonce} ${nameOf(anchor, nonce)}, #${id}, as it is now]`;
  return text === "" ? head : `${head}\n${text}\n[${nonce} end of #${id}]`;
}

function elsewhereText({ moment, nonce, read }: TailAsked, block: AddedBlock): string {
  const { stream, content } = block;
  const { name } = must(streamOf(moment, stream), "a block has a stream");
  const said = shortened(safeText(wordsOf(read(content), nonce), nonce), elsewhereCharsMax);
  return `[${nonce} elsewhere, in ${nameOf(name, nonce)}: ${whoSpoke(block, nonce)}: ${said}]`;
}

const elsewhereCharsMax = 160;
const ambientCharsMax = 200_000;

/** What was said for the moment in which the agent was asked, and for nothing after it. */
function passingTexts(asked: TailAsked): readonly string[] {
  const { nonce, read } = asked;
  const passing = isTold(asked) ? [] : passingBlocks(asked);
  return passing.map(
    ({ content, speaker }) =>
      `[${nonce} for this moment, ${speakerName(speaker, nonce)}]\n${wordsOf(read(content), nonce)}`,
  );
}

/** Why the agent is asked to act, where somebody has said so. */
function reasonLines(asked: TailAsked): readonly string[] {
  const {
    asked: { answering },
    nonce,
  } = asked;
  const reasons = (isTold(asked) ? [] : answering).flatMap((block) => {
    const activation = activationOf(block);
    return activation !== null && "reason" in activation ? (activation.reason ?? []) : [];
  });
  return [...new Set(reasons)].map((reason) => `[${nonce} you are asked to act: ${safeText(reason, nonce)}]`);
}

/** Once, with the first prompt of a run, and again where that prompt is gone. */
function isTold({ asked: { isBegun }, isStart }: TailAsked): boolean {
  return isBegun && !isStart;
}

export function passingBlocks({
  moment,
  view,
  asked,
}: Pick<TailAsked, "moment" | "view" | "asked">): readonly AddedBlock[] {
  const seqs = new Set(asked.answering.map(({ addedSeq }) => addedSeq));
  return [...seqs].sort((a, b) => a - b).flatMap((seq) => passingAt(moment, view, seq));
}

/** In the stream itself: whatever is said above it now is said after the fork. */
function passingAt(moment: Moment, { stream }: View, addedSeq: Seq): readonly AddedBlock[] {
  const then = asOf(moment, addedSeq);
  const { blocks } = must(streamOf(then, stream), "a view has a stream");
  const passing: AddedBlock[] = [];
  for (let index = blocks.size - 1; index >= 0; index -= 1) {
    const id = must(blocks.get(index), "streams have no gaps");
    const block = must(moment.state.blocks.get(id), "streams list known blocks").block;
    if (block.addedSeq < addedSeq) break;
    if (block.addedSeq === addedSeq && block.ephemeral && blockOf(then, id) !== null) passing.unshift(block);
  }
  return passing;
}

function contextLines(asked: TailAsked): readonly string[] {
  const { moment, view, nonce, facts, isStart } = asked;
  if (facts === null) return [];
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const turn = turnNow(moment, stream) + 1;
  const options: ManifestOptions = { nonce, turn, variant: "text", detail: "summary", fill: "shown" };
  const told = isStart ? manifestText(facts, options) : changeNote(facts, options);
  return [...ownLines(asked, turn), ...(told === null ? [] : [told])];
}

/** `[k7f3 turn 31, 14:05: message 12 #41..#44; #43 result ~4.2k until 51]` */
function ownLines({ moment, nonce, own, timeMs, isStart }: TailAsked, turn: number): readonly string[] {
  if (own.length === 0 && !isStart) return [];
  const messages = [...new Set(own.map(({ message }) => message))].map((message) => ({
    message,
    role: "assistant",
    from: "you",
    blocks: own.filter((block) => block.message === message).map((block) => headerBlock(moment, turn, block)),
  }));
  const time = { timeMs, zoneMinutes: 0, sinceMs: null, saysDate: isStart };
  return [compactHeader({ nonce, turn, ...time, messages })];
}

function headerBlock(moment: Moment, turn: number, { id, kind, ttl }: AddedBlock): HeaderBlock {
  const { count, exact } = notesOf(moment, id)?.tokens ?? { count: 0, exact: false };
  const left = ttl === null ? null : { turns: ttl.at - turn, until: ttl.at };
  return { block: id, kind, tokens: count, exact, ttl: left, state: null };
}

function wordsOf(bytes: Uint8Array, nonce: string): string {
  const spoken = spokenIn(bytes);
  return spoken?.type === "text" ? withoutNonce(cutText(spoken.text, ambientCharsMax), nonce) : "";
}

function nameOf(anchor: string, nonce: string): string {
  return shortened(safeText(anchor, nonce), 80);
}

/** What others said elsewhere since an agent last looked, the latest of each stream. */
export function peripheralBlocks(
  moment: Moment,
  view: View,
  { since, each }: { readonly since: number; readonly each: number },
): readonly AddedBlock[] {
  const found: AddedBlock[] = [];
  for (const [, stream] of moment.state.streams.entries()) {
    if (isWithin(moment, view.stream, stream.id)) continue;
    let left = each;
    for (let at = stream.blocks.size - 1; at >= 0 && left > 0; at -= 1) {
      const block = must(
        moment.state.blocks.get(must(stream.blocks.get(at), "no gaps")),
        "it is known",
      ).block;
      if (block.addedSeq <= since) break;
      const isSaid = (block.kind === "user" || block.kind === "assistant") && !block.ephemeral;
      if (!isSaid || isOwn(block, view) || blockOf(moment, block.id) === null) continue;
      found.push(block);
      left -= 1;
    }
  }
  return found.sort((a, b) => a.addedSeq - b.addedSeq);
}

/** Whether a stream is the other one or one of those it was forked from. */
function isWithin(moment: Moment, stream: StreamId, other: StreamId): boolean {
  for (let id: StreamId | null = stream; id !== null; id = streamOf(moment, id)?.parent?.stream ?? null)
    if (id === other) return true;
  return false;
}
