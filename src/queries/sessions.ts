import { fail, isSessionId, limits, ok, type Result, type SessionId } from "../base/index.ts";
import type { State, Stream } from "../engine/index.ts";
import { type Moment, now } from "../engine/moment/index.ts";
import { framesAt, modelIn, nameKey, streamsOf, viewIn } from "../log/index.ts";
import { lastUsage, type WindowRow, windowRow } from "../recorder/index.ts";
import type { SessionHead } from "../store/index.ts";
import type { SessionDetail, SessionRow, SessionsPage, StreamDetail } from "./answers/session-answers.ts";
import { blockRows } from "./block-row.ts";
import { streamRow } from "./choose-stream.ts";
import { lastSession, type QueryDeps } from "./queries.ts";
import { cacheOf } from "./query-cache.ts";
import { sessionName, streamTitle } from "./session-name.ts";
import { sessionRow } from "./session-row.ts";
import { countedTokens } from "./state-row.ts";

/** A session and the time of its last frame; lists are sorted by it. */
type DatedSession = { readonly head: SessionHead; readonly time: number };

const timeReadsAtOnce = 32;

/** Foreign and unknown sessions get the same error, so that guessing reveals nothing. */
export async function openSessionState(deps: QueryDeps, session: string): Promise<Result<State>> {
  const unknown = fail("AP_SESSION_UNKNOWN", { session });
  const resolved = await resolveSession(deps, session);
  if (!resolved.ok) return resolved;
  if (!isSessionId(resolved.value)) return unknown;
  const log = await deps.openLog(resolved.value);
  if (!log.ok) return log;
  const state = log.value.state();
  return state.seq === 0 ? unknown : ok(state);
}

/** A session may be named by its id, by `last`, or by its client's name for it. */
async function resolveSession(deps: QueryDeps, session: string): Promise<Result<string | null>> {
  if (session === lastSession) return await newestSession(deps);
  return session.startsWith(nameKey("")) ? await sessionWithKey(deps, session) : ok(session);
}

/** Only a client of a running session uses its own name for it, so the session is among the last used. */
const namedSessionsMax = 50;

async function sessionWithKey(deps: QueryDeps, key: string): Promise<Result<SessionId | null>> {
  const dated = await datedSessions(deps);
  if (!dated.ok) return dated;
  for (const { head } of dated.value.slice(0, namedSessionsMax)) {
    const log = await deps.openLog(head.session);
    if (log.ok && log.value.state().identity?.key === key) return ok(head.session);
  }
  return ok(null);
}

/** Sessions without a conversation that are skipped to find the newest one. */
const quietSessionsMax = 20;

/** The newest session with a conversation: users do not mean a stray count or an unreadable request. */
async function newestSession(deps: QueryDeps): Promise<Result<SessionId | null>> {
  const dated = await datedSessions(deps);
  if (!dated.ok) return dated;
  for (const { head } of dated.value.slice(0, quietSessionsMax)) {
    const log = await deps.openLog(head.session);
    if (log.ok && log.value.state().streams.size > 0) return ok(head.session);
  }
  return ok(dated.value[0]?.head.session ?? null);
}

export async function sessionsPage(
  deps: QueryDeps,
  page: { readonly limit: number; readonly before?: string },
): Promise<Result<SessionsPage>> {
  const dated = await datedSessions(deps);
  if (!dated.ok) return dated;
  const cursor = page.before === undefined ? null : parseCursor(page.before);
  if (page.before !== undefined && cursor === null) {
    return fail("AP_QUERY_INVALID", { problem: "before must be the next of an earlier answer" });
  }
  const older = dated.value.filter((one) => cursor === null || compareCursors(cursor, cursorOf(one)) < 0);
  const limit = Math.min(Math.max(page.limit, 1), limits.rowsPerAnswerMax);
  const rows: SessionRow[] = [];
  const damaged: string[] = [];
  for (const { head } of older.slice(0, limit)) {
    const row = await sessionRowOf(deps, head);
    if (row.ok) rows.push(row.value);
    else damaged.push(head.session);
  }
  const last = older.length > limit ? older[limit - 1] : undefined;
  return ok({ rows, damaged, next: last === undefined ? null : `${last.time}-${last.head.session}` });
}

