import { pricesOf } from "../config/index.ts";
import { type Money, promptPrice, requestsExpected, rewriteBill } from "../render/index.ts";
import type { SessionDetail, SessionRow, SessionsPage } from "../session/index.ts";

/**
 * What a session has cost so far, as far as prices are known. An estimate: what was written for the longer
 * cache lifetime counts like the rest, and no prompt counts as a long one.
 */
export type PricedSession = SessionRow & {
  readonly spend: Money;
  /** More for the next request, once, if it begins otherwise than the last: as when a mode is switched. */
  readonly anew: Money;
};
export type PricedSessions = Omit<SessionsPage, "rows"> & { readonly rows: readonly PricedSession[] };
export type PricedSessionDetail = Omit<SessionDetail, "session"> & { readonly session: PricedSession };

export function pricedSessions(page: SessionsPage): PricedSessions {
  return { ...page, rows: page.rows.map(pricedSession) };
}

export function pricedSessionDetail(detail: SessionDetail): PricedSessionDetail {
  return { ...detail, session: pricedSession(detail.session) };
}

function pricedSession(row: SessionRow): PricedSession {
  const parts = row.usages.map(({ model, usage }) => {
    const { input: fresh, cacheRead: read, cacheWrite: written, output } = usage;
    const prices = { ...pricesOf(model), longPrompt: null };
    return promptPrice({ fresh, read, written, output }, prices);
  });
  return { ...row, spend: sumOf(parts), anew: anewPrice(row) };
}

/** While the cache is warm; once it is cold, all is read anew whatever is sent. */
function anewPrice({ model, cached }: SessionRow): Money {
  const cut = { kept: 0, behind: cached, removed: 0, isCold: false, requestsLeft: requestsExpected };
  return rewriteBill(cut, pricesOf(model)).costNow;
}

/** One price that is not known makes the sum unknown: half a sum would look like all of it. */
function sumOf(parts: readonly Money[]): Money {
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const usd = parts.reduce<number | null>(
    (sum, part) => (sum === null || part.usd === null ? null : sum + part.usd),
    0,
  );
  return { tokens, usd: parts.length === 0 ? null : usd };
}
