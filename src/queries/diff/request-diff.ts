import { fail, isCount, ok, type Result, type SessionId } from "../../base/index.ts";
import type { RecordedExchange } from "../../engine/frames/index.ts";
import { exchangeOf, exchangesOf, type Moment, now } from "../../engine/moment/index.ts";
import { framesAt } from "../../log/index.ts";
import { plainAnswer } from "../../recorder/index.ts";
import { commonPrefixLength, type Store } from "../../store/index.ts";
import type { DiffReason, DiffRow, RequestDiff } from "../answers/diff-answers.ts";
import type { DiffQuery } from "../queries.ts";
import { addedMs } from "../request-row.ts";
import { bodyAnswer, type StoredState } from "../requests.ts";
import { type BodyPair, compareBodies, sentSide } from "./compare-bodies.ts";
import { type DiffRowsResult, diffRows } from "./make-diff-rows.ts";
import { estimateSide } from "./side-tokens.ts";

export type DiffSelector = Pick<DiffQuery, "exchange" | "with">;

/** Compares stored bodies on demand; the reasons come from the log. */
export async function requestDiff(stored: StoredState, selector: DiffSelector): Promise<Result<RequestDiff>> {
  const { state, store } = stored;
  const moment = now(state);
  const exchange = isCount(selector.exchange) ? exchangeOf(moment, selector.exchange) : null;
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: selector.exchange });
  const base = baseExchange(moment, exchange, selector.with);
  if (!base.ok) return base;
  const after = await bodyAnswer(stored, { exchange: exchange.id, side: "upstream-request" });
  if (!after.ok) return after;
  const before = await beforeBody(stored, exchange, base.value);
  if (!before.ok) return before;
  const bodies = { before: before.value, after: after.value.bytes };
  const rate = await rateBefore(stored, exchange);
  const diff = makeDiff(moment, { exchange, base: base.value, ...bodies }, rate);
  const rows = await addFrameReasons(store, state.session, diff?.rows ?? []);
  const { usage = null } = exchange.end ?? {};
  const firstByte = commonPrefixLength(bodies.before, bodies.after);
  const identical = bodies.before.length === bodies.after.length && firstByte === bodies.after.length;
  return ok({
    session: state.session,
    seq: state.seq,
    exchange: exchange.id,
    with: base.value?.id ?? null,
    identical,
    bytes: { before: bodies.before.length, after: bodies.after.length },
    firstChange: identical ? null : { byte: firstByte, ...(diff?.first ?? { row: null, block: null }) },
    tokens: { estimated: diff?.estimated ?? 0, reported: promptTokens(exchange) },
    cache: usage === null ? null : { read: usage.cacheRead, write: usage.cacheWrite },
    addedMs: addedMs(exchange),
    upstreamId: await upstreamId(stored, exchange.id),
    totals: diff?.totals ?? noTotals,
    rows,
    left: diff?.left ?? 0,
    isRead: diff !== null,
  });
}

const noTotals: RequestDiff["totals"] = {
  same: 0,
  sameTokens: 0,
  changed: 0,
  inserted: 0,
  insertedTokens: 0,
  removed: 0,
  removedTokens: 0,
};

/** The exchange to compare with; null for the client's body. `previous` is the one its stream sent before. */
function baseExchange(
  moment: Moment,
  exchange: RecordedExchange,
  requested: DiffSelector["with"],
): Result<RecordedExchange | null> {
  if (requested === null) return ok(null);
  if (requested === "previous") {
    const before = previousExchange(moment, exchange);
    return before === null ? fail("AP_QUERY_INVALID", { problem: noneBefore }) : ok(before);
  }
  const base = isCount(requested) ? exchangeOf(moment, requested) : null;
  return base === null ? fail("AP_EXCHANGE_UNKNOWN", { exchange: requested }) : ok(base);
}

