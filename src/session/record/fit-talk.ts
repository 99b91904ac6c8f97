import { exchangeOf, now, type State } from "../../engine/index.ts";
import { wasAnswered } from "./exchange-end.ts";
import { fitOf, fitOfIds, fitWithoutReasoning } from "./fit.ts";
import type { StreamIndex } from "./stream-index.ts";

export type TalkFitting = {
  readonly talk: readonly string[];
  readonly index: StreamIndex;
  readonly isLoose: boolean;
};

/** How well a request goes on with a stream's last turn; null if it does not. */
export function fitOfTalk({ talk, index, isLoose }: TalkFitting, state: State): number | null {
  const { last } = index;
  if (last === null) return null;
  const exchange = exchangeOf(now(state), last.exchange);
  const knows = (key: string): boolean => index.knows(key);
  const fitting = { last: last.talk, isAnswered: wasAnswered(exchange), knows, isLoose };
  // What was sent lacks reasoning that was left out. Until the client's talk is recalled, all of it is.
  const isPartial = exchange?.rendering !== "raw" && last.request === null;
  const fit = isPartial ? fitWithoutReasoning({ ...fitting, talk }) : fitOf({ ...fitting, talk });
  return fit ?? (isLoose ? fitOfIds({ talk, knows }) : null);
}
