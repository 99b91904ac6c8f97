import { type Clock, fail, ok, type Result, type StepId, sessionIdFrom } from "../../src/base/index.ts";
import { type Change, nextStep, now, type Proposal } from "../../src/engine/index.ts";
import { type Durable, type ReverseVerb, type SessionLog, SessionRecorder } from "../../src/session/index.ts";
import type { Store } from "../../src/store/index.ts";

/** Carries out what a user does in a log, as a recorder would, for tests that have none. */
export async function actOn(
  log: SessionLog,
  stream: string,
  propose: (change: Change) => Proposal,
): Promise<Result<Proposal & Durable>> {
  const state = log.state();
  const named = [...state.streams.entries()].find(([, { name }]) => name === stream)?.[0];
  const view = [...state.views.entries()].find(([, one]) => one.stream === named)?.[1];
  if (view === undefined) return fail("AP_STREAM_UNKNOWN", { stream });
  const proposal = propose({ moment: now(state), view, actor: "user" });
  if (proposal.deltas.length === 0) return ok({ ...proposal, durable: true });
  const cause = { type: "command", step: nextStep(state), reason: "" } as const;
  const appended = log.append({ stream: view.stream, actor: "user", cause, deltas: proposal.deltas });
  if (!appended.ok) return appended;
  const durable = await appended.value.durable;
  return durable.ok ? ok({ ...proposal, durable: true }) : durable;
}

/** Takes a step back, or up again, as the user and as a recorder would. */
export async function reverseOn(log: SessionLog, verb: ReverseVerb, step: StepId): Promise<Result<Durable>> {
  const isDone = log.state().steps.get(step)?.log.value.done;
  if (isDone !== (verb === "undo")) return fail("AP_UNDO_NOTHING", { verb, step });
  const reversed = await log.reverseStep(step, "user");
  if (!reversed.ok) return reversed;
  const durable = await reversed.value.durable;
  return durable.ok ? ok({ durable: true }) : durable;
}

/** A recorder over what others have written, for acts that need one. Nobody else may write from then on. */
export function recorderOn(store: Store, clock: Clock): SessionRecorder {
  return new SessionRecorder({
    store,
    clock,
    newSession: () => sessionIdFrom(new Uint8Array(16)),
    tell: () => undefined,
    brief: () => undefined,
    windowOf: () => 200_000,
  });
}
