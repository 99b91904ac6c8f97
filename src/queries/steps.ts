import { blockId, limits, ok, type Result } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import type { State, Step } from "../engine/index.ts";
import {
  asOf,
  attributesOf,
  blockViewOf,
  type Moment,
  now,
  streamOf,
  wantedOf,
} from "../engine/moment/index.ts";
import { actBlocks, describeActs, framesAt, summarizeActs, viewIn } from "../log/index.ts";
import type { StepRow, StepsPage } from "./answers/step-answers.ts";
import { tokensAs } from "./block-levels.ts";
import type { StoredState } from "./requests.ts";
import { fitShare } from "./state-row.ts";

/** The newest steps below an id, in order. */
export async function stepsPage(
  { state, store }: StoredState,
  { limit, below }: { readonly limit: number; readonly below?: number },
): Promise<Result<StepsPage>> {
  const all = listSteps(state);
  const older = below === undefined ? all : all.filter(({ id }) => id < below);
  const page = older.slice(-Math.min(Math.max(limit, 1), limits.rowsPerAnswerMax));
  const rows = await stepRows({ state, store }, page);
  if (!rows.ok) return rows;
  const next = page.length < older.length ? (page[0]?.id ?? null) : null;
  return ok({ session: state.session, seq: state.seq, total: all.length, rows: rows.value, next });
}

export function listSteps(state: State): readonly Step[] {
  return [...state.steps.entries()].map(([, step]) => step);
}

export async function stepRows(
  { state, store }: StoredState,
  steps: readonly Step[],
): Promise<Result<readonly StepRow[]>> {
  const seqs = steps.flatMap(stepFrames);
  const frames = await framesAt(store, state.session, seqs);
  if (!frames.ok) return frames;
  const fits = fitShares(state, steps);
  return ok(steps.map((step) => stepRow({ state, fits }, step, frames.value)));
}

/** The frames that first did a step. A step grows until it is first undone; later frames undo or redo it. */
function stepFrames({ log }: Step): readonly number[] {
  let frameSeqs: readonly number[] = log.value.frames;
  let isDoneLater = false;
  for (let version: typeof log | null = log; version !== null; version = version.previous) {
    const { done, frames } = version.value;
    if (done && !isDoneLater) frameSeqs = frames;
    isDoneLater = done;
  }
  return frameSeqs;
}

function stepRow(
  { state, fits }: { readonly state: State; readonly fits: ReturnType<typeof fitShares> },
  step: Step,
  frames: ReadonlyMap<number, Frame>,
): StepRow {
  const frameSeqs = stepFrames(step);
  const framesRead = frameSeqs.flatMap((seq) => frames.get(seq) ?? []);
  const isWhole = framesRead.length === frameSeqs.length;
  const deltas = framesRead.flatMap((frame) => frame.deltas);
  const { done, by } = step.log.value;
  const fit = fits.get(step.stream) ?? 1;
  return {
    step: step.id,
    actor: step.actor,
    reason: step.reason,
    did: isWhole ? describeActs(deltas) : null,
    said: isWhole ? summarizeActs(deltas) : null,
    frees: isWhole ? tokensFreedBy(state, step, { frames: frameSeqs, blocks: actBlocks(deltas), fit }) : 0,
    blocks: actBlocks(deltas),
    done,
    by,
    seq: frameSeqs[0] ?? 0,
    lastSeq: step.log.seq,
    time: framesRead[0]?.time ?? null,
  };
}

type StepEffect = {
  /** The seqs of the frames that did the step. */
  readonly frames: readonly number[];
  readonly blocks: readonly number[];
  /** The share by which sizes of its stream are fitted. */
  readonly fit: number;
};

/** The fit share of each stream in a list of steps. Computing one visits every block, so it is done once. */
function fitShares(state: State, steps: readonly Step[]): ReadonlyMap<Step["stream"], number> {
  const moment = now(state);
  const streams = new Set(steps.map(({ stream }) => stream));
  const fits = [...streams].map((id) => {
    const stream = id === null ? null : streamOf(moment, id);
    const view = stream === null ? null : viewIn(moment, stream);
    return [id, stream === null || view === null ? 1 : fitShare(moment, stream, view)] as const;
  });
  return new Map(fits);
}

/** Tokens by which the wanted sizes of the blocks shrank with a step, fitted like all sizes. */
function tokensFreedBy(
  state: State,
  { stream }: Step,
  { frames: frameSeqs, blocks, fit }: StepEffect,
): number {
  const [first, last] = [frameSeqs[0], frameSeqs.at(-1)];
  if (stream === null || first === undefined || last === undefined) return 0;
  const moment = now(state);
  const before = asOf(moment, (first - 1) as Moment["seq"]);
  const after = asOf(moment, last as Moment["seq"]);
  const freed = blocks.reduce((sum, block) => {
    const [was, is] = [before, after].map((each) => wantedTokens(each, stream, block));
    // A block that the step itself added frees nothing.
    return was === null || was === undefined ? sum : sum + was - (is ?? 0);
  }, 0);
  return Math.trunc(freed * fit);
}

function wantedTokens(moment: Moment, id: NonNullable<Step["stream"]>, block: number): number | null {
  const stream = streamOf(moment, id);
  const view = stream === null ? null : viewIn(moment, stream);
  const blockView = view === null ? null : blockViewOf(moment, view, blockId(block));
  // The present sizes are used: more renditions are counted now than at that moment.
  const attributes = attributesOf(now(moment.state), blockId(block));
  return blockView === null || attributes === null ? null : (tokensAs(attributes, wantedOf(blockView)) ?? 0);
}
