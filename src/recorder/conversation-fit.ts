import type { State } from "../engine/index.ts";
import { exchangeOf, now } from "../engine/moment/index.ts";
import { wasAnswered } from "./exchange-record.ts";
import type { StreamIndex } from "./stream-index.ts";
import { sharedKeys } from "./unit-alignment.ts";

export type ConversationFitInput = {
  /** Keys of the request, and of the last turn of the session. */
  readonly messageKeys: readonly string[];
  readonly last: readonly string[];
  /** True if that turn has a complete answer. */
  readonly isAnswered: boolean;
  /** True if the session has a block with this key. */
  readonly knows: (key: string) => boolean;
  /** Accepts a request that repeats only earlier answers: a client may write the last one another way. */
  readonly isLoose?: boolean;
};

/**
 * Scores how well a request continues a session, if the client names none; null if it does not. Two
 * conversations may start alike; the model's answers tell them apart. A request that repeats only the start
 * after a complete answer begins a new conversation: a client does not send an answered question again to
 * continue it.
 */
export function fitConversation({
  messageKeys,
  last,
  isAnswered,
  knows,
  isLoose = false,
}: ConversationFitInput): number | null {
  const shared = sharedKeys(messageKeys, last);
  if (shared === 0) return null;
  const repeated = messageKeys.slice(0, shared).some(isModelKey) ? shared : null;
  if (shared < last.length) return repeated;
  const next = messageKeys[shared];
  if (next === undefined) return isAnswered && !messageKeys.some(isModelKey) ? null : shared;
  // The next key must be the recorded answer. An answer that was never recorded may follow too.
  if (knows(next)) return shared + 1;
  return isModelKey(next) && !isAnswered ? shared : isLoose ? repeated : null;
}

/**
 * Counts the known ids that only a model creates. This works also if the client writes every answer another
 * way, or lacks what was hidden from it.
 */
export function fitByModelIds({
  messageKeys,
  knows,
}: Pick<ConversationFitInput, "messageKeys" | "knows">): number | null {
  const count = messageKeys.filter((key) => isModelId(key) && knows(key)).length;
  return count === 0 ? null : count;
}

/** Ignores reasoning, for a last turn whose reasoning on the client's side is unknown. */
export function fitWithoutReasoning(input: ConversationFitInput): number | null {
  const messageKeys = input.messageKeys.filter(isNotReasoning);
  const fit = fitConversation({ ...input, messageKeys, last: input.last.filter(isNotReasoning) });
  return fit === null ? null : fit + input.messageKeys.length - messageKeys.length;
}

function isNotReasoning(key: string): boolean {
  return !key.startsWith("sign:");
}

/** Keys of model output are made from its call ids, its signatures or its role. */
export function isModelKey(key: string): boolean {
  return /^(?:call|sign|assistant):/.test(key);
}

/** Call ids and signatures are unique to one answer. */
function isModelId(key: string): boolean {
  return /^(?:call|sign):/.test(key);
}

type LastTurnFitInput = {
  readonly messageKeys: readonly string[];
  readonly index: StreamIndex;
  readonly isLoose: boolean;
};

/** Scores how well a request continues the last turn of a stream; null if it does not. */
export function fitWithLastTurn(
  { messageKeys, index, isLoose }: LastTurnFitInput,
  state: State,
): number | null {
  const { last } = index;
  if (last === null) return null;
  const exchange = exchangeOf(now(state), last.exchange);
  const knows = (key: string): boolean => index.knows(key);
  const input = { last: last.messageKeys, isAnswered: wasAnswered(exchange), knows, isLoose };
  // The sent units lack dropped reasoning, so all reasoning is ignored until the client's request is
  // recalled.
  const isPartial = exchange?.rendering !== "raw" && last.request === null;
  const fit = isPartial
    ? fitWithoutReasoning({ ...input, messageKeys })
    : fitConversation({ ...input, messageKeys });
  return fit ?? (isLoose ? fitByModelIds({ messageKeys, knows }) : null);
}
