import { type BlockId, must, ok, type Result } from "../../base/index.ts";
import {
  blocksOf,
  type Cause,
  type Change,
  type Delta,
  expireApprovals,
  nextStep,
  now,
  reference,
  type State,
  streamOf,
  turnNow,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import type { Appending, RecordedLine } from "./recorded-line.ts";
import type { RefusedSummary } from "./renditions.ts";
import { restatedMemories } from "./restated.ts";
import { isWantedLower } from "./wanted-blocks.ts";

/** A session's log, as far as keeping it in order needs it. */
export type Keeping = {
  readonly state: () => State;
  readonly append: (asked: Appending) => Result<void>;
};

/** What happens by itself after a turn of a stream: each act is a step of its own, and can be undone. */
export function settleLine(
  { state, append }: Keeping,
  line: RecordedLine,
  policy: "auto" | "off",
): Result<void> {
  const noted = noteReferences({ state, append }, line);
  if (!noted.ok || policy === "off") return noted;
  const stream = must(streamOf(now(state()), line.index.stream), "a line has a stream");
  const acts = line.policy.settle(() => policyChange(state(), line), turnNow(now(state()), stream));
  for (const { deltas, reason } of acts) {
    if (deltas.length === 0) continue;
    const cause: Cause = { type: "policy", step: nextStep(state()), reason };
    const settled = append({ deltas, cause, actor: "policy", line });
    if (!settled.ok) return settled;
  }
  return ok(undefined);
}

/** What has waited for the user for too long does not wait any more. */
export function expireLine({ state, append }: Keeping, line: RecordedLine): Result<void> {
  const deltas = expireApprovals(policyChange(state(), line));
  return appendNote(append, line, { deltas, reason: "approvals", actor: "policy" });
}

/** Memories that the last answer says again or otherwise are marked, each as a step of its own. */
export async function markRestated(
  { state, append }: Keeping,
  line: RecordedLine,
  { said, store }: { readonly said: string; readonly store: Pick<Store, "content"> },
): Promise<Result<void>> {
  const { doings } = line;
  const change = policyChange(state(), line);
  doings.hasMemories ??= [...blocksOf(change.moment, change.view)].some(({ kind }) => kind === "memory");
  const found = doings.hasMemories ? await restatedMemories(change, said, store) : [];
  for (const { deltas, reason } of found) {
    if (deltas.length === 0) continue;
    const marked = append({
      deltas,
      cause: { type: "policy", step: nextStep(state()), reason },
      actor: "policy",
      line,
    });
    if (!marked.ok) return marked;
  }
  return ok(undefined);
}

/** That a block was referred to is no act, and nothing to undo. Manifests tell what was not. */
function noteReferences({ state, append }: Keeping, line: RecordedLine): Result<void> {
  const { deltas } = reference(policyChange(state(), line), line.policy.referredTo());
  return appendNote(append, line, { deltas, reason: "references", actor: "policy" });
}

/** Makes the renditions of what was said lately, and writes down how large they are. */
export function renderLine(
  { state, append }: Keeping,
  line: RecordedLine,
  model: string | null,
): Result<readonly RefusedSummary[]> {
  const stream = must(streamOf(now(state()), line.index.stream), "a line has a stream");
  const view = must(state().views.get(line.index.view), "an index belongs to a view");
  const overtaken = line.policy.overtaken();
  const isHastened = (block: BlockId): boolean => overtaken.has(block) || isWantedLower(state(), view, block);
  const due = { turn: turnNow(now(state()), stream), isHastened };
  const { deltas, contents, refused } = line.renditions.make(model, due);
  const note = { deltas, reason: "renditions", actor: "sidecar", attached: { contents } } as const;
  const appended = appendNote(append, line, note);
  return appended.ok ? ok(refused) : appended;
}

type Note = Pick<Appending, "attached"> & {
  readonly deltas: readonly Delta[];
  readonly reason: string;
  readonly actor: "policy" | "sidecar";
};

function appendNote(
  append: Keeping["append"],
  line: RecordedLine,
  { deltas, reason, actor, attached = {} }: Note,
): Result<void> {
  if (deltas.length === 0) return ok(undefined);
  return append({ deltas, cause: { type: "policy", step: null, reason }, actor, line, attached });
}

function policyChange(state: State, { index }: RecordedLine): Change {
  const view = must(state.views.get(index.view), "an index belongs to a view");
  return { moment: now(state), view, actor: "policy" };
}
