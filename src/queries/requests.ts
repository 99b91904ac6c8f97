import { fail, isCount, limits, ok, type Result, type SessionId } from "../base/index.ts";
import type { RecordedExchange } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { exchangeOf, now } from "../engine/moment/index.ts";
import { framesAt } from "../log/index.ts";
import type { BodyRow, ExchangeSide, Store } from "../store/index.ts";
import type { BodyAnswer, RequestDetail, RequestsPage } from "./answers/request-answers.ts";
import { attemptsOf, indexExchanges, requestRow } from "./request-row.ts";

/** A session's state and the store it came from. */
export type StoredState = { readonly state: State; readonly store: Store };
export type PageSpan = { readonly after: number; readonly limit: number };

export async function requestsPage(
  { state, store }: StoredState,
  span: PageSpan,
): Promise<Result<RequestsPage>> {
  const index = indexExchanges(now(state));
  const limit = Math.min(Math.max(span.limit, 1), limits.rowsPerAnswerMax);
  const start = Math.max(span.after, 0);
  const page = index.list.slice(start, start + limit);
  const times = await exchangeTimes(store, state.session, page);
  const rows = page.map((exchange) =>
    requestRow({ exchange, time: times.get(exchange.openedSeq) ?? null }, index),
  );
  const last = page.at(-1)?.id ?? null;
  const next = last !== null && last < index.list.length ? last : null;
  return ok({ session: state.session, seq: state.seq, total: index.list.length, rows, next });
}

/** If the disk cannot be read, rows have no times but are still returned. */
export async function exchangeTimes(
  store: Store,
  session: SessionId,
  exchanges: readonly RecordedExchange[],
): Promise<ReadonlyMap<number, number>> {
  const seqs = [...new Set(exchanges.map(({ openedSeq }) => openedSeq))];
  const frames = await framesAt(store, session, seqs);
  return new Map(frames.ok ? [...frames.value].map(([seq, { time }]) => [seq, time]) : []);
}

export async function requestDetail(
  { state, store }: StoredState,
  id: number,
): Promise<Result<RequestDetail>> {
  const exchange = findExchange(state, id);
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: id });
  const stored = await store.bodies(state.session);
  if (!stored.ok) return stored;
  const own = stored.value.filter((body) => body.exchange === id);
  const index = indexExchanges(now(state));
  const times = await exchangeTimes(store, state.session, [exchange]);
  const isSent = exchange.rendering === "raw" || own.some(({ side }) => side === "upstream-request");
  return ok({
    session: state.session,
    seq: state.seq,
    request: requestRow({ exchange, time: times.get(exchange.openedSeq) ?? null }, index),
    bodies: own.map(({ side, length, hash }) => ({ side, length, hash })),
    identical: {
      request: isSent && isSameBody(own, "client-request", "upstream-request"),
      response: isSameBody(own, "upstream-response", "client-response"),
    },
    attempts: attemptsOf(id, index),
  });
}

function findExchange(state: State, id: number): RecordedExchange | null {
  return isCount(id) ? exchangeOf(now(state), id) : null;
}

/** A body that was relayed unchanged is stored once, under the side it came from. */
const originalSide: Readonly<Partial<Record<ExchangeSide, ExchangeSide>>> = {
  "upstream-request": "client-request",
  "client-response": "upstream-response",
};

function isSameBody(bodies: readonly BodyRow[], from: ExchangeSide, to: ExchangeSide): boolean {
  const relayed = bodies.find(({ side }) => side === to);
  return relayed === undefined || relayed.hash === bodies.find(({ side }) => side === from)?.hash;
}

export type BodySelector = { readonly exchange: number; readonly side: ExchangeSide };

export async function bodyAnswer(
  { state, store }: StoredState,
  selector: BodySelector,
): Promise<Result<BodyAnswer>> {
  const { session, seq } = state;
  const exchange = findExchange(state, selector.exchange);
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: selector.exchange });
  const own = await store.body({ session, ...selector });
  if (own.ok) return ok({ session, seq, side: selector.side, bytes: own.value });
  const isRendered = selector.side === "upstream-request" && exchange.rendering !== "raw";
  const source = isRendered ? undefined : originalSide[selector.side];
  if (own.error.code !== "AP_BODY_UNKNOWN" || source === undefined) return own;
  const bytes = await store.body({ session, exchange: selector.exchange, side: source });
  return bytes.ok ? ok({ session, seq, side: source, bytes: bytes.value }) : bytes;
}
