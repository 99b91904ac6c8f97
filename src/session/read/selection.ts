import {
  type BlockId,
  blockId,
  fail,
  isCount,
  limits,
  ok,
  type Result,
  type SessionId,
} from "../../base/index.ts";
import {
  blocksOf,
  type Change,
  factValue,
  now,
  type Place,
  type Proposal,
  placeOf,
  type State,
  select,
} from "../../engine/index.ts";
import type { Durable } from "../record/durable.ts";
import { chosenStream, modeIn, viewIn } from "./look.ts";
import { type Told, toldNow, toldText } from "./manifest.ts";
import { blocksUnknown } from "./nearest-ids.ts";
import type { Library, SelectAct } from "./questions.ts";
import { openState } from "./sessions.ts";
import type { SelectAnswer, SelectedRow, SelectionAnswer, SkippedRow } from "./told-rows.ts";

/** What the user has selected in a stream, and what its model will read of it. */
export async function selectionAnswer(
  library: Library,
  state: State,
  wanted: number | undefined,
): Promise<Result<SelectionAnswer>> {
  const told = await toldNow(library, state, wanted);
  if (!told.ok) return told;
  const { session, seq } = state;
  if (told.value === null)
    return ok({ session, seq, stream: null, mode: "observe", selected: [], told: null });
  const { moment, stream } = told.value;
  return ok({
    session,
    seq,
    stream: stream.id,
    mode: modeIn(moment, stream),
    selected: selectedRows(told.value),
    told: wordsAbout(told.value),
  });
}

function selectedRows({ moment, view, facts }: Told): readonly SelectedRow[] {
  const names = new Map(facts.recency.selected.map(({ block, name }) => [block, name]));
  const isSelected = (place: Place | null): boolean => place !== null && factValue(place, "selection");
  return [...blocksOf(moment, view)]
    .filter(({ id }) => isSelected(placeOf(moment, view, id)))
    .map(({ id }) => ({ block: id, name: names.get(id) ?? null, told: names.has(id) }));
}

/** As the manifest has it: a field of its own, in which nothing of content can end it early. */
function wordsAbout(told: Told): string | null {
  const fields = toldText(told, "summary").split(/\n| \| /);
  return fields.find((field) => field.startsWith("[user-selected]")) ?? null;
}

/**
 * Makes the selection exactly these blocks. This one appends to the log, through the library. Blocks that are
 * not there are left out and named; if none is there, nothing happens: a slip must not clear a selection.
 */
export async function selectBlocks(
  library: Library,
  act: SelectAct,
): Promise<Result<SelectAnswer & Durable>> {
  const blocks = idsIn(act.blocks);
  if (blocks === null) return fail("AP_INPUT_INVALID", { problem: blocksProblem });
  const state = await openState(library, act.session);
  if (!state.ok) return state;
  const moment = now(state.value);
  const stream = chosenStream(moment, act.stream);
  if (!stream.ok) return stream;
  if (stream.value === null) return fail("AP_STREAM_UNKNOWN", { stream: "main" });
  const { session } = state.value;
  const done = await library.act(session, stream.value.name, (change) => proposed(change, blocks));
  if (!done.ok) return done;
  const skipped = done.value.skipped.map(skippedRow);
  if (blocks.length > 0 && skipped.length === blocks.length) {
    return { ok: false, error: blocksUnknown(moment, viewIn(moment, stream.value), blocks) };
  }
  const { durable } = done.value;
  return await afterwards(library, { session, stream: stream.value.id, skipped, durable });
}

const blocksProblem = `blocks must be a list of at most ${limits.selectedBlocksMax} block numbers, such as [12, 27]`;

function idsIn(blocks: readonly number[]): readonly BlockId[] | null {
  const ids = [...new Set(blocks)];
  const areFew = blocks.length <= limits.selectedBlocksMax;
  return areFew && ids.every(isCount) ? ids.map(blockId) : null;
}

function proposed(change: Change, blocks: readonly BlockId[]): Proposal {
  const proposal = select(change, blocks);
  const isSlip = blocks.length > 0 && proposal.skipped.length === blocks.length;
  return isSlip ? { ...proposal, deltas: [] } : proposal;
}

function skippedRow({ block, error }: Proposal["skipped"][number]): SkippedRow {
  return { block, code: error.code, message: error.message };
}

type Done = Durable & {
  readonly session: SessionId;
  readonly stream: number;
  readonly skipped: readonly SkippedRow[];
};

async function afterwards(
  library: Library,
  { session, stream, skipped, durable }: Done,
): Promise<Result<SelectAnswer & Durable>> {
  const state = await openState(library, session);
  if (!state.ok) return state;
  const answer = await selectionAnswer(library, state.value, stream);
  return answer.ok ? ok({ ...answer.value, skipped, durable }) : answer;
}
