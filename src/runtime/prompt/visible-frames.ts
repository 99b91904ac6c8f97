import { must, type Seq, type StreamId } from "../../base/index.ts";
import type { AddedBlock, BlockKind } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { asOf, blockOf, type Moment, streamOf } from "../../engine/moment/index.ts";
import { wire } from "../runtime-protocol.ts";

/** The blocks of one frame in a stream that an agent sees. */
export type VisibleFrame = { readonly seq: Seq; readonly blocks: readonly AddedBlock[] };

/** An agent sees these kinds only if they are its own: of others it sees their messages. */
const ownKinds: readonly BlockKind[] = ["reasoning", "tool-call", "tool-result"];
/** These are shown outside the frames: as surroundings, by the ledger, or not at all. */
const otherKinds: readonly BlockKind[] = ["ambient", "activation", "memory"];

/**
 * True for the agent's own messages, reasoning, calls and results. A user of the same name is not the agent.
 */
export function isOwnBlock({ speaker, kind }: AddedBlock, { agent }: View): boolean {
  return speaker === agent && (kind === "assistant" || ownKinds.includes(kind));
}

function isVisible(block: AddedBlock, view: View): boolean {
  const { kind, ephemeral = false } = block;
  return !ephemeral && !otherKinds.includes(kind) && (!ownKinds.includes(kind) || isOwnBlock(block, view));
}

/**
 * The frames of a stream that hold visible blocks, newest first: those of the stream itself, then of each
 * parent up to the fork. Other streams are never read, however busy they are, and the generator reads only as
 * many frames as are taken from it.
 */
export function* framesBack(moment: Moment, view: View): Generator<VisibleFrame> {
  let [then, id] = [moment, view.stream as StreamId | null];
  while (id !== null) {
    const stream = must(streamOf(moment, id), "a view has a stream");
    yield* ownFramesBack(then, view, id);
    then = stream.parent === null ? then : asOf(then, stream.parent.seq);
    id = stream.parent?.stream ?? null;
  }
}

function* ownFramesBack(moment: Moment, view: View, id: StreamId): Generator<VisibleFrame> {
  const { blocks } = must(streamOf(moment, id), "it was found before");
  let frame: AddedBlock[] = [];
  for (let at = blocks.size - 1; at >= 0; at -= 1) {
    const entry = moment.state.blocks.get(must(blocks.get(at), "streams have no gaps"));
    const { block } = must(entry, "streams list known blocks");
    const isThere = block.addedSeq <= moment.seq && blockOf(moment, block.id) !== null;
    if (!isThere || !isVisible(block, view)) continue;
    const [first] = frame;
    if (first !== undefined && first.addedSeq !== block.addedSeq) {
      yield { seq: first.addedSeq, blocks: frame.reverse() };
      frame = [];
    }
    frame.push(block);
  }
  const [first] = frame;
  if (first !== undefined) yield { seq: first.addedSeq, blocks: frame.reverse() };
}

/**
 * The frames in the order the agent experienced them. An answer follows the prompt it answers, and the
 * results of its calls follow the answer: the agent had not read what others said meanwhile.
 */
export function inReadingOrder(
  moment: Moment,
  view: View,
  frames: readonly VisibleFrame[],
): readonly VisibleFrame[] {
  const promptSeqs = promptSeqsByAnswer(view, frames[0]?.seq ?? 0);
  const keyed = frames.map((frame) => ({ frame, key: orderOf({ moment, view, promptSeqs }, frame) }));
  return keyed.sort((a, b) => a.key - b.key || a.frame.seq - b.frame.seq).map(({ frame }) => frame);
}

/** By the seq of an answer: the seq of the prompt it answers. Holds only answers from a seq on. */
function promptSeqsByAnswer({ answers }: View, from: number): ReadonlyMap<number, number> {
  const seqs = new Map<number, number>();
  for (let at = answers.size - 1; at >= 0; at -= 1) {
    const { seq, sentSeq } = must(answers.get(at), "answers have no gaps");
    if (seq < from) break;
    seqs.set(seq, sentSeq);
  }
  return seqs;
}

