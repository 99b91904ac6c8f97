import type { StateRow } from "../../session/index.ts";
import { countedText, percentText } from "./numbers.ts";
import type { Cell } from "./table.ts";
import { clockText } from "./times.ts";
import { scaleOf } from "./window.ts";

/** What a strip points at besides its blocks: where, and what there is to say about it. */
type Mark = {
  readonly sign: string;
  readonly name: string;
  readonly tokens: number | null;
  readonly says: string;
};

type Marked = Pick<StateRow, "marks" | "blocks" | "window">;

function marksOf({ marks, blocks, window }: Marked, leftMs: number | null): readonly Mark[] {
  const { cached, changedFrom, compactsAt } = marks;
  const share = cached === null ? "" : percentText({ part: cached.share, whole: 1 });
  const changedAt = changedFrom === null ? null : startOf(changedFrom.block, { blocks, window });
  return [
    ...(cached === null || cached.tokens === 0
      ? []
      : [{ sign: "|", name: "cached", tokens: cached.tokens, says: `${share} hit${leftText(leftMs)}` }]),
    ...(changedFrom === null
      ? []
      : [
          {
            sign: "^",
            name: "changed",
            tokens: changedAt,
            says: `from #${changedFrom.block} on, with request ${changedFrom.exchange}`,
          },
        ]),
    ...(compactsAt === null
      ? []
      : [{ sign: "/", name: "compacts", tokens: compactsAt, says: "the client, by itself, about here" }]),
  ];
}

function leftText(leftMs: number | null): string {
  if (leftMs === null) return "";
  return leftMs <= 0 ? ", cold by now" : `, ${clockText(Math.floor(leftMs / 1_000))} left`;
}

/** How much stands before a block, on the scale of what is really used. */
function startOf(n: number, { blocks, window }: Pick<Marked, "blocks" | "window">): number | null {
  const counted = blocks.filter((block) => block.counted);
  const at = counted.findIndex((block) => block.n === n);
  const sizes = counted.map(({ tokens }) => tokens ?? 0);
  const sum = (of: readonly number[]) => of.reduce((total, tokens) => total + tokens, 0);
  const scale = Math.min(1, window.used / Math.max(1, sum(sizes)));
  return at === -1 ? null : Math.round(sum(sizes.slice(0, at)) * scale);
}

/** A line below the strip, a sign under each place; empty: there is nothing to point at. */
export function markLine(state: Marked, cells: number): string {
  const line = Array.from({ length: cells }, () => " ");
  const scale = Math.max(scaleOf(state.window), state.window.used);
  for (const { sign, tokens } of marksOf(state, null)) {
    if (tokens === null || scale <= 0) continue;
    line[Math.min(cells - 1, Math.floor((tokens / scale) * cells))] = sign;
  }
  return ` ${line.join("")}`.trimEnd();
}

/** What the signs mean, as rows of the table below it. */
export function markRows(state: Marked, leftMs: number | null): readonly (readonly Cell[])[] {
  return marksOf(state, leftMs).map(({ sign, name, tokens, says }) => [
    { text: sign, style: "dim" },
    { text: name },
    { text: "" },
    { text: tokens === null ? "" : countedText(tokens, name === "cached"), align: "right" },
    { text: says, style: "dim" },
  ]);
}
