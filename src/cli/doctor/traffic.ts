import { pricesOf } from "../../config/index.ts";
import type { PricedPage, PricedRow } from "../../control/index.ts";
import type { SessionsPage } from "../../session/index.ts";
import { apiPath, sessionPath } from "../api-path.ts";
import type { Api } from "../client.ts";
import { manyText } from "../format/numbers.ts";
import { type Finding, fine, warned } from "./finding.ts";

const [sessionsLookedAt, requestsLookedAt] = [3, 100];
/** Below this nothing is cached by any provider. */
const cachedTokensMin = 4_096;
/** Once may be a pause or a new tool; more is a habit of the client. */
const foreignBreaksMax = 2;
const compactionsMax = 1;

/** What the last sessions say of the cache, and of clients that compact what is managed. */
export async function checkTraffic(api: Api): Promise<readonly Finding[]> {
  const page = await api.json<SessionsPage>(apiPath("/sessions", { limit: sessionsLookedAt }));
  if (!page.ok || page.value.value.rows.length === 0) return [];
  const sessions: (readonly PricedRow[])[] = [];
  for (const { id, requests } of page.value.value.rows) {
    const after = Math.max(0, requests - requestsLookedAt);
    const reply = await api.json<PricedPage>(
      sessionPath(id, "/requests", { after, limit: requestsLookedAt }),
    );
    if (reply.ok) sessions.push(reply.value.value.rows);
  }
  return [cacheFinding(sessions), ...compactionFindings(sessions)];
}

export type CacheBreaks = { readonly turns: number; readonly ours: number; readonly foreign: number };

/** A prompt that was cached a moment ago and is not read from there: something before it has changed. */
export function cacheBreaks(rows: readonly PricedRow[]): CacheBreaks {
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

function isBreak(before: PricedRow, row: PricedRow): boolean {
  const { usage: was, time: then, model } = before;
  const { usage: is, time: now } = row;
  if (was === null || is === null || then === null || now === null || model !== row.model) return false;
  const cached = was.cacheRead + was.cacheWrite;
  return (
    cached >= cachedTokensMin && now - then < pricesOf(model).cache.lifetimeMs && is.cacheRead < cached / 2
  );
}

function cacheFinding(sessions: readonly (readonly PricedRow[])[]): Finding {
  const all = sessions.map(cacheBreaks);
  const sum = (of: (one: CacheBreaks) => number) => all.reduce((total, one) => total + of(one), 0);
  const [turns, ours, foreign] = [sum((one) => one.turns), sum((one) => one.ours), sum((one) => one.foreign)];
  const says = `${manyText(turns, "request")}, ${manyText(ours, "break")} caused by Aperture, ${foreign} by clients`;
  if (foreign <= foreignBreaksMax) return fine("cache", says);
  const fix = "export CLAUDE_CODE_ATTRIBUTION_HEADER=0 for claude; aperture requests shows which they were";
  return warned("cache", `${says}: what they send first changes from turn to turn`, fix);
}

function compactionFindings(sessions: readonly (readonly PricedRow[])[]): readonly Finding[] {
  const counts = sessions.map((rows) => {
    const isManaged = rows.some(({ rendering }) => rendering === "managed");
    return isManaged ? rows.filter(({ role }) => role === "compaction").length : 0;
  });
  const most = Math.max(0, ...counts);
  if (most <= compactionsMax) return [];
  const says = `a client compacted ${most} times in a session that is managed; what it dropped is kept, but it works twice`;
  return [warned("compaction", says, "export DISABLE_AUTO_COMPACT=1 for claude")];
}
