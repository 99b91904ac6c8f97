import type { Store } from "../../store/index.ts";
import type { Finder } from "./finder.ts";
import { hasOpenExchange, type Shelf } from "./shelf.ts";
import type { WithheldTeller } from "./withheld-teller.ts";

export type RecoverPlace = {
  readonly store: Store;
  readonly shelf: Shelf;
  readonly finder: Finder;
  readonly withheld: WithheldTeller;
};

/**
 * Requests that an earlier process left open are closed, so that nobody waits for them. Sessions are looked
 * at one by one, between other things.
 */
export async function recoverSessions({ store, shelf, finder, withheld }: RecoverPlace): Promise<void> {
  await finder.ready();
  const heads = await store.sessions();
  for (const { session } of heads.ok ? heads.value : []) {
    const log = await shelf.log(session);
    if (log.ok && hasOpenExchange(log.value)) await shelf.live(session);
    if (log.ok) await withheld.found(log.value.state());
    await new Promise((resume) => setImmediate(resume));
  }
}
