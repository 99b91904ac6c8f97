import { fail, isCount, ok, type Result } from "../../base/index.ts";
import type { RecordedExchange } from "../../engine/frames/index.ts";
import { exchangeOf, now } from "../../engine/moment/index.ts";
import { plainAnswer } from "../../recorder/index.ts";
import type { SentBodies, SentBody } from "../answers/request-answers.ts";
import { bodyAnswer, exchangeTimes, type StoredState } from "../requests.ts";
import { previousExchange } from "./request-diff.ts";

/** The body of a request and the last accepted one before it, so that both can be replayed. */
export async function sentBodies(stored: StoredState, id: number): Promise<Result<SentBodies>> {
  const moment = now(stored.state);
  const exchange = isCount(id) ? exchangeOf(moment, id) : null;
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: id });
  const previous = previousExchange(moment, exchange, wasAccepted);
  const times = await exchangeTimes(stored.store, stored.state.session, [
    exchange,
    ...(previous === null ? [] : [previous]),
  ]);
  const sent = await sentBody(stored, exchange, times);
  if (!sent.ok) return sent;
  // The earlier body only fills the cache. If it is gone, the request is replayed alone.
  const before = previous === null ? null : await sentBody(stored, previous, times);
  const { session, seq } = stored.state;
  return ok({ session, seq, sent: sent.value, before: before?.ok === true ? before.value : null });
}

/** A refused request leaves nothing in the provider's cache. */
function wasAccepted({ end }: RecordedExchange): boolean {
  return end !== null && end.status !== null && end.status < 400;
}

async function sentBody(
  stored: StoredState,
  { id, target, openedSeq }: RecordedExchange,
  times: ReadonlyMap<number, number>,
): Promise<Result<SentBody>> {
  const body = await bodyAnswer(stored, { exchange: id, side: "upstream-request" });
  if (!body.ok) {
    const problem = missingBodyReasons[body.error.code];
    return problem === undefined ? body : fail("AP_REPLAY_IMPOSSIBLE", { exchange: id, problem });
  }
  const { bytes } = body.value;
  // Some clients compress their bodies. The encoding is in the headers, which are not stored.
  const plain = plainAnswer(bytes)?.body ?? bytes;
  return ok({ exchange: id, target, time: times.get(openedSeq) ?? null, bytes: plain });
}

const missingBodyReasons: Readonly<Record<string, string>> = {
  AP_BODY_UNKNOWN: "the bytes that went upstream were not kept",
  AP_CONTENT_PURGED: "some of the bytes that went upstream were purged",
};
