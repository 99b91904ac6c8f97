import { seededRandom, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import { emptyState, replayFrames, type State } from "../../src/engine/index.ts";
import { compare, heapBytes, keep } from "../measure.ts";
import { type BenchOptions, type Cell, countText, round } from "../report.ts";
import { build, listAt, readAt, type SessionShape, session } from "./synthetic.ts";

const equalBlocks = 500;
const readsPerMoment = 20;

export function* stateAtCells({ quick }: BenchOptions): Generator<Cell> {
  // A round takes a few milliseconds, so many rounds are cheap and make the median stable.
  const rounds = quick ? 1 : 75;
  const scale = quick ? 0.1 : 1;
  yield* readCells({ rounds, scale, blocks: equalBlocks, boundMax: 2, name: `at ${equalBlocks} blocks` });
  yield* readCells({ rounds, scale, blocks: "growing", boundMax: 3, name: "with blocks growing" });
  yield* walkCells({ rounds, scale });
  yield* applyCells({ rounds, scale });
  yield* replayCells(scale);
}

/** The quick form measures sessions of a tenth of the frames. */
type Effort = { readonly rounds: number; readonly scale: number };

type ReadCellsInput = Effort & {
  readonly blocks: SessionShape["blocks"];
  readonly boundMax: number;
  readonly name: string;
};

function* readCells({ rounds, scale, blocks, boundMax, name }: ReadCellsInput): Generator<Cell> {
  const counts = [1_000 * scale, 10_000 * scale] as const;
  const [small, large] = counts.map((frames) => build({ frames, blocks }).state) as [State, State];
  const read = (state: State) => () => readAnywhere(state, blocks);
  const reads = compare(read(small), read(large), rounds);
  const [us, usLarge] = [round((reads.a / 200) * 1_000), round((reads.b / 200) * 1_000)];
  const note = `${usLarge} us against ${us} us, ${readsPerMoment} blocks read`;
  const title = `stateAt anywhere in ${framesText(counts)}, ${name}`;
  yield { name: title, figure: reads.ratio, boundMax, unit: "x", note };
  const count = blocks === "growing" ? small.seq : blocks;
  const list = (state: State) => () => keep(listAt(state, small.seq / 2));
  const lists = compare(list(small), list(large), rounds * 4);
  const counted = `the same ${blocks === "growing" ? count / 2 : count} blocks in both`;
  yield { name: `  and every block of it, ${name}`, figure: lists.ratio, boundMax, unit: "x", note: counted };
}

/** Reads some blocks at two hundred random moments of the session. */
function readAnywhere(state: State, blocks: SessionShape["blocks"]): void {
  const random = seededRandom(11);
  for (let read = 0; read < 200; read += 1) {
    const seq = 1 + random.below(state.seq);
    const there = blocks === "growing" ? seq : blocks;
    keep(
      readAt(
        state,
        seq,
        Array.from({ length: readsPerMoment }, () => 1 + random.below(there)),
      ),
    );
  }
}

function* walkCells({ rounds, scale }: Effort): Generator<Cell> {
  keep(build({ frames: 2_000 * scale, blocks: "growing" }));
  const counts = [1_000 * scale, 8_000 * scale] as const;
  const sizes = counts.map((frames) => heapBytes(() => build({ frames, blocks: "growing" }).state));
  const [small, large] = sizes as [(typeof sizes)[0], (typeof sizes)[0]];
  const walk = (state: State) => () => {
    for (let seq = 1; seq <= state.seq; seq += 1) keep(readAt(state, seq, [seq, seq >>> 1, 1]));
  };
  const walks = compare(walk(small.made), walk(large.made), rounds);
  const perSeq = `${round((walks.b / counts[1]) * 1_000)} us a seq, three blocks read`;
  const title = `walking every seq, ${framesText(counts)}`;
  yield { name: title, figure: walks.ratio, boundMax: 10, unit: "x", note: perSeq };
  const note = `${round(large.bytes / counts[1])} bytes a frame, with its block and all versions`;
  const figure = large.bytes / small.bytes;
  yield { name: `memory, ${framesText(counts)}`, figure, boundMax: 10, unit: "x", note };
}

function* applyCells({ rounds, scale }: Effort): Generator<Cell> {
  const { frames } = build({ frames: 10_000 * scale, blocks: "growing" });
  const [few, many, applied] = [500 * scale, 9_500 * scale, 400 * scale];
  const [early, late] = [stateBefore(frames, few), stateBefore(frames, many)];
  const apply = (state: State, from: number) => () =>
    keep(unwrap(replayFrames(state, frames.slice(from, from + applied))));
  const { b, ratio } = compare(apply(early, few), apply(late, many), rounds);
  const note = `${round((b / applied) * 1_000)} us a frame, its hash checked`;
  const title = `applying a frame, at ${countText(many)} / at ${countText(few)} frames`;
  yield { name: title, figure: ratio, boundMax: 2, unit: "x", note };
}

/** Compares with a system that keeps no history and replays from the first frame for each state. */
function* replayCells(scale: number): Generator<Cell> {
  const { state, frames } = build({ frames: 400 * scale, blocks: "growing" });
  const naive = () => {
    for (let seq = 1; seq <= frames.length; seq += 1)
      keep(unwrap(replayFrames(emptyState(session), frames.slice(0, seq))));
  };
  const ours = () => {
    for (let seq = 1; seq <= frames.length; seq += 1) keep(readAt(state, seq, [seq]));
  };
  const { ratio } = compare(ours, naive, 1);
  const note = "it grows with the square of the frames; ours does not";
  yield {
    name: `replaying from 1 for each of ${frames.length} seqs, against stateAt`,
    figure: ratio,
    boundMax: null,
    unit: "x",
    note,
  };
}

export function framesText([few, many]: readonly [few: number, many: number]): string {
  return `${countText(many)} / ${countText(few)} frames`;
}

function stateBefore(frames: readonly Frame[], count: number): State {
  return unwrap(replayFrames(emptyState(session), frames.slice(0, count)));
}
