import { pricesOf } from "../../config/index.ts";
import type { PricedPage, PricedRow } from "../../control/index.ts";
import { promptPrice } from "../../render/index.ts";
import type { SessionRow, SessionsPage } from "../../session/index.ts";
import { apiPath, sessionPath } from "../api-path.ts";
import type { ReadyCall } from "../call.ts";
import { type Outcome, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import { findSession } from "../session-choice.ts";
import type { Span } from "./days.ts";
import type { Spend } from "./groups.ts";

const rowsPerRead = 1_000;
const sessionsPerRead = 200;

/** What every request in this time used, of all sessions or of the one that was named. */
export async function spendsOf(call: ReadyCall, span: Span): Promise<Outcome<readonly Spend[]>> {
  const sessions = await sessionsIn(call, span);
  if (!sessions.ok) return sessions;
  const progress = openProgress(call, { what: "sessions", total: sessions.value.length });
  const spends: Spend[] = [];
  for (const session of sessions.value) {
    const read = await spendsIn(call, session);
    if (!read.ok) {
      progress.end();
      return read;
    }
    spends.push(...read.value.filter(({ timeMs }) => timeMs >= span.fromMs && timeMs < span.toMs));
    progress.step();
  }
  progress.end();
  return succeed(spends);
}

/** A session that was named is that one or none: a sum over others would be believed. */
async function sessionsIn(call: ReadyCall, span: Span): Promise<Outcome<readonly SessionRow[]>> {
  const wanted = call.flags.get("session");
  if (wanted === undefined) return await sessionsSince(call, span);
  const found = await findSession(call.api, wanted);
  return found.ok ? succeed([found.value.session]) : found;
}

/** The last one used comes first: sessions that ended before the time asked for need not be read. */
async function sessionsSince({ api }: ReadyCall, { fromMs }: Span): Promise<Outcome<readonly SessionRow[]>> {
  const rows: SessionRow[] = [];
  let before: string | undefined;
  for (;;) {
    const path = apiPath("/sessions", { limit: sessionsPerRead, before });
    const page = await api.json<SessionsPage>(path);
    if (!page.ok) return page;
    const { rows: more, next } = page.value.value;
    rows.push(...more);
    const isOver = more.some(({ lastActivity }) => lastActivity !== null && lastActivity < fromMs);
    if (next === null || isOver) return succeed(rows);
    before = next;
  }
}

async function spendsIn(call: ReadyCall, session: SessionRow): Promise<Outcome<readonly Spend[]>> {
  const spends: Spend[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const path = sessionPath(session.id, "/requests", { after, limit: rowsPerRead });
    const page = await call.api.json<PricedPage>(path);
    if (!page.ok) return page;
    const { rows, next }: PricedPage = page.value.value;
    spends.push(...rows.flatMap((row) => spendOf(row, session)));
    after = next;
  }
  return succeed(spends);
}

/** A request without usage was not answered, so it cost nothing that anybody reported. */
function spendOf({ usage, model, time }: PricedRow, { id, name }: SessionRow): readonly Spend[] {
  if (usage === null || time === null) return [];
  const { input, cacheRead, cacheWrite, output } = usage;
  const spent = { fresh: input, read: cacheRead, written: cacheWrite, output };
  const { usd } = promptPrice(spent, pricesOf(model));
  const session = `${id.slice(0, 8)} ${name}`;
  return [{ input, cacheRead, cacheWrite, output, timeMs: time, session, model, usd }];
}
