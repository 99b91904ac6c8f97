import { fail, limits, ok, type Result } from "../base/index.ts";
import type { Exchange, ExchangeEnd, RecordedExchange, SessionIdentity } from "./frames/exchange.ts";
import { now, streamOf } from "./moment/moment.ts";
import type { State } from "./state.ts";

export function applySessionIdentified(state: State, identity: SessionIdentity): Result<State> {
  if (state.identity !== null) return fail("AP_SESSION_IDENTIFIED", { session: state.session });
  return ok({ ...state, identity: { ...identity, seq: state.seq } });
}

export function applyExchangeOpened(state: State, exchange: Exchange): Result<State> {
  const refused = (problem: string) => fail("AP_EXCHANGE_INVALID", { exchange: exchange.id, problem });
  if (exchange.id !== state.exchanges.size + 1) return refused(`${state.exchanges.size + 1} is next`);
  if (exchange.id > limits.exchangesMax) return refused("there are too many");
  if (exchange.stream !== null && streamOf(now(state), exchange.stream) === null) {
    return fail("AP_STREAM_UNKNOWN", { stream: exchange.stream });
  }
  if (exchange.of !== null && (exchange.of < 1 || exchange.of >= exchange.id)) {
    return refused("it refers to one that was not there yet");
  }
  return ok({ ...state, exchanges: state.exchanges.push(recordedExchange(exchange, state.seq)) });
}

/** Field by field: spreading an exchange and adding to it takes a hundred times as long. */
function recordedExchange(exchange: Exchange, openedSeq: State["seq"]): RecordedExchange {
  const { id, request, stream, role, relation, of, model, target, bytes, rendering = "raw" } = exchange;
  return { id, request, stream, role, relation, of, model, target, bytes, rendering, openedSeq, end: null };
}

export function applyExchangeClosed(state: State, end: ExchangeEnd): Result<State> {
  const refused = (problem: string) => fail("AP_EXCHANGE_INVALID", { exchange: end.exchange, problem });
  const index = end.exchange - 1;
  const open = state.exchanges.get(index);
  if (open === undefined) return refused("it was never opened");
  if (open.end !== null) return refused("it has ended already");
  const exchanges = state.exchanges.with(index, { ...open, end: { ...end, seq: state.seq } });
  return ok({ ...state, exchanges });
}
