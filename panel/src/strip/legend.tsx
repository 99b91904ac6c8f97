import { useEffect, useState } from "react";
import type { RouteAnswers, StateRow } from "../api/contract.ts";
import { useDeferredResource } from "../api/resource.ts";
import { leftText, percentText, pluralText, tokensText } from "../base/format.ts";
import { sessionPath } from "../context/actions.ts";

/** Explains the marks of the strip in words. */
export function Legend({ state }: { readonly state: StateRow }) {
  const { marks, pending } = state;
  const { cached, changedFrom, compactsAt, reserved, forecast } = marks;
  return (
    <ul className="legend" aria-label="Marks of the strip">
      {cached === null ? null : (
        <li>
          <i className="swatch cached" aria-hidden="true" />
          {cached.tokens === 0 ? (
            "nothing cached"
          ) : (
            <>
              cached prefix <b>{tokensText(cached.tokens)}</b> (
              {percentText({ part: cached.share, whole: 1 })} hit
              <CacheLeft state={state} />)
            </>
          )}
        </li>
      )}
      {changedFrom === null ? null : (
        <li>
          <i className="swatch changed" aria-hidden="true" />
          rewritten from <b>#{changedFrom.block}</b> on in request {changedFrom.exchange}
        </li>
      )}
      {pending.blocks === 0 ? null : (
        <li>
          <i className="swatch pending" aria-hidden="true" />
          {pluralText(pending.blocks, "block")} pending, {pending.tokens < 0 ? "adds" : "frees"}{" "}
          <b>~{tokensText(Math.abs(pending.tokens))}</b>
        </li>
      )}
      {forecast === null || forecast.growth === 0 ? null : (
        <li>
          <i className="swatch forecast" aria-hidden="true" />
          in 5 turns <b>~{tokensText(forecast.next.at(-1) ?? 0)}</b>
        </li>
      )}
      {compactsAt === null ? null : (
        <li>
          <i className="swatch compacts" aria-hidden="true" />
          client compacts at about <b>{tokensText(compactsAt)}</b>
        </li>
      )}
      {reserved === null ? null : (
        <li>
          <i className="swatch reserved" aria-hidden="true" />
          <b>{tokensText(reserved)}</b> reserved for the answer
        </li>
      )}
    </ul>
  );
}

/** The time until the provider's cache expires. Known only for the main stream, now. */
function CacheLeft({ state }: { readonly state: StateRow }) {
  const isNow = state.seq === state.head && state.stream === (state.streams[0]?.id ?? null);
  return isNow ? <CacheCountdown session={state.session} /> : null;
}

function CacheCountdown({ session }: { readonly session: string }) {
  const { data } = useDeferredResource<RouteAnswers["GlanceAnswer"]>(`${sessionPath(session)}/glance`);
  const endsMs = data?.cacheEndsMs ?? null;
  const now = useSeconds(endsMs);
  return endsMs === null ? null : `, ${leftText(endsMs - now)}`;
}

/** The current time, updated every second until `untilMs`. */
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
