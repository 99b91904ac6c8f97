import { exchangeOf, now, type State } from "../../engine/index.ts";
import { ingestRequest } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";
import type { StreamIndex } from "./stream-index.ts";

/** Reads what the client last said in each stream, where the ledger sent something else. */
export async function recallTalks(
  indexes: readonly StreamIndex[],
  stateNow: () => State,
  store: Pick<Store, "body">,
): Promise<void> {
  const { session } = stateNow();
  for (const index of indexes) {
    const exchange = index.last?.exchange ?? 0;
    if ((exchangeOf(now(stateNow()), exchange)?.rendering ?? "raw") === "raw") continue;
    const body = await store.body({ session, exchange, side: "client-request" });
    const request = body.ok ? ingestRequest(body.value, null) : null;
    if (request === null || index.last?.exchange !== exchange) continue;
    index.last = { ...index.last, talk: request.talk, request };
  }
}
