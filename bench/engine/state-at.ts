import { seededRandom, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import { emptyState, replayFrames, type State } from "../../src/engine/index.ts";
import { compare, heapBytes, keep } from "../measure.ts";
import { type BenchOptions, type Cell, round } from "../report.ts";
import { build, listAt, readAt, type SessionShape, session } from "./synthetic.ts";

const equalBlocks = 500;
const readsPerMoment = 20;

export function* stateAtCells({ quick }: BenchOptions): Generator<Cell> {
  // A round takes a few milliseconds, so many rounds are cheap and make the median stable.
  const rounds = quick ? 25 : 75;
  yield* readCells({ rounds, blocks: equalBlocks, boundMax: 2, name: `at ${equalBlocks} blocks` });
  yield* readCells({ rounds, blocks: "growing", boundMax: 3, name: "with blocks growing" });
  yield* walkCells(rounds);
  yield* applyCells(rounds);
  yield* replayCells();
}

type ReadCellsInput = Pick<SessionShape, "blocks"> & {
  readonly rounds: number;
  readonly boundMax: number;
  readonly name: string;
};

function* readCells({ rounds, blocks, boundMax, name }: ReadCellsInput): Generator<Cell> {
  const [small, large] = [1_000, 10_000].map((frames) => build({ frames, blocks }).state) as [State, State];
  const read = (state: State) => () => readAnywhere(state, blocks);
  const reads = compare(read(small), read(large), rounds);
  const [us, usLarge] = [round((reads.a / 200) * 1_000), round((reads.b / 200) * 1_000)];
  const note = `${usLarge} us against ${us} us, ${readsPerMoment} blocks read`;
  const title = `stateAt anywhere in 10,000 / 1,000 frames, ${name}`;
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

function* walkCells(rounds: number): Generator<Cell> {
  keep(build({ frames: 2_000, blocks: "growing" }));
  const sizes = [1_000, 8_000].map((frames) => heapBytes(() => build({ frames, blocks: "growing" }).state));
  const [small, large] = sizes as [(typeof sizes)[0], (typeof sizes)[0]];
  const walk = (state: State) => () => {
    for (let seq = 1; seq <= state.seq; seq += 1) keep(readAt(state, seq, [seq, seq >>> 1, 1]));
  };
  const walks = compare(walk(small.made), walk(large.made), rounds);
  const perSeq = `${round((walks.b / 8_000) * 1_000)} us a seq, three blocks read`;
  const title = "walking every seq, 8,000 / 1,000 frames";
  yield { name: title, figure: walks.ratio, boundMax: 10, unit: "x", note: perSeq };
  const note = `${round(large.bytes / 8_000)} bytes a frame, with its block and all versions`;
  const figure = large.bytes / small.bytes;
  yield { name: "memory, 8,000 / 1,000 frames", figure, boundMax: 10, unit: "x", note };
}

function* applyCells(rounds: number): Generator<Cell> {
  const { frames } = build({ frames: 10_000, blocks: "growing" });
  const [early, late] = [stateBefore(frames, 500), stateBefore(frames, 9_500)];
  const apply = (state: State, from: number) => () =>
    keep(unwrap(replayFrames(state, frames.slice(from, from + 400))));
  const { b, ratio } = compare(apply(early, 500), apply(late, 9_500), rounds);
  const note = `${round((b / 400) * 1_000)} us a frame, its hash checked`;
  yield { name: "applying a frame, at 9,500 / at 500 frames", figure: ratio, boundMax: 2, unit: "x", note };
}

/** Compares with a system that keeps no history and replays from the first frame for each state. */
function* replayCells(): Generator<Cell> {
  const { state, frames } = build({ frames: 400, blocks: "growing" });
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
    name: "replaying from 1 for each of 400 seqs, against stateAt",
    figure: ratio,
    boundMax: null,
    unit: "x",
    note,
  };
}

function stateBefore(frames: readonly Frame[], count: number): State {
  return unwrap(replayFrames(emptyState(session), frames.slice(0, count)));
}
