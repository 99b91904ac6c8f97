import { fail, isCount, ok, type Result, type SessionId } from "../../base/index.ts";
import { exchangeOf, exchangesOf, type Moment, now, type RecordedExchange } from "../../engine/index.ts";
import { commonPrefixLength, type Store } from "../../store/index.ts";
import { type Bodies, compareBodies, sentSide } from "../diff/compare-bodies.ts";
import { diffRows, type Rows } from "../diff/diff-rows.ts";
import type { DiffReason } from "../diff/reason.ts";
import type { DiffRow, RequestDiff } from "../diff/rows.ts";
import { guessedTokens } from "../diff/side-tokens.ts";
import { framesAt } from "./frames-at.ts";
import { plainAnswer } from "./plain-answer.ts";
import { addedMs } from "./request-row.ts";
import { bodyAnswer, type Opened } from "./requests.ts";

/** What to compare: what the client sent with what went upstream, or what went upstream before with that. */
export type DiffWish = { readonly exchange: number; readonly with: number | "previous" | null };

/** Made from the stored bodies when somebody asks; the reasons are those of the log. */
export async function requestDiff(opened: Opened, wish: DiffWish): Promise<Result<RequestDiff>> {
  const { state, store } = opened;
  const moment = now(state);
  const exchange = isCount(wish.exchange) ? exchangeOf(moment, wish.exchange) : null;
  if (exchange === null) return fail("AP_EXCHANGE_UNKNOWN", { exchange: wish.exchange });
  const other = otherExchange(moment, exchange, wish.with);
  if (!other.ok) return other;
  const after = await bodyAnswer(opened, { exchange: exchange.id, side: "upstream-request" });
  if (!after.ok) return after;
  const before = await beforeBody(opened, exchange, other.value);
  if (!before.ok) return before;
  const bodies = { before: before.value, after: after.value.bytes };
  const rate = await rateBefore(opened, exchange);
  const read = readDiff(moment, { exchange, other: other.value, ...bodies }, rate);
  const rows = await withWhy(store, state.session, read?.rows ?? []);
  const { usage = null } = exchange.end ?? {};
  const firstByte = commonPrefixLength(bodies.before, bodies.after);
  const identical = bodies.before.length === bodies.after.length && firstByte === bodies.after.length;
  return ok({
    session: state.session,
    seq: state.seq,
    exchange: exchange.id,
    with: other.value?.id ?? null,
    identical,
    bytes: { before: bodies.before.length, after: bodies.after.length },
    firstChange: identical ? null : { byte: firstByte, ...(read?.first ?? { row: null, block: null }) },
    tokens: { estimated: read?.estimated ?? 0, reported: promptOf(exchange) },
    cache: usage === null ? null : { read: usage.cacheRead, write: usage.cacheWrite },
    addedMs: addedMs(exchange),
    upstreamId: await upstreamId(opened, exchange.id),
    totals: read?.totals ?? noTotals,
    rows,
    left: read?.left ?? 0,
    isRead: read !== null,
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

/** Null: it is compared with what the client sent. The one before is the one its stream sent before. */
function otherExchange(
  moment: Moment,
  exchange: RecordedExchange,
  wanted: DiffWish["with"],
): Result<RecordedExchange | null> {
  if (wanted === null) return ok(null);
  if (wanted === "previous") {
    const before = previousOf(moment, exchange);
    return before === null ? fail("AP_QUERY_INVALID", { problem: noneBefore }) : ok(before);
  }
  const other = isCount(wanted) ? exchangeOf(moment, wanted) : null;
  return other === null ? fail("AP_EXCHANGE_UNKNOWN", { exchange: wanted }) : ok(other);
}

/** What its stream sent before it, the last that is meant; null: nothing. */
export function previousOf(
  moment: Moment,
  { id, stream }: RecordedExchange,
  isMeant: (exchange: RecordedExchange) => boolean = () => true,
): RecordedExchange | null {
  const isBefore = (other: RecordedExchange): boolean =>
    other.id < id && other.stream === stream && other.role === "turn";
  return exchangesOf(moment).findLast((other) => isBefore(other) && isMeant(other)) ?? null;
}

const noneBefore = "its stream has sent nothing before this request";

/** A round goes on with the request of a client that was sent before: its body is stored there. */
async function beforeBody(
  opened: Opened,
  exchange: RecordedExchange,
  other: RecordedExchange | null,
): Promise<Result<Uint8Array>> {
  const side = other === null ? "client-request" : "upstream-request";
  const body = await bodyAnswer(opened, { exchange: (other ?? exchange).id, side });
  if (body.ok) return ok(body.value.bytes);
  const { relation, of } = exchange;
  const root = relation === "round" && of !== null ? exchangeOf(now(opened.state), of) : null;
  return other === null && root !== null ? await beforeBody(opened, root, null) : body;
}

/** Null: they cannot be looked into, or would take too long. */
function readDiff(moment: Moment, bodies: Bodies, rate: number): Rows | null {
  const compared = compareBodies(moment, bodies);
  if (compared === null) return null;
  const { exchange, before, after } = bodies;
  const prompt = promptOf(exchange);
  const reported = prompt === null ? null : { prompt, cached: exchange.end?.usage?.cacheRead ?? 0 };
  const firstByte = commonPrefixLength(before, after);
  return diffRows({ ...compared, moment, reported, rate, firstByte });
}

/**
 * What the answer before it has taught about how its provider counts: an estimate is what could be said when
 * the request was sent, not what we would have guessed without ever having asked.
 */
async function rateBefore(opened: Opened, { id, stream, model }: RecordedExchange): Promise<number> {
  const moment = now(opened.state);
  const before = exchangesOf(moment).findLast(
    (one) => one.id < id && one.stream === stream && one.model === model && promptOf(one) !== null,
  );
  if (before === undefined) return 1;
  const body = await bodyAnswer(opened, { exchange: before.id, side: "upstream-request" });
  const side = body.ok ? sentSide(moment, before, body.value.bytes) : null;
  const guessed = side === null ? 0 : guessedTokens(side, moment);
  return guessed === 0 ? 1 : (promptOf(before) ?? guessed) / guessed;
}

function promptOf({ end }: RecordedExchange): number | null {
  const usage = end?.usage ?? null;
  return usage === null ? null : usage.input + usage.cacheRead + usage.cacheWrite;
}

/** What the frames behind reasons say. A disk that cannot be read takes that away, not the rows. */
async function withWhy(
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
  const why = (reason: DiffReason): DiffReason => {
    const said = reason.seq === null ? "" : (frames.value.get(reason.seq)?.cause.reason ?? "");
    return said === "" ? reason : { ...reason, why: said };
  };
  return rows.map((row) => (row.type === "same" ? row : { ...row, reasons: row.reasons.map(why) }));
}

const idBytes = 8 * 1024;
const idPattern = /"(?:id|request_id)"\s*:\s*"([\w-]{4,120})"/;

/** The id stands at the beginning of an answer. */
async function upstreamId(opened: Opened, exchange: number): Promise<string | null> {
  const answer = await bodyAnswer(opened, { exchange, side: "upstream-response" });
  const plain = answer.ok ? plainAnswer(answer.value.bytes) : null;
  if (plain === null) return null;
  return idPattern.exec(Buffer.from(plain.body.subarray(0, idBytes)).toString("latin1"))?.[1] ?? null;
}
