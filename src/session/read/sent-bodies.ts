import { fail, isCount, ok, type Result } from "../../base/index.ts";
import { exchangeOf, now, type RecordedExchange } from "../../engine/index.ts";
import { plainAnswer } from "./plain-answer.ts";
import { previousOf } from "./request-diff.ts";
import { bodyAnswer, type Opened, timesOf } from "./requests.ts";
import type { SentBodies, SentBody } from "./rows.ts";

/** What went upstream, and what was taken before it: enough for somebody to send both of them again. */
export async function sentBodies(opened: Opened, id: number): Promise<Result<SentBodies>> {
  const moment = now(opened.state);
  const exchange = isCount(id) ? exchangeOf(moment, id) : null;
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: id });
  const previous = previousOf(moment, exchange, wasTaken);
  const times = await timesOf(opened.store, opened.state.session, [
    exchange,
    ...(previous === null ? [] : [previous]),
  ]);
  const sent = await sentBody(opened, exchange, times);
  if (!sent.ok) return sent;
  // It only goes ahead of the one that was asked for: where it is gone, that one goes alone.
  const before = previous === null ? null : await sentBody(opened, previous, times);
  const { session, seq } = opened.state;
  return ok({ session, seq, sent: sent.value, before: before?.ok === true ? before.value : null });
}

/** Whether the upstream has read it: what is refused leaves nothing in a cache. */
function wasTaken({ end }: RecordedExchange): boolean {
  return end !== null && end.status !== null && end.status < 400;
}

async function sentBody(
  opened: Opened,
  { id, target, openedSeq }: RecordedExchange,
  times: ReadonlyMap<number, number>,
): Promise<Result<SentBody>> {
  const body = await bodyAnswer(opened, { exchange: id, side: "upstream-request" });
  if (!body.ok) {
    const problem = gone[body.error.code];
    return problem === undefined ? body : fail("AP_REPLAY_IMPOSSIBLE", { exchange: id, problem });
  }
  const { bytes } = body.value;
  // Some clients compress what they send; which way their headers said, and those are not kept.
  const plain = plainAnswer(bytes)?.body ?? bytes;
  return ok({ exchange: id, target, time: times.get(openedSeq) ?? null, bytes: plain });
}

const gone: Readonly<Record<string, string>> = {
  AP_BODY_UNKNOWN: "the bytes that went upstream were not kept",
  AP_CONTENT_PURGED: "some of the bytes that went upstream were purged",
};
