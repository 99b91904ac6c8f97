import { type ApertureError, fail, ok, type Result, type SessionId, type StepId } from "../base/index.ts";
import type { ReverseVerb, SessionLog } from "../log/index.ts";
import type { DropReport, Store } from "../store/index.ts";
import type { LiveSession } from "./live-session.ts";
import type { SessionCache } from "./session-cache.ts";
import type { SessionFinder } from "./session-finder.ts";
import type { WithheldReporter } from "./wishes/withheld-content.ts";

export type SessionUpkeepDeps = {
  readonly store: Store;
  readonly cache: SessionCache;
  readonly finder: SessionFinder;
  readonly withheld: WithheldReporter;
  /** True if an answer of the session is awaited. */
  readonly isBusy: (session: SessionId) => boolean;
};

/**
 * Closes requests that an earlier process left open, because they will never be answered. It checks one
 * session at a time, so that other work gets its turn in between.
 */
export async function recoverSessions({ store, cache, finder, withheld }: SessionUpkeepDeps): Promise<void> {
  await finder.load();
  const heads = await store.sessions();
  for (const { session } of heads.ok ? heads.value : []) {
    const log = await cache.log(session);
    if (log.ok && hasOpenExchange(log.value)) await cache.live(session);
    if (log.ok) await withheld.reportIfAny(log.value.state());
    await new Promise((resume) => setImmediate(resume));
  }
}

/**
 * Erases a session from the store, the cache and the finder. A session with an awaited answer is refused: the
 * answer could not be recorded.
 */
export async function removeSession(
  { store, cache, finder, isBusy }: SessionUpkeepDeps,
  session: SessionId,
): Promise<Result<DropReport>> {
  const log = await cache.log(session);
  if (isBusy(session) || (log.ok && hasOpenExchange(log.value))) return fail("AP_SESSION_BUSY", { session });
  await store.flush();
  cache.forget(session);
  await finder.remove(session);
  return await store.drop(session);
}

type ReverseDeps = {
  readonly log: SessionLog;
  readonly live: Pick<LiveSession, "noteFrame">;
  /** Called if the frame was accepted but could not be stored after all. */
  readonly onLost: (error: ApertureError) => void;
};

/** Undoes or redoes a step for the user. */
export async function reverseStep(
  { log, live, onLost }: ReverseDeps,
  verb: ReverseVerb,
  step: StepId,
): Promise<Result<object>> {
  const isDone = log.state().steps.get(step)?.log.value.done;
  if (isDone !== (verb === "undo")) return fail("AP_UNDO_NOTHING", { verb, step });
  const reversed = await log.reverseStep(step, "user");
  if (!reversed.ok) return reversed;
  const { frame, durable } = reversed.value;
  void durable.then((stored) => {
    if (!stored.ok) onLost(stored.error);
  });
  live.noteFrame(frame);
  return ok({});
}

/** Searches only the last exchanges: an open one was opened recently. */
function hasOpenExchange(log: SessionLog): boolean {
  const { exchanges } = log.state();
  for (let at = exchanges.size - 1; at >= Math.max(0, exchanges.size - 64); at -= 1) {
    if (exchanges.get(at)?.end === null) return true;
  }
  return false;
}
