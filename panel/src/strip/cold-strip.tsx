import { isComplete } from "../api/context-state.ts";
import type { StateRow } from "../api/contract.ts";
import { pluralText, tokensText } from "../base/format.ts";
import { percent } from "./percent.ts";

const height = 12;
/** Drawn as one rectangle until all blocks are read. */
const unreadBlocks = { n: 0, tokens: 1 };

/** The blocks that are stored and not sent, on their own scale. */
export function ColdStrip({ state }: { readonly state: StateRow }) {
  const { cold, blocks } = state;
  if (cold.blocks === 0) return null;
  const rows = isComplete(state)
    ? blocks.filter(({ zone, counted }) => zone === "cold" && !counted)
    : [unreadBlocks];
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
        aria-label={`Zone cold: ${pluralText(cold.blocks, "block")}`}
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
        {pluralText(cold.blocks, "block")}, {tokensText(cold.tokens)}, not sent
      </span>
    </div>
  );
}