/** The last turn its stream sent before it that passes the filter; null if there is none. */
export function previousExchange(
  moment: Moment,
  { id, stream }: RecordedExchange,
  accepts: (exchange: RecordedExchange) => boolean = () => true,
): RecordedExchange | null {
  const isBefore = (other: RecordedExchange): boolean =>
    other.id < id && other.stream === stream && other.role === "turn";
  return exchangesOf(moment).findLast((other) => isBefore(other) && accepts(other)) ?? null;
}

const noneBefore = "its stream has sent nothing before this request";

/** A round continues an earlier client request, so the client's body is stored with that exchange. */
async function beforeBody(
  stored: StoredState,
  exchange: RecordedExchange,
  base: RecordedExchange | null,
): Promise<Result<Uint8Array>> {
  const side = base === null ? "client-request" : "upstream-request";
  const body = await bodyAnswer(stored, { exchange: (base ?? exchange).id, side });
  if (body.ok) return ok(body.value.bytes);
  const { relation, of } = exchange;
  const root = relation === "round" && of !== null ? exchangeOf(now(stored.state), of) : null;
  return base === null && root !== null ? await beforeBody(stored, root, null) : body;
}

/** Null if the bodies cannot be parsed or are too large. */
function makeDiff(moment: Moment, bodies: BodyPair, rate: number): DiffRowsResult | null {
  const comparison = compareBodies(moment, bodies);
  if (comparison === null) return null;
  const { exchange, before, after } = bodies;
  const prompt = promptTokens(exchange);
  const reported = prompt === null ? null : { prompt, cached: exchange.end?.usage?.cacheRead ?? 0 };
  const firstByte = commonPrefixLength(before, after);
  return diffRows({ ...comparison, moment, reported, rate, firstByte });
}

/**
 * The provider's tokens per estimated token, learned from the answer before it. The estimate should be the
 * one that was possible when the request was sent.
 */
async function rateBefore(stored: StoredState, { id, stream, model }: RecordedExchange): Promise<number> {
  const moment = now(stored.state);
  const before = exchangesOf(moment).findLast(
    (other) =>
      other.id < id && other.stream === stream && other.model === model && promptTokens(other) !== null,
  );
  if (before === undefined) return 1;
  const body = await bodyAnswer(stored, { exchange: before.id, side: "upstream-request" });
  const side = body.ok ? sentSide(moment, before, body.value.bytes) : null;
  const estimated = side === null ? 0 : estimateSide(side, moment);
  return estimated === 0 ? 1 : (promptTokens(before) ?? estimated) / estimated;
}

function promptTokens({ end }: RecordedExchange): number | null {
  const usage = end?.usage ?? null;
  return usage === null ? null : usage.input + usage.cacheRead + usage.cacheWrite;
}

/** Adds the reasons that frames give. If the disk cannot be read, rows are returned without them. */
async function addFrameReasons(
  store: Store,
  session: SessionId,
  rows: readonly DiffRow[],
): Promise<readonly DiffRow[]> {
  const seqs = rows.flatMap((row) =>
    row.type === "same" ? [] : row.reasons.flatMap(({ seq }) => seq ?? []),
  );
  if (seqs.length === 0) return rows;
  const frames = await framesAt(store, session, [...new Set(seqs)]);
  if (!frames.ok) return rows;
  const withFrameReason = (reason: DiffReason): DiffReason => {
    const frameReason = reason.seq === null ? "" : (frames.value.get(reason.seq)?.cause.reason ?? "");
    return frameReason === "" ? reason : { ...reason, why: frameReason };
  };
  return rows.map((row) =>
    row.type === "same" ? row : { ...row, reasons: row.reasons.map(withFrameReason) },
  );
}

const idBytes = 8 * 1024;
const idPattern = /"(?:id|request_id)"\s*:\s*"([\w-]{4,120})"/;

/** The id stands at the beginning of an answer. */
async function upstreamId(stored: StoredState, exchange: number): Promise<string | null> {
  const answer = await bodyAnswer(stored, { exchange, side: "upstream-response" });
  const plain = answer.ok ? plainAnswer(answer.value.bytes) : null;
  if (plain === null) return null;
  return idPattern.exec(Buffer.from(plain.body.subarray(0, idBytes)).toString("latin1"))?.[1] ?? null;
}
