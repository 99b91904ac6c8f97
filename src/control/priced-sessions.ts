import { pricesOf } from "../config/index.ts";
import { type Money, promptPrice, requestsExpected, rewriteBill } from "../policy/index.ts";
import type { SessionDetail, SessionRow, SessionsPage } from "../queries/answers/index.ts";

/**
 * A session with its estimated cost so far. Writes for the longer cache lifetime count like other writes, and
 * no prompt counts as a long one.
 */
export type PricedSession = SessionRow & {
  readonly spend: Money;
  /** The extra cost of the next request if its prefix changes, for example when the mode is switched. */
  readonly anew: Money;
};
export type PricedSessions = Omit<SessionsPage, "rows"> & { readonly rows: readonly PricedSession[] };
export type PricedSessionDetail = Omit<SessionDetail, "session"> & { readonly session: PricedSession };

export function priceSessions(page: SessionsPage): PricedSessions {
  return { ...page, rows: page.rows.map(priceSession) };
}

export function priceSessionDetail(detail: SessionDetail): PricedSessionDetail {
  return { ...detail, session: priceSession(detail.session) };
}

function priceSession(row: SessionRow): PricedSession {
  const parts = row.usages.map(({ model, usage }) => {
    const { input: fresh, cacheRead: read, cacheWrite: written, output } = usage;
    const prices = { ...pricesOf(model), longPrompt: null };
    return promptPrice({ fresh, read, written, output }, prices);
  });
  return { ...row, spend: sumOf(parts), anew: rewritePrice(row) };
}

/** The cost while the cache is warm; with a cold cache everything is paid anew in any case. */
function rewritePrice({ model, cached }: SessionRow): Money {
  const cut = { kept: 0, behind: cached, removed: 0, isCold: false, requestsLeft: requestsExpected };
  return rewriteBill(cut, pricesOf(model)).costNow;
}

/** The sum is unknown if one price is: a partial sum would look complete. */
function sumOf(parts: readonly Money[]): Money {
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const usd = parts.reduce<number | null>(
    (sum, part) => (sum === null || part.usd === null ? null : sum + part.usd),
    0,
  );
  return { tokens, usd: parts.length === 0 ? null : usd };
}
