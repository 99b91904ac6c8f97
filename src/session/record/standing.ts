import { exchangeOf, now, type State } from "../../engine/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import { sharedTalk } from "./align.ts";
import type { AskedRequest, RecordedLine } from "./recorded-line.ts";
import { type Standing, standingOf } from "./relation.ts";
import { newTexts } from "./summaries.ts";

type Read = AskedRequest & { readonly request: WireRequest };

/** What a request is to its stream, by what the stream has said last. */
export function standingIn(
  state: State,
  { copy, belonging, request }: Read,
  line: RecordedLine | null,
): Standing {
  const last = line?.index.last ?? null;
  const lastExchange = last === null ? null : exchangeOf(now(state), last.exchange);
  const shared = last === null ? 0 : sharedTalk(request, last);
  const parted = last !== null && shared < last.talk.length;
  const summaryOf = parted ? (line?.summaries.repeatedIn(newTexts(request, last.talk)) ?? null) : null;
  const isCount = copy.target.includes("/count_tokens");
  const isTurn = copy.sent?.isTurn ?? null;
  const isRound = copy.sent?.isRound === true;
  const { client } = belonging;
  return standingOf({ client, isCount, request, last, shared, lastExchange, summaryOf, isTurn, isRound });
}
