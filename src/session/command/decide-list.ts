import { blockId, cutText, limits, must, ok, type Result } from "../../base/index.ts";
import { parseCommand, tokensAs } from "../../commands/index.ts";
import {
  type ApprovalNow,
  approvalOf,
  blockOf,
  type Moment,
  now,
  placeOf,
  type Shown,
  streamOf,
  turnNow,
  viewOf,
  wantedOf,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import type { ApprovalRow, ApprovalsPage, CutRow } from "../read/command-rows.ts";
import { chosenStream, modeIn, modelIn } from "../read/look.ts";
import type { Library } from "../read/questions.ts";
import { openState } from "../read/sessions.ts";
import { storedWords } from "../read/stored-words.ts";
import { cutAt, fitIn } from "./user-cut.ts";

type Asked = { readonly session: string; readonly stream?: number; readonly all?: boolean };

/** Those that wait, or the newest of all; of one stream where it is named. */
export async function approvalsPage(
  library: Library,
  { session, stream: wanted, all = false }: Asked,
): Promise<Result<ApprovalsPage>> {
  const state = await openState(library, session);
  if (!state.ok) return state;
  const moment = now(state.value);
  const stream = chosenStream(moment, wanted);
  if (!stream.ok) return stream;
  const known = [...state.value.approvals.entries()].flatMap(([at]) => approvalOf(moment, at + 1) ?? []);
  const isMeant = ({ view }: ApprovalNow): boolean =>
    wanted === undefined || viewOf(moment, view)?.stream === stream.value?.id;
  const meant = known.filter(isMeant);
  const waiting = meant.filter(({ stand }) => stand === "waiting");
  const rows: ApprovalRow[] = [];
  for (const approval of (all ? meant : waiting).slice(-limits.historyRowsMax)) {
    rows.push(await approvalRow(library.store, moment, approval));
  }
  return ok({
    session: state.value.session,
    seq: state.value.seq,
    model: modelIn(moment, stream.value),
    mode: modeIn(moment, stream.value),
    waiting: waiting.length,
    rows,
  });
}

export async function approvalRow(
  store: Pick<Store, "content">,
  moment: Moment,
  approval: ApprovalNow,
): Promise<ApprovalRow> {
  const { id, view, tokens, until, stand } = approval;
  const { actor, verb, command, blocks, why, by, reason, turn, seq } = approval;
  const seen = must(viewOf(moment, view), "an approval has a view");
  const { stream } = seen;
  const present = turnNow(moment, must(streamOf(moment, stream), "a view has a stream"));
  return {
    approval: id,
    stream,
    actor,
    verb,
    command,
    text: await textOf(store, approval),
    blocks,
    why,
    // As large as the list of blocks says.
    tokens: Math.floor(tokens.count * fitIn(moment, seen)),
    cut: cutOf(moment, approval),
    source: await sourceOf(store, moment, approval),
    stand,
    by,
    reason: stand === "waiting" ? "" : reason,
    turn,
    turnsLeft: stand === "waiting" ? Math.max(0, until - present) : 0,
    seq,
  };
}

const textCharsMax = 2_000;

async function textOf(store: Pick<Store, "content">, { text }: ApprovalNow): Promise<string | null> {
  const stored = text === null ? null : await store.content(text);
  const words = stored?.ok ? storedWords(stored.value, "memory") : null;
  return words === null ? null : cutText(words, textCharsMax);
}

async function sourceOf(
  store: Pick<Store, "content">,
  moment: Moment,
  { source }: ApprovalNow,
): Promise<ApprovalRow["source"]> {
  const block = source === null ? null : blockOf(moment, source.block);
  if (source === null || block === null) return null;
  const stored = await store.content(block.content);
  const words = stored.ok ? storedWords(stored.value, block.kind) : null;
  return words === null
    ? null
    : { block: block.id, kind: block.kind, text: words.slice(source.start, source.start + source.length) };
}

/** What a rewrite for it alone would come to, while nobody has decided. */
function cutOf(moment: Moment, { stand, command, blocks, view: viewId }: ApprovalNow): CutRow | null {
  const parsed = stand === "waiting" ? parseCommand(command) : null;
  const view = viewOf(moment, viewId);
  if (!parsed?.ok || view === null) return null;
  const { value } = parsed;
  const form: Shown | null =
    value.verb === "archive" ? "placeholder" : value.verb === "compress" ? value.level : null;
  if (form === null) return null;
  const freed = blocks.reduce((sum, id) => {
    const place = placeOf(moment, view, blockId(id));
    if (place === null) return sum;
    const before = tokensAs(moment, id, wantedOf(place)) ?? tokensAs(moment, id, "original") ?? 0;
    return sum + Math.max(0, before - (tokensAs(moment, id, form) ?? before));
  }, 0);
  return cutAt(moment, view, { blocks, freed });
}
