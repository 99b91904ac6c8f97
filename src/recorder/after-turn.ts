import { type BlockId, must, ok, type Result } from "../base/index.ts";
import type { Cause, Delta } from "../engine/frames/index.ts";
import { type ChangeContext, changes, nextStepId, ruleChanges, type State } from "../engine/index.ts";
import { attributesOf, now, streamOf, turnNow, viewBlocks } from "../engine/moment/index.ts";
import type { Store } from "../store/index.ts";
import type { AppendInput, RecordedStream } from "./recorded-stream.ts";
import type { RefusedSummary } from "./renditions.ts";
import { restatedMemories } from "./wishes/memories.ts";
import { isWantedLower } from "./wishes/wanted-levels.ts";

/** The part of a live session that this file writes to. */
export type StreamWriter = {
  readonly state: () => State;
  readonly append: (input: AppendInput) => Result<void>;
};

/** Applies policy after a turn of a stream. Each act is a step of its own, so that it can be undone. */
export function applyPolicy(
  { state, append }: StreamWriter,
  stream: RecordedStream,
  policy: "auto" | "off",
): Result<void> {
  const recorded = appendReferences({ state, append }, stream);
  if (!recorded.ok || policy === "off") return recorded;
  const current = must(streamOf(now(state()), stream.index.stream), "an index belongs to a stream");
  const acts = stream.policy.actsAfterTurn(
    () => policyChange(state(), stream),
    turnNow(now(state()), current),
  );
  for (const { deltas, reason } of acts) {
    if (deltas.length === 0) continue;
    const cause: Cause = { type: "policy", step: nextStepId(state()), reason };
    const appended = append({ deltas, cause, actor: "policy", stream });
    if (!appended.ok) return appended;
  }
  return ok(undefined);
}

/** Expires approvals that have waited too long for the user. */
export function expireStreamApprovals({ state, append }: StreamWriter, stream: RecordedStream): Result<void> {
  const deltas = ruleChanges.expireApprovals(policyChange(state(), stream));
  return appendNote(append, stream, { deltas, reason: "approvals", actor: "policy" });
}

/** Marks memories that the last answer repeats or contradicts, each as a step of its own. */
export async function markRestatedMemories(
  { state, append }: StreamWriter,
  stream: RecordedStream,
  { answer, store }: { readonly answer: string; readonly store: Pick<Store, "content"> },
): Promise<Result<void>> {
  const { actions } = stream;
  const change = policyChange(state(), stream);
  actions.hasMemories ??= [...viewBlocks(change.moment, change.view)].some(({ kind }) => kind === "memory");
  const marks = actions.hasMemories ? await restatedMemories(change, answer, store) : [];
  for (const { deltas, reason } of marks) {
    if (deltas.length === 0) continue;
    const appended = append({
      deltas,
      cause: { type: "policy", step: nextStepId(state()), reason },
      actor: "policy",
      stream,
    });
    if (!appended.ok) return appended;
  }
  return ok(undefined);
}

/** Records references. They are no act, so there is nothing to undo; manifests list blocks without any. */
function appendReferences({ state, append }: StreamWriter, stream: RecordedStream): Result<void> {
  const { deltas } = changes.reference(policyChange(state(), stream), stream.policy.takeReferences());
  return appendNote(append, stream, { deltas, reason: "references", actor: "policy" });
}

/** Makes the renditions of recent blocks, and records their sizes. */
export function makeRenditions(
  { state, append }: StreamWriter,
  stream: RecordedStream,
  model: string | null,
): Result<readonly RefusedSummary[]> {
  const current = must(streamOf(now(state()), stream.index.stream), "an index belongs to a stream");
  const view = must(state().views.get(stream.index.view), "an index belongs to a view");
  const awaited = stream.policy.blocksAwaitingMinimal();
  const isUrgent = (block: BlockId): boolean => awaited.has(block) || isWantedLower(state(), view, block);
  // The agents of a stream share its blocks, so another one may have rendered a block already.
  const isDone = (block: BlockId): boolean => {
    const { purged = false, renditions = {} } = attributesOf(now(state()), block) ?? {};
    return purged || Object.keys(renditions).length > 0;
  };
  const due = { turn: turnNow(now(state()), current), isUrgent, isDone };
  const { deltas, contents, refused } = stream.renditions.make(model, due);
  const note = { deltas, reason: "renditions", actor: "sidecar", attached: { contents } } as const;
  const appended = appendNote(append, stream, note);
  return appended.ok ? ok(refused) : appended;
}

/** Deltas without a step: they are not undone. */
type PolicyNote = Pick<AppendInput, "attached"> & {
  readonly deltas: readonly Delta[];
  readonly reason: string;
  readonly actor: "policy" | "sidecar";
};

function appendNote(
  append: StreamWriter["append"],
  stream: RecordedStream,
  { deltas, reason, actor, attached = {} }: PolicyNote,
): Result<void> {
  if (deltas.length === 0) return ok(undefined);
  return append({ deltas, cause: { type: "policy", step: null, reason }, actor, stream, attached });
}

function policyChange(state: State, { index }: RecordedStream): ChangeContext {
  const view = must(state.views.get(index.view), "an index belongs to a view");
  return { moment: now(state), view, actor: "policy" };
}
