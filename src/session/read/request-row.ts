import { type ExchangeRole, exchangesOf, type Moment, type RecordedExchange } from "../../engine/index.ts";
import type { RewriteRow } from "./act-rows.ts";
import { rewritesAt } from "./rewrites.ts";
import type { AttemptRow, RequestRow } from "./rows.ts";

/** What is known of all exchanges together, and needed for the row of one. */
export type Exchanges = {
  readonly list: readonly RecordedExchange[];
  /** Those a later request started anew from. */
  readonly compacted: ReadonlySet<number>;
  readonly turns: ReadonlyMap<number, number>;
  readonly rewrites: ReadonlyMap<number, RewriteRow>;
};

export function exchangesAt(moment: Moment): Exchanges {
  const list = exchangesOf(moment);
  const compacted = list.flatMap(({ relation, of }) => (relation === "compacted" && of !== null ? [of] : []));
  return { list, compacted: new Set(compacted), turns: turnsOf(moment), rewrites: rewritesAt(moment) };
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

export type Described = { readonly exchange: RecordedExchange; readonly time: number | null };

export function requestRow({ exchange, time }: Described, all: Exchanges): RequestRow {
  const { id, request, relation, of, stream, model, target, bytes, rendering, openedSeq, end } = exchange;
  return {
    id,
    request,
    role: roleOf(exchange, all),
    relation,
    of,
    stream,
    turn: all.turns.get(id) ?? null,
    model,
    target,
    rendering,
    rewrite: all.rewrites.get(id) ?? null,
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

/** What we took to say what is sent; null where nobody measured. */
export function addedMs({ end }: RecordedExchange): number | null {
  return end?.addedMicros === undefined ? null : end.addedMicros / 1_000;
}

/** A compaction looks like any turn until the client goes on from its answer. */
function roleOf({ id, role }: RecordedExchange, { compacted }: Exchanges): ExchangeRole {
  return compacted.has(id) ? "compaction" : role;
}

/** The same request sent again, or beside itself: they share the first of them. */
export function attemptsOf(id: number, { list }: Exchanges): readonly AttemptRow[] {
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
  for (let exchange = list[root - 1]; isAgain(exchange); exchange = list[root - 1]) root = exchange.of;
  return root;
}

/** References go back only, so following them ends. */
function isAgain(exchange: RecordedExchange | undefined): exchange is RecordedExchange & { of: number } {
  const isRepeat = exchange?.relation === "retry" || exchange?.relation === "twin";
  return isRepeat && exchange?.of !== null;
}
