import { fail, isCount, limits, ok, type Result, type SessionId } from "../../base/index.ts";
import { exchangeOf, now, type RecordedExchange, type State } from "../../engine/index.ts";
import type { BodyRow, Side, Store } from "../../store/index.ts";
import { framesAt } from "./frames-at.ts";
import { attemptsOf, exchangesAt, requestRow } from "./request-row.ts";
import type { BodyAnswer, RequestDetail, RequestsPage } from "./rows.ts";

/** The state that was asked about and the store it came from. */
export type Opened = { readonly state: State; readonly store: Store };
export type Span = { readonly after: number; readonly limit: number };

export async function requestsPage({ state, store }: Opened, span: Span): Promise<Result<RequestsPage>> {
  const all = exchangesAt(now(state));
  const limit = Math.min(Math.max(span.limit, 1), limits.rowsPerAnswerMax);
  const start = Math.max(span.after, 0);
  const some = all.list.slice(start, start + limit);
  const times = await timesOf(store, state.session, some);
  const rows = some.map((exchange) =>
    requestRow({ exchange, time: times.get(exchange.openedSeq) ?? null }, all),
  );
  const last = some.at(-1)?.id ?? null;
  const next = last !== null && last < all.list.length ? last : null;
  return ok({ session: state.session, seq: state.seq, total: all.list.length, rows, next });
}

/** A disk that cannot be read takes the times away, not the rows. */
export async function timesOf(
  store: Store,
  session: SessionId,
  exchanges: readonly RecordedExchange[],
): Promise<ReadonlyMap<number, number>> {
  const seqs = [...new Set(exchanges.map(({ openedSeq }) => openedSeq))];
  const frames = await framesAt(store, session, seqs);
  return new Map(frames.ok ? [...frames.value].map(([seq, { time }]) => [seq, time]) : []);
}

export async function requestDetail({ state, store }: Opened, id: number): Promise<Result<RequestDetail>> {
  const exchange = known(state, id);
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: id });
  const stored = await store.bodies(state.session);
  if (!stored.ok) return stored;
  const own = stored.value.filter((body) => body.exchange === id);
  const all = exchangesAt(now(state));
  const times = await timesOf(store, state.session, [exchange]);
  const isSent = exchange.rendering === "raw" || own.some(({ side }) => side === "upstream-request");
  return ok({
    session: state.session,
    seq: state.seq,
    request: requestRow({ exchange, time: times.get(exchange.openedSeq) ?? null }, all),
    bodies: own.map(({ side, length, hash }) => ({ side, length, hash })),
    identical: {
      request: isSent && isSame(own, "client-request", "upstream-request"),
      response: isSame(own, "upstream-response", "client-response"),
    },
    attempts: attemptsOf(id, all),
  });
}

function known(state: State, id: number): RecordedExchange | null {
  return isCount(id) ? exchangeOf(now(state), id) : null;
}

/** What was passed on unchanged is stored once, under the side it came from. */
const cameFrom: Readonly<Partial<Record<Side, Side>>> = {
  "upstream-request": "client-request",
  "client-response": "upstream-response",
};

function isSame(bodies: readonly BodyRow[], from: Side, to: Side): boolean {
  const passedOn = bodies.find(({ side }) => side === to);
  return passedOn === undefined || passedOn.hash === bodies.find(({ side }) => side === from)?.hash;
}

export type BodyWish = { readonly exchange: number; readonly side: Side };

export async function bodyAnswer({ state, store }: Opened, wish: BodyWish): Promise<Result<BodyAnswer>> {
  const { session, seq } = state;
  const exchange = known(state, wish.exchange);
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: wish.exchange });
  const own = await store.body({ session, ...wish });
  if (own.ok) return ok({ session, seq, side: wish.side, bytes: own.value });
  const isOther = wish.side === "upstream-request" && exchange.rendering !== "raw";
  const source = isOther ? undefined : cameFrom[wish.side];
  if (own.error.code !== "AP_BODY_UNKNOWN" || source === undefined) return own;
  const bytes = await store.body({ session, exchange: wish.exchange, side: source });
  return bytes.ok ? ok({ session, seq, side: source, bytes: bytes.value }) : bytes;
}
