import { pricesOf } from "../../config/index.ts";
import type { PricedRequest, PricedRequests } from "../../control/index.ts";
import type { SessionsPage } from "../../queries/answers/index.ts";
import type { Api } from "../api/api-client.ts";
import { apiPath, sessionPath } from "../api/api-path.ts";
import { pluralText } from "../format/number-text.ts";
import { type Diagnosis, passed, warning } from "./diagnosis.ts";

const [sessionsMax, requestsMax] = [3, 100];
/** No provider caches less than this. */
const cachedTokensMin = 4_096;
/** One break may come from a pause or a new tool; more are a habit of the client. */
const foreignBreaksMax = 2;
const compactionsMax = 1;

/** Checks the last sessions for cache breaks, and for clients that compact managed sessions. */
export async function checkTraffic(api: Api): Promise<readonly Diagnosis[]> {
  const page = await api.json<SessionsPage>(apiPath("/sessions", { limit: sessionsMax }));
  if (!page.ok || page.value.value.rows.length === 0) return [];
  const sessions: (readonly PricedRequest[])[] = [];
  for (const { id, requests } of page.value.value.rows) {
    const after = Math.max(0, requests - requestsMax);
    const reply = await api.json<PricedRequests>(sessionPath(id, "/requests", { after, limit: requestsMax }));
    if (reply.ok) sessions.push(reply.value.value.rows);
  }
  return [cacheDiagnosis(sessions), ...compactionDiagnoses(sessions)];
}

export type CacheBreaks = { readonly turns: number; readonly ours: number; readonly foreign: number };

/**
 * Counts prompts that were cached a moment ago but not read from the cache: something before them changed.
 */
export function cacheBreaks(rows: readonly PricedRequest[]): CacheBreaks {
  const turns = rows.filter(({ role, usage, time }) => role === "turn" && usage !== null && time !== null);
  let [ours, foreign] = [0, 0];
  for (const [at, row] of turns.entries()) {
    const before = turns.slice(0, at).findLast(({ stream }) => stream === row.stream);
    if (before === undefined || !isBreak(before, row)) continue;
    if (row.rewrite === null) foreign += 1;
    else ours += 1;
  }
  return { turns: turns.length, ours, foreign };
}

function isBreak(before: PricedRequest, row: PricedRequest): boolean {
  const { usage: was, time: then, model } = before;
  const { usage: is, time: now } = row;
  if (was === null || is === null || then === null || now === null || model !== row.model) return false;
  const cached = was.cacheRead + was.cacheWrite;
  return (
    cached >= cachedTokensMin && now - then < pricesOf(model).cache.lifetimeMs && is.cacheRead < cached / 2
  );
}

function cacheDiagnosis(sessions: readonly (readonly PricedRequest[])[]): Diagnosis {
  const all = sessions.map(cacheBreaks);
  const sum = (of: (one: CacheBreaks) => number) => all.reduce((total, one) => total + of(one), 0);
  const [turns, ours, foreign] = [sum((one) => one.turns), sum((one) => one.ours), sum((one) => one.foreign)];
  const says = `${pluralText(turns, "request")}, ${pluralText(ours, "break")} caused by Aperture, ${foreign} by clients`;
  if (foreign <= foreignBreaksMax) return passed("cache", says);
  const fix = "export CLAUDE_CODE_ATTRIBUTION_HEADER=0 for claude; aperture requests lists the requests";
  return warning("cache", `${says}: the start of their prompts changes from turn to turn`, fix);
}

function compactionDiagnoses(sessions: readonly (readonly PricedRequest[])[]): readonly Diagnosis[] {
  const counts = sessions.map((rows) => {
    const isManaged = rows.some(({ rendering }) => rendering === "managed");
    return isManaged ? rows.filter(({ role }) => role === "compaction").length : 0;
  });
  const most = Math.max(0, ...counts);
  if (most <= compactionsMax) return [];
  const says = `a client compacted a managed session ${most} times; Aperture keeps what it dropped, but the work is done twice`;
  return [warning("compaction", says, "export DISABLE_AUTO_COMPACT=1 for claude")];
}
