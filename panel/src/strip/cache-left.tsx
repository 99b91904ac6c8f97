import { useEffect, useState } from "react";
import type { RouteAnswers, StateRow } from "../api/contract.ts";
import { useLater } from "../api/resource.ts";
import { leftText } from "../base/words.ts";
import { sessionPath } from "../context/acts.ts";

/** How long the provider keeps what it has cached, if nothing is sent: now, and of the main stream. */
export function CacheLeft({ state }: { readonly state: StateRow }) {
  const isNow = state.seq === state.head && state.stream === (state.streams[0]?.id ?? null);
  return isNow ? <Left session={state.session} /> : null;
}

function Left({ session }: { readonly session: string }) {
  const { data } = useLater<RouteAnswers["GlanceAnswer"]>(`${sessionPath(session)}/glance`);
  const endsMs = data?.cacheEndsMs ?? null;
  const now = useSeconds(endsMs);
  return endsMs === null ? null : `, ${leftText(endsMs - now)}`;
}

/** Ticks as long as there is something to wait for. */
function useSeconds(untilMs: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  const isOver = untilMs === null || now >= untilMs;
  useEffect(() => {
    setNow(Date.now());
    if (isOver) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOver]);
  return now;
}