type AnswerOrder = {
  readonly moment: Moment;
  readonly view: View;
  /** By the seq of an answer: the seq of its prompt. */
  readonly promptSeqs: ReadonlyMap<number, number>;
};

/** An answer comes half a seq after its prompt, its results a quarter later. */
function orderOf({ moment, view, promptSeqs }: AnswerOrder, { seq, blocks }: VisibleFrame): number {
  const [first] = blocks;
  const isResult = first?.kind === "tool-result" && isOwnBlock(first, view);
  const answerSeq = isResult ? callSeq(moment, first) : seq;
  const promptSeq = promptSeqs.get(answerSeq);
  return (promptSeq === undefined ? answerSeq : promptSeq + 0.5) + (isResult ? 0.25 : 0);
}

function callSeq({ state }: Moment, { pair, addedSeq }: AddedBlock): number {
  const [call] = pair === null ? [] : (state.pairs.get(pair) ?? []);
  return call === undefined
    ? addedSeq
    : must(state.blocks.get(call), "pairs list known blocks").block.addedSeq;
}

type PathOwner = { readonly view: View; readonly model: string };

/**
 * The frames as a new path may begin with them. Reasoning is left out, because it is bound to the prefix it
 * was made behind. A result without its call is left out, and a call without its result: the result of a call
 * in a parent stream may have come after the fork.
 */
export function startFrames(owner: PathOwner, frames: readonly VisibleFrame[]): readonly VisibleFrame[] {
  const keysOf = (wanted: BlockKind): ReadonlySet<string> =>
    new Set(frames.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === wanted).map(pairKey)));
  const [calls, results] = [keysOf("tool-call"), keysOf("tool-result")];
  const isPaired = (block: AddedBlock): boolean =>
    (block.kind !== "tool-result" || calls.has(pairKey(block))) &&
    (block.kind !== "tool-call" || results.has(pairKey(block)));
  const paired = frames.map((frame) => ({ ...frame, blocks: frame.blocks.filter(isPaired) }));
  const lastAnswer = answerOfOpenCalls(owner, paired);
  return paired
    .map((frame) => (frame === lastAnswer ? frame : withoutReasoning(frame)))
    .filter(({ blocks }) => blocks.length > 0);
}

/**
 * The answer whose calls have just been made. A model with optional thinking requires the reasoning behind
 * its calls and does not bind it to the prefix; a model that binds its reasoning can continue without it.
 */
function answerOfOpenCalls({ view, model }: PathOwner, frames: readonly VisibleFrame[]): VisibleFrame | null {
  if (wire.traits.model(model).isBound) return null;
  const isAnswer = (block: AddedBlock): boolean => isOwnBlock(block, view) && block.kind !== "tool-result";
  const last = frames.findLast(({ blocks }) => blocks.some(isAnswer)) ?? null;
  return last?.blocks.some(({ kind }) => kind === "tool-call") ? last : null;
}

function withoutReasoning(frame: VisibleFrame): VisibleFrame {
  return { ...frame, blocks: frame.blocks.filter(({ kind }) => kind !== "reasoning") };
}

function pairKey({ pair, anchor }: AddedBlock): string {
  return `${pair} ${anchor}`;
}

/** How many frames an agent sees, and how many are dropped at once when there are more. */
export type WindowSize = { readonly frames: number; readonly step: number };

export const defaultWindow: WindowSize = { frames: 50, step: 25 };

/**
 * How many of the oldest frames are dropped: none, or whole steps. A window that moved with every frame would
 * change the prefix of every prompt, and the provider could not read it from its cache.
 */
export function framesToDrop(count: number, { frames, step }: WindowSize): number {
  return count <= frames ? 0 : Math.min(count - 1, Math.ceil((count - frames) / step) * step);
}
