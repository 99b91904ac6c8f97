import { type Clock, fail, ok, type Result, type StepId, sessionIdFrom } from "../../src/base/index.ts";
import { type ChangeContext, nextStepId, type Proposal } from "../../src/engine/index.ts";
import { now } from "../../src/engine/moment/index.ts";
import { type ActDeps, executeRecordedCalls } from "../../src/execute/index.ts";
import type { Durability, ReverseVerb, SessionLog } from "../../src/log/index.ts";
import { SessionRecorder } from "../../src/recorder/index.ts";
import type { Store } from "../../src/store/index.ts";

/** Carries out what a user does in a log, as a recorder would, for tests that have none. */
export async function actOn(
  log: SessionLog,
  stream: string,
  propose: (change: ChangeContext) => Proposal,
): Promise<Result<Proposal & Durability>> {
  const state = log.state();
  const named = [...state.streams.entries()].find(([, { name }]) => name === stream)?.[0];
  const view = [...state.views.entries()].find(([, one]) => one.stream === named)?.[1];
  if (view === undefined) return fail("AP_STREAM_UNKNOWN", { stream });
  const proposal = propose({ moment: now(state), view, actor: "user" });
  if (proposal.deltas.length === 0) return ok({ ...proposal, durable: true });
  const cause = { type: "command", step: nextStepId(state), reason: "" } as const;
  const appended = log.append({ stream: view.stream, actor: "user", cause, deltas: proposal.deltas });
  if (!appended.ok) return appended;
  const durable = await appended.value.durable;
  return durable.ok ? ok({ ...proposal, durable: true }) : durable;
}

/** Takes a step back, or up again, as the user and as a recorder would. */
export async function reverseOn(
  log: SessionLog,
  verb: ReverseVerb,
  step: StepId,
): Promise<Result<Durability>> {
  const isDone = log.state().steps.get(step)?.log.value.done;
  if (isDone !== (verb === "undo")) return fail("AP_UNDO_NOTHING", { verb, step });
  const reversed = await log.reverseStep(step, "user");
  if (!reversed.ok) return reversed;
  const durable = await reversed.value.durable;
  return durable.ok ? ok({ durable: true }) : durable;
}

/** The deps of acts and queries over a recorder, as the engine's thread has them. */
export function actDepsOver(recorder: SessionRecorder, store: Store, window = 200_000): ActDeps {
  const windowOf = (): number => window;
  return {
    store,
    openLog: (session) => recorder.cache.log(session),
    windowOf,
    streamRecord: (lookup) => recorder.streamRecord(lookup),
    executeCalls: (batch) => executeRecordedCalls({ recorder, store, windowOf }, batch),
    publishWithheld: (state) => recorder.withheld.report(state),
    inSession: (session, work) => recorder.inSession(session, work),
    act: (session, stream, propose) => recorder.act(session, stream, propose),
    reverseStep: (session, verb, step) => recorder.reverseStep(session, verb, step),
  };
}

/** A recorder over what others have written, for acts that need one. Nobody else may write from then on. */
export function recorderOn(store: Store, clock: Clock): SessionRecorder {
  return new SessionRecorder({
    store,
    clock,
    newSession: () => sessionIdFrom(new Uint8Array(16)),
    onEvent: () => undefined,
    onWishes: () => undefined,
    windowOf: () => 200_000,
  });
}
