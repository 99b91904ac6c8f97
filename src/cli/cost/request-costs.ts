import { pricesOf } from "../../config/index.ts";
import type { PricedRequest, PricedRequests } from "../../control/index.ts";
import { promptPrice } from "../../policy/index.ts";
import type { SessionRow, SessionsPage } from "../../queries/answers/index.ts";
import { apiPath, sessionPath } from "../api/api-path.ts";
import { findSession } from "../api/session-choice.ts";
import { type CliResult, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import type { ReadyCall } from "../verb-call.ts";
import type { RequestCost } from "./cost-rows.ts";
import type { TimeSpan } from "./days.ts";

const rowsPerRead = 1_000;
const sessionsPerRead = 200;

/** The cost of every request in this span, of all sessions or of the given one. */
export async function requestCosts(
  call: ReadyCall,
  span: TimeSpan,
): Promise<CliResult<readonly RequestCost[]>> {
  const sessions = await chosenSessionRows(call, span);
  if (!sessions.ok) return sessions;
  const progress = openProgress(call, { what: "sessions", total: sessions.value.length });
  const costs: RequestCost[] = [];
  for (const session of sessions.value) {
    const read = await costsInSession(call, session);
    if (!read.ok) {
      progress.end();
      return read;
    }
    costs.push(...read.value.filter(({ timeMs }) => timeMs >= span.fromMs && timeMs < span.toMs));
    progress.step();
  }
  progress.end();
  return succeed(costs);
}

/** A given session must be found: a sum over other sessions would mislead. */
async function chosenSessionRows(call: ReadyCall, span: TimeSpan): Promise<CliResult<readonly SessionRow[]>> {
  const wanted = call.flags.get("session");
  if (wanted === undefined) return await sessionRowsSince(call, span);
  const found = await findSession(call.api, wanted);
  return found.ok ? succeed([found.value.session]) : found;
}

/** Sessions come in order of last use, so the sessions that ended before the span need not be read. */
async function sessionRowsSince(
  { api }: ReadyCall,
  { fromMs }: TimeSpan,
): Promise<CliResult<readonly SessionRow[]>> {
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

async function costsInSession(
  call: ReadyCall,
  session: SessionRow,
): Promise<CliResult<readonly RequestCost[]>> {
  const costs: RequestCost[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const path = sessionPath(session.id, "/requests", { after, limit: rowsPerRead });
    const page = await call.api.json<PricedRequests>(path);
    if (!page.ok) return page;
    const { rows, next }: PricedRequests = page.value.value;
    costs.push(...rows.flatMap((row) => costOfRequest(row, session)));
    after = next;
  }
  return succeed(costs);
}

/** A request without usage got no answer, so no cost was reported for it. */
function costOfRequest(
  { usage, model, time }: PricedRequest,
  { id, name }: SessionRow,
): readonly RequestCost[] {
  if (usage === null || time === null) return [];
  const { input, cacheRead, cacheWrite, output } = usage;
  const tokens = { fresh: input, read: cacheRead, written: cacheWrite, output };
  const { usd } = promptPrice(tokens, pricesOf(model));
  const session = `${id.slice(0, 8)} ${name}`;
  return [{ input, cacheRead, cacheWrite, output, timeMs: time, session, model, usd }];
}
