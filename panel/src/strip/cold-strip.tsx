import type { StateRow } from "../api/contract.ts";
import { isWhole } from "../api/state.ts";
import { manyText, tokensText } from "../base/words.ts";
import { percent } from "./percent.ts";

const height = 12;
/** As long as not all blocks were read: they are drawn as one. */
const whole = { n: 0, tokens: 1 };

/** What is kept and not sent, on a scale of its own. */
export function ColdStrip({ state }: { readonly state: StateRow }) {
  const { cold, blocks } = state;
  if (cold.blocks === 0) return null;
  const rows = isWhole(state) ? blocks.filter(({ zone, counted }) => zone === "cold" && !counted) : [whole];
  const total = Math.max(
    1,
    rows.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
  );
  let before = 0;
  return (
    <div className="cold">
      <span className="label">Cold</span>
      <svg
        className="cold-picture"
        width="100%"
        height={height}
        role="img"
        aria-label={`Cold store: ${cold.blocks} blocks`}
      >
        {rows.map(({ n, tokens }) => {
          const start = before / total;
          before += tokens ?? 0;
          return (
            <rect
              key={n}
              className="strip-block cold"
              x={percent(start)}
              width={percent((tokens ?? 0) / total)}
              height={height}
            />
          );
        })}
      </svg>
      <span>
        {manyText(cold.blocks, "block")}, {tokensText(cold.tokens)}, not sent
      </span>
    </div>
  );
}