/** Opens a session only if it has changed since its row was cached. */
async function sessionRowOf(deps: QueryDeps, { session, seq }: SessionHead): Promise<Result<SessionRow>> {
  const cached = cacheOf(deps).rows.get(session, seq);
  if (cached !== null) return ok(cached);
  const state = await openSessionState(deps, session);
  return state.ok ? sessionRowNow(deps, state.value) : state;
}

/** The present row of a session, from the cache if its seq is the same. */
async function sessionRowNow(deps: QueryDeps, state: State): Promise<Result<SessionRow>> {
  const { rows } = cacheOf(deps);
  const cached = rows.get(state.session, state.seq);
  if (cached !== null) return ok(cached);
  const head = await deps.store.head(state.session);
  const seq = head.ok ? (head.value?.seq ?? 0) : 0;
  const dated = seq === 0 ? ok(null) : await frameTime(deps, state.session, seq);
  // If the disk cannot be read, only the time is missing: the rest of the row is in memory.
  const lastActivity = dated.ok ? dated.value : null;
  const name = await sessionName(deps.store, now(state));
  const row = sessionRow(now(state), { name, lastActivity }, deps);
  if (seq === state.seq && lastActivity !== null) rows.set(state.session, state.seq, row);
  return ok(row);
}

/** Newest first; sessions with the same time are sorted by id, so that pages never overlap. */
async function datedSessions(deps: QueryDeps): Promise<Result<readonly DatedSession[]>> {
  const heads = await deps.store.sessions();
  if (!heads.ok) return heads;
  const dated: DatedSession[] = [];
  for (let start = 0; start < heads.value.length; start += timeReadsAtOnce) {
    const batch = heads.value.slice(start, start + timeReadsAtOnce);
    const times = await Promise.all(batch.map(({ session, seq }) => frameTime(deps, session, seq)));
    for (const [index, time] of times.entries()) {
      const head = batch[index];
      // A session whose frame cannot be read is listed last and hides no other.
      if (head !== undefined) dated.push({ head, time: time.ok ? (time.value ?? 0) : 0 });
    }
  }
  return ok(dated.sort((one, other) => compareCursors(cursorOf(one), cursorOf(other))));
}

async function frameTime(deps: QueryDeps, session: SessionId, seq: number): Promise<Result<number | null>> {
  const { times } = cacheOf(deps);
  const cached = times.get(session, seq);
  if (cached !== null) return ok(cached);
  const frames = await framesAt(deps.store, session, [seq]);
  if (!frames.ok) return frames;
  const time = frames.value.get(seq)?.time ?? null;
  if (time !== null) times.set(session, seq, time);
  return ok(time);
}

type SessionCursor = { readonly time: number; readonly session: string };

function cursorOf({ head, time }: DatedSession): SessionCursor {
  return { time, session: head.session };
}

function compareCursors(one: SessionCursor, other: SessionCursor): number {
  if (one.time !== other.time) return other.time - one.time;
  return one.session < other.session ? -1 : one.session > other.session ? 1 : 0;
}

function parseCursor(text: string): SessionCursor | null {
  const [, time, session] = /^(\d{1,15})-(.+)$/.exec(text) ?? [];
  return time !== undefined && isSessionId(session) ? { time: Number(time), session } : null;
}

export async function sessionDetail(deps: QueryDeps, state: State): Promise<Result<SessionDetail>> {
  const row = await sessionRowNow(deps, state);
  if (!row.ok) return row;
  return ok({ seq: state.seq, session: row.value, streams: await streamDetails(deps, now(state)) });
}

/** The streams of a session, the main one and sub-agents, each with its title and window. */
async function streamDetails(
  deps: Pick<QueryDeps, "store" | "windowOf">,
  moment: Moment,
): Promise<readonly StreamDetail[]> {
  const details: StreamDetail[] = [];
  for (const stream of streamsOf(moment)) {
    const title = await streamTitle(deps.store, moment, stream);
    details.push({ ...streamRow(moment, stream), title, window: windowIn(deps, moment, stream) });
  }
  return details;
}

/** The same window as in the state of the stream. */
function windowIn({ windowOf }: Pick<QueryDeps, "windowOf">, moment: Moment, stream: Stream): WindowRow {
  const view = viewIn(moment, stream);
  return windowRow({
    usage: view === null ? null : lastUsage(moment, view),
    estimate: () => (view === null ? 0 : countedTokens(blockRows(moment, stream, view))),
    size: windowOf(modelIn(moment, stream)),
  });
}
