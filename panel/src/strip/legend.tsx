import type { StateRow } from "../api/contract.ts";
import { manyText, percentText, tokensText } from "../base/words.ts";
import { CacheLeft } from "./cache-left.tsx";

/** The marks of the strip in words: what cannot be seen can be read. */
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
          written anew from <b>#{changedFrom.block}</b> with request {changedFrom.exchange}
        </li>
      )}
      {pending.blocks === 0 ? null : (
        <li>
          <i className="swatch pending" aria-hidden="true" />
          {manyText(pending.blocks, "block")} pending, {pending.tokens < 0 ? "takes" : "frees"}{" "}
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
          client compacts about <b>{tokensText(compactsAt)}</b>
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
