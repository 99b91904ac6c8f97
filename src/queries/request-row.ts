import type { Exchange, RecordedExchange } from "../engine/frames/index.ts";
import { exchangesOf, type Moment } from "../engine/moment/index.ts";
import type { AttemptRow, RequestRow, RewriteRow } from "./answers/request-answers.ts";
import { rewriteRows } from "./rewrite-rows.ts";

/** Lookups over all exchanges that the row of a single exchange needs. */
export type ExchangeIndex = {
  readonly list: readonly RecordedExchange[];
  /** Exchanges whose answer a later request started anew from. */
  readonly compacted: ReadonlySet<number>;
  readonly turns: ReadonlyMap<number, number>;
  readonly rewrites: ReadonlyMap<number, RewriteRow>;
};

export function indexExchanges(moment: Moment): ExchangeIndex {
  const list = exchangesOf(moment);
  const compacted = list.flatMap(({ relation, of }) => (relation === "compacted" && of !== null ? [of] : []));
  return { list, compacted: new Set(compacted), turns: turnsOf(moment), rewrites: rewriteRows(moment) };
}

function turnsOf(moment: Moment): ReadonlyMap<number, number> {
  const turns = new Map<number, number>();
  for (const [, view] of moment.state.views.entries()) {
    for (const [, { exchange, turn, seq }] of view.sent.entries()) {
      if (seq <= moment.seq) turns.set(exchange, turn);
    }
  }
  return turns;
}

export function requestRow(
  { exchange, time }: { readonly exchange: RecordedExchange; readonly time: number | null },
  index: ExchangeIndex,
): RequestRow {
  const { id, request, relation, of, stream, model, target, bytes, rendering, openedSeq, end } = exchange;
  return {
    id,
    request,
    role: roleOf(exchange, index),
    relation,
    of,
    stream,
    turn: index.turns.get(id) ?? null,
    model,
    target,
    rendering,
    rewrite: index.rewrites.get(id) ?? null,
    outcome: end?.outcome ?? "open",
    status: end?.status ?? null,
    usage: end?.usage ?? null,
    bytesUp: bytes,
    bytesDown: end?.bytes ?? null,
    firstByteMs: end?.firstByteMs ?? null,
    totalMs: end?.totalMs ?? null,
    addedMs: addedMs(exchange),
    stop: end?.stop ?? null,
    problem: end?.problem ?? null,
    time,
    openedSeq,
  };
}

/** Milliseconds that planning the request added; null if not measured. */
export function addedMs({ end }: RecordedExchange): number | null {
  return end?.addedMicros === undefined ? null : end.addedMicros / 1_000;
}

/** A compaction looks like any turn until the client continues from its answer. */
function roleOf({ id, role }: RecordedExchange, { compacted }: ExchangeIndex): Exchange["role"] {
  return compacted.has(id) ? "compaction" : role;
}

/** All exchanges of the same request, retried or sent in parallel: they share the first exchange. */
export function attemptsOf(id: number, { list }: ExchangeIndex): readonly AttemptRow[] {
  const root = rootOf(id, list);
  return list
    .filter((exchange) => rootOf(exchange.id, list) === root)
    .map(({ id: attempt, relation, end }) => ({
      id: attempt,
      relation,
      outcome: end?.outcome ?? "open",
      status: end?.status ?? null,
    }));
}

function rootOf(id: number, list: readonly RecordedExchange[]): number {
  let root = id;
  for (let exchange = list[root - 1]; isRepeat(exchange); exchange = list[root - 1]) root = exchange.of;
  return root;
}

/** References only point to earlier exchanges, so following them ends. */
function isRepeat(exchange: RecordedExchange | undefined): exchange is RecordedExchange & { of: number } {
  const isSameRequest = exchange?.relation === "retry" || exchange?.relation === "twin";
  return isSameRequest && exchange?.of !== null;
}
