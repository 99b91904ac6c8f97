import { must, type Seq, type StreamId } from "../base/index.ts";
import {
  type AddedBlock,
  asOf,
  type BlockKind,
  blockOf,
  type Moment,
  streamOf,
  type View,
} from "../engine/index.ts";

/** The blocks one frame brought to a stream, as far as an agent gets to see them. */
export type FocusedFrame = { readonly seq: Seq; readonly blocks: readonly AddedBlock[] };

/** Of others, an agent sees what they said; what they thought and did to say it is theirs. */
const ownKinds: readonly BlockKind[] = ["reasoning", "tool-call", "tool-result"];
/** These stand at the tail, or nowhere. */
const besideKinds: readonly BlockKind[] = ["ambient", "activation"];

/** What an agent said and did itself. Whoever else uses its name is somebody else. */
export function isOwn({ speaker, kind }: AddedBlock, { agent }: View): boolean {
  return speaker === agent && (kind === "assistant" || ownKinds.includes(kind));
}

function isSeen(block: AddedBlock, view: View): boolean {
  const { kind, ephemeral = false } = block;
  return !ephemeral && !besideKinds.includes(kind) && (!ownKinds.includes(kind) || isOwn(block, view));
}

/**
 * The frames of a stream with something to see in them, newest first: those of the stream itself, then of
 * each parent up to where it was forked. Other streams are not looked at, however busy they are, and whoever
 * wants only the last few pays for a few.
 */
export function* framesBack(moment: Moment, view: View): Generator<FocusedFrame> {
  let [then, id] = [moment, view.stream as StreamId | null];
  while (id !== null) {
    const stream = must(streamOf(moment, id), "a view has a stream");
    yield* ownFramesBack(then, view, id);
    then = stream.parent === null ? then : asOf(then, stream.parent.seq);
    id = stream.parent?.stream ?? null;
  }
}

function* ownFramesBack(moment: Moment, view: View, id: StreamId): Generator<FocusedFrame> {
  const { blocks } = must(streamOf(moment, id), "it was found before");
  let frame: AddedBlock[] = [];
  for (let at = blocks.size - 1; at >= 0; at -= 1) {
    const entry = moment.state.blocks.get(must(blocks.get(at), "streams have no gaps"));
    const { block } = must(entry, "streams list known blocks");
    const isThere = block.addedSeq <= moment.seq && blockOf(moment, block.id) !== null;
    if (!isThere || !isSeen(block, view)) continue;
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
 * In the order an agent lived through them. Its answer follows what it answered, and the results of its calls
 * follow the answer: whatever others said meanwhile it had not heard.
 */
export function inOrder(
  moment: Moment,
  view: View,
  frames: readonly FocusedFrame[],
): readonly FocusedFrame[] {
  const answered = answeredSeqs(view, frames[0]?.seq ?? 0);
  const keyed = frames.map((frame) => ({ frame, key: orderOf({ moment, view, answered }, frame) }));
  return keyed.sort((a, b) => a.key - b.key || a.frame.seq - b.frame.seq).map(({ frame }) => frame);
}

/** By the frame of an answer: the frame that sent what it answers. Only those from a seq on. */
function answeredSeqs({ answers }: View, from: number): ReadonlyMap<number, number> {
  const seqs = new Map<number, number>();
  for (let at = answers.size - 1; at >= 0; at -= 1) {
    const { seq, sentSeq } = must(answers.get(at), "answers have no gaps");
    if (seq < from) break;
    seqs.set(seq, sentSeq);
  }
  return seqs;
}

type Ordering = {
  readonly moment: Moment;
  readonly view: View;
  readonly answered: ReadonlyMap<number, number>;
};

/** An answer stands half a frame behind what it answers, its results a little further. */
function orderOf({ moment, view, answered }: Ordering, { seq, blocks }: FocusedFrame): number {
  const [first] = blocks;
  const isResult = first?.kind === "tool-result" && isOwn(first, view);
  const said = isResult ? callSeq(moment, first) : seq;
  const sentSeq = answered.get(said);
  return (sentSeq === undefined ? said : sentSeq + 0.5) + (isResult ? 0.25 : 0);
}

function callSeq({ state }: Moment, { pair, addedSeq }: AddedBlock): number {
  const [call] = pair === null ? [] : (state.pairs.get(pair) ?? []);
  return call === undefined
    ? addedSeq
    : must(state.blocks.get(call), "pairs list known blocks").block.addedSeq;
}
