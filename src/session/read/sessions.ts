import { fail, isSessionId, limits, ok, type Result, type SessionId } from "../../base/index.ts";
import { now, type State } from "../../engine/index.ts";
import type { SessionHead } from "../../store/index.ts";
import { nameKey } from "../record/session-key.ts";
import { framesAt } from "./frames-at.ts";
import { memoryOf } from "./memory.ts";
import { type Library, lastSession } from "./questions.ts";
import type { SessionRow, SessionsPage } from "./rows.ts";
import { sessionName } from "./session-name.ts";
import { sessionRow } from "./session-row.ts";

/** A session and when it was last written to: the order of every list. */
type Dated = { readonly head: SessionHead; readonly time: number };

const readsTogether = 32;

/** Foreign and unknown look the same: whoever guesses learns nothing. */
export async function openState(library: Library, session: string): Promise<Result<State>> {
  const unknown = fail("AP_SESSION_UNKNOWN", { session });
  const named = await idNamed(library, session);
  if (!named.ok) return named;
  if (!isSessionId(named.value)) return unknown;
  const log = await library.open(named.value);
  if (!log.ok) return log;
  const state = log.value.state();
  return state.seq === 0 ? unknown : ok(state);
}

/** A session may be called by its id, as the one used last, or as its client calls it. */
async function idNamed(library: Library, session: string): Promise<Result<string | null>> {
  if (session === lastSession) return await newestSession(library);
  return session.startsWith(nameKey("")) ? await sessionWithKey(library, session) : ok(session);
}

/** Whoever asks so is the client of a session that goes on: it is among those used last. */
const namedSessionsMax = 50;

async function sessionWithKey(library: Library, key: string): Promise<Result<SessionId | null>> {
  const dated = await datedSessions(library);
  if (!dated.ok) return dated;
  for (const { head } of dated.value.slice(0, namedSessionsMax)) {
    const log = await library.open(head.session);
    if (log.ok && log.value.state().identity?.key === key) return ok(head.session);
  }
  return ok(null);
}

/** How far back one looks for a session in which somebody talked. */
const quietSessionsMax = 20;

/** The newest one with a talk in it: a stray count or a request nobody could read is not what people mean. */
async function newestSession(library: Library): Promise<Result<SessionId | null>> {
  const dated = await datedSessions(library);
  if (!dated.ok) return dated;
  for (const { head } of dated.value.slice(0, quietSessionsMax)) {
    const log = await library.open(head.session);
    if (log.ok && log.value.state().streams.size > 0) return ok(head.session);
  }
  return ok(dated.value[0]?.head.session ?? null);
}

export async function sessionsPage(
  library: Library,
  page: { readonly limit: number; readonly before?: string },
): Promise<Result<SessionsPage>> {
  const dated = await datedSessions(library);
  if (!dated.ok) return dated;
  const cursor = page.before === undefined ? null : parseCursor(page.before);
  if (page.before !== undefined && cursor === null) {
    return fail("AP_QUERY_INVALID", { problem: "before must be the next of an earlier answer" });
  }
  const older = dated.value.filter((one) => cursor === null || compare(cursor, keyOf(one)) < 0);
  const limit = Math.min(Math.max(page.limit, 1), limits.rowsPerAnswerMax);
  const rows: SessionRow[] = [];
  const damaged: string[] = [];
  for (const { head } of older.slice(0, limit)) {
    const row = await rowOf(library, head);
    if (row.ok) rows.push(row.value);
    else damaged.push(head.session);
  }
  const last = older.length > limit ? older[limit - 1] : undefined;
  return ok({ rows, damaged, next: last === undefined ? null : `${last.time}-${last.head.session}` });
}

/** A list of many opens only those that have changed since it was last made. */
async function rowOf(library: Library, { session, seq }: SessionHead): Promise<Result<SessionRow>> {
  const known = memoryOf(library).rows.get(session, seq);
  if (known !== null) return ok(known);
  const state = await openState(library, session);
  return state.ok ? rowAt(library, state.value) : state;
}

/** The row of a session as it is now. What was made for the same seq before is given again. */
export async function rowAt(library: Library, state: State): Promise<Result<SessionRow>> {
  const { rows } = memoryOf(library);
  const known = rows.get(state.session, state.seq);
  if (known !== null) return ok(known);
  const head = await library.store.head(state.session);
  const seq = head.ok ? (head.value?.seq ?? 0) : 0;
  const dated = seq === 0 ? ok(null) : await timeOf(library, state.session, seq);
  // A disk that cannot be read takes the time away, not the row: the rest of it is in memory.
  const lastActivity = dated.ok ? dated.value : null;
  const name = await sessionName(library.store, now(state));
  const row = sessionRow(now(state), { name, lastActivity }, library);
  if (seq === state.seq && lastActivity !== null) rows.set(state.session, state.seq, row);
  return ok(row);
}

/** Newest first; sessions of one moment by their id, so that pages never overlap. */
async function datedSessions(library: Library): Promise<Result<readonly Dated[]>> {
  const heads = await library.store.sessions();
  if (!heads.ok) return heads;
  const dated: Dated[] = [];
  for (let start = 0; start < heads.value.length; start += readsTogether) {
    const some = heads.value.slice(start, start + readsTogether);
    const times = await Promise.all(some.map(({ session, seq }) => timeOf(library, session, seq)));
    for (const [index, time] of times.entries()) {
      const head = some[index];
      // One frame that cannot be read puts its session last, and hides no other.
      if (head !== undefined) dated.push({ head, time: time.ok ? (time.value ?? 0) : 0 });
    }
  }
  return ok(dated.sort((one, other) => compare(keyOf(one), keyOf(other))));
}

async function timeOf(library: Library, session: SessionId, seq: number): Promise<Result<number | null>> {
  const { times } = memoryOf(library);
  const known = times.get(session, seq);
  if (known !== null) return ok(known);
  const frames = await framesAt(library.store, session, [seq]);
  if (!frames.ok) return frames;
  const time = frames.value.get(seq)?.time ?? null;
  if (time !== null) times.set(session, seq, time);
  return ok(time);
}

type Key = { readonly time: number; readonly session: string };

function keyOf({ head, time }: Dated): Key {
  return { time, session: head.session };
}

function compare(one: Key, other: Key): number {
  if (one.time !== other.time) return other.time - one.time;
  return one.session < other.session ? -1 : one.session > other.session ? 1 : 0;
}

function parseCursor(text: string): Key | null {
  const [, time, session] = /^(\d{1,15})-(.+)$/.exec(text) ?? [];
  return time !== undefined && isSessionId(session) ? { time: Number(time), session } : null;
}
