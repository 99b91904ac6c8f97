import { blockId, cutText, limits, must, ok, type Result } from "../base/index.ts";
import { parseCommand, tokensInForm } from "../commands/index.ts";
import type { Shown } from "../engine/frames/index.ts";
import {
  type ApprovalState,
  approvalOf,
  blockOf,
  blockViewOf,
  type Moment,
  now,
  streamOf,
  turnNow,
  viewOf,
  wantedOf,
} from "../engine/moment/index.ts";
import { modelIn } from "../log/index.ts";
import { contentText } from "../protocols/index.ts";
import { chooseStream, openSessionState, streamModeOf } from "../queries/index.ts";
import type { Store } from "../store/index.ts";
import type { ApprovalRow, ApprovalsPage, CutRow } from "./act-answers.ts";
import type { ActDeps } from "./acts.ts";
import { estimateCut, fitShareOf } from "./estimate-cut.ts";

/** Lists the approvals that wait, or the newest of all, in one stream or in every stream. */
export async function approvalsPage(
  deps: ActDeps,
  query: { readonly session: string; readonly stream?: number; readonly all?: boolean },
): Promise<Result<ApprovalsPage>> {
  const { session, stream: requested, all = false } = query;
  const state = await openSessionState(deps, session);
  if (!state.ok) return state;
  const moment = now(state.value);
  const stream = chooseStream(moment, requested);
  if (!stream.ok) return stream;
  const approvals = [...state.value.approvals.entries()].flatMap(([at]) => approvalOf(moment, at + 1) ?? []);
  const isInStream = ({ view }: ApprovalState): boolean =>
    requested === undefined || viewOf(moment, view)?.stream === stream.value?.id;
  const selected = approvals.filter(isInStream);
  const waiting = selected.filter(({ stand }) => stand === "waiting");
  const rows: ApprovalRow[] = [];
  for (const approval of (all ? selected : waiting).slice(-limits.historyRowsMax)) {
    rows.push(await approvalRow(deps.store, moment, approval));
  }
  return ok({
    session: state.value.session,
    seq: state.value.seq,
    model: modelIn(moment, stream.value),
    mode: streamModeOf(moment, stream.value),
    waiting: waiting.length,
    rows,
  });
}

export async function approvalRow(
  store: Pick<Store, "content">,
  moment: Moment,
  approval: ApprovalState,
): Promise<ApprovalRow> {
  const { id, view, tokens, until, stand } = approval;
  const { actor, verb, command, blocks, why, by, reason, turn, seq } = approval;
  const approvalView = must(viewOf(moment, view), "an approval has a view");
  const { stream } = approvalView;
  const present = turnNow(moment, must(streamOf(moment, stream), "a view has a stream"));
  return {
    approval: id,
    stream,
    actor,
    verb,
    command,
    text: await approvalText(store, approval),
    blocks,
    why,
    // Fitted like the sizes in the list of blocks.
    tokens: Math.floor(tokens.count * fitShareOf(moment, approvalView)),
    cut: approvalCut(moment, approval),
    source: await approvalSource(store, moment, approval),
    stand,
    by,
    reason: stand === "waiting" ? "" : reason,
    turn,
    turnsLeft: stand === "waiting" ? Math.max(0, until - present) : 0,
    seq,
  };
}

const textCharsMax = 2_000;

async function approvalText(store: Pick<Store, "content">, { text }: ApprovalState): Promise<string | null> {
  const stored = text === null ? null : await store.content(text);
  const carriedText = stored?.ok ? contentText(stored.value, { form: "part" }) : null;
  return carriedText === null ? null : cutText(carriedText, textCharsMax);
}

async function approvalSource(
  store: Pick<Store, "content">,
  moment: Moment,
  { source }: ApprovalState,
): Promise<ApprovalRow["source"]> {
  const block = source === null ? null : blockOf(moment, source.block);
  if (source === null || block === null) return null;
  const stored = await store.content(block.content);
  const text = stored.ok ? contentText(stored.value, block) : null;
  return text === null
    ? null
    : { block: block.id, kind: block.kind, text: text.slice(source.start, source.start + source.length) };
}

/** Estimates a rewrite for the command alone; null once it is decided. */
function approvalCut(moment: Moment, { stand, command, blocks, view: viewId }: ApprovalState): CutRow | null {
  const parsed = stand === "waiting" ? parseCommand(command) : null;
  const view = viewOf(moment, viewId);
  if (!parsed?.ok || view === null) return null;
  const { value } = parsed;
  const form: Shown | null =
    value.verb === "archive" ? "placeholder" : value.verb === "compress" ? value.level : null;
  if (form === null) return null;
  const freed = blocks.reduce((sum, id) => {
    const blockView = blockViewOf(moment, view, blockId(id));
    if (blockView === null) return sum;
    const before = tokensInForm(moment, id, wantedOf(blockView)) ?? tokensInForm(moment, id, "original") ?? 0;
    return sum + Math.max(0, before - (tokensInForm(moment, id, form) ?? before));
  }, 0);
  return estimateCut(moment, view, { blocks, freed });
}
