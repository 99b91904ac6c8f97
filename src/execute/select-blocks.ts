import {
  type BlockId,
  blockId,
  fail,
  isCount,
  limits,
  ok,
  type Result,
  type SessionId,
} from "../base/index.ts";
import { type ChangeContext, changes, type Proposal } from "../engine/index.ts";
import { now } from "../engine/moment/index.ts";
import { type Durability, viewIn } from "../log/index.ts";
import { chooseStream, openSessionState, selectionAnswer, unknownBlocksError } from "../queries/index.ts";
import type { SelectAnswer, SkippedRow } from "./act-answers.ts";
import type { ActDeps, SelectAct } from "./acts.ts";

/**
 * Makes the selection exactly these blocks. Unknown blocks are skipped and named. If all are unknown, nothing
 * is changed: a mistake must not clear a selection.
 */
export async function selectBlocks(
  deps: ActDeps,
  act: SelectAct,
): Promise<Result<SelectAnswer & Durability>> {
  const blocks = parseBlockIds(act.blocks);
  if (blocks === null) return fail("AP_INPUT_INVALID", { problem: blocksProblem });
  const state = await openSessionState(deps, act.session);
  if (!state.ok) return state;
  const moment = now(state.value);
  const stream = chooseStream(moment, act.stream);
  if (!stream.ok) return stream;
  if (stream.value === null) return fail("AP_STREAM_UNKNOWN", { stream: "main" });
  const { session } = state.value;
  const done = await deps.act(session, stream.value.name, (change) => proposeSelection(change, blocks));
  if (!done.ok) return done;
  const skipped = done.value.skipped.map(skippedRow);
  if (blocks.length > 0 && skipped.length === blocks.length) {
    return { ok: false, error: unknownBlocksError(moment, viewIn(moment, stream.value), blocks) };
  }
  const { durable } = done.value;
  return await selectAnswer(deps, { session, stream: stream.value.id, skipped, durable });
}

const blocksProblem = `blocks must be a list of at most ${limits.selectedBlocksMax} block numbers, such as [12, 27]`;

function parseBlockIds(blocks: readonly number[]): readonly BlockId[] | null {
  const ids = [...new Set(blocks)];
  const isWithinLimit = blocks.length <= limits.selectedBlocksMax;
  return isWithinLimit && ids.every(isCount) ? ids.map(blockId) : null;
}

function proposeSelection(change: ChangeContext, blocks: readonly BlockId[]): Proposal {
  const proposal = changes.select(change, blocks);
  const isMistake = blocks.length > 0 && proposal.skipped.length === blocks.length;
  return isMistake ? { ...proposal, deltas: [] } : proposal;
}

function skippedRow({ block, error }: Proposal["skipped"][number]): SkippedRow {
  return { block, code: error.code, message: error.message };
}

type SelectResult = Durability & {
  readonly session: SessionId;
  readonly stream: number;
  readonly skipped: readonly SkippedRow[];
};

async function selectAnswer(
  deps: ActDeps,
  { session, stream, skipped, durable }: SelectResult,
): Promise<Result<SelectAnswer & Durability>> {
  const state = await openSessionState(deps, session);
  if (!state.ok) return state;
  const answer = await selectionAnswer(deps, state.value, stream);
  return answer.ok ? ok({ ...answer.value, skipped, durable }) : answer;
}
