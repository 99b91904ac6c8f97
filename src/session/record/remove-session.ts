import { fail, type Result, type SessionId } from "../../base/index.ts";
import type { DropReport, Store } from "../../store/index.ts";
import type { Finder } from "./finder.ts";
import { hasOpenExchange, type Shelf } from "./shelf.ts";

export type RemovePlace = {
  readonly store: Store;
  readonly shelf: Shelf;
  readonly finder: Finder;
  /** Whether an answer to it is awaited. */
  readonly isBusy: (session: SessionId) => boolean;
};

/**
 * Erases a session and every memory of where it is. One that is awaited stays: what its answer brings would
 * have nowhere to go.
 */
export async function removeSession(
  { store, shelf, finder, isBusy }: RemovePlace,
  session: SessionId,
): Promise<Result<DropReport>> {
  const log = await shelf.log(session);
  if (isBusy(session) || (log.ok && hasOpenExchange(log.value))) return fail("AP_SESSION_BUSY", { session });
  await store.flush();
  shelf.forget(session);
  await finder.remove(session);
  return await store.drop(session);
}
