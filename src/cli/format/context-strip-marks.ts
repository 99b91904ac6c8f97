import type { StateRow } from "../../queries/answers/index.ts";
import { countedText, percentText } from "./number-text.ts";
import type { TableCell } from "./table.ts";
import { clockText } from "./time-text.ts";
import { scaleOf } from "./window-text.ts";

/** A mark below the strip: its position and its meaning. */
type StripMark = {
  readonly sign: string;
  readonly name: string;
  readonly tokens: number | null;
  readonly text: string;
};

type PictureMarksInput = Pick<StateRow, "marks" | "blocks" | "window">;

function marksOf({ marks, blocks, window }: PictureMarksInput, leftMs: number | null): readonly StripMark[] {
  const { cached, changedFrom, compactsAt } = marks;
  const share = cached === null ? "" : percentText({ part: cached.share, whole: 1 });
  const changedAt = changedFrom === null ? null : tokensBefore(changedFrom.block, { blocks, window });
  return [
    ...(cached === null || cached.tokens === 0
      ? []
      : [{ sign: "|", name: "cached", tokens: cached.tokens, text: `${share} hit${leftText(leftMs)}` }]),
    ...(changedFrom === null
      ? []
      : [
          {
            sign: "^",
            name: "changed",
            tokens: changedAt,
            text: `from #${changedFrom.block} on, by request ${changedFrom.exchange}`,
          },
        ]),
    ...(compactsAt === null
      ? []
      : [{ sign: "/", name: "compacts", tokens: compactsAt, text: "the client compacts about here" }]),
  ];
}

function leftText(leftMs: number | null): string {
  if (leftMs === null) return "";
  return leftMs <= 0 ? ", expired" : `, ${clockText(Math.floor(leftMs / 1_000))} left`;
}

/** The tokens before a block, scaled to the real use. */
function tokensBefore(
  n: number,
  { blocks, window }: Pick<PictureMarksInput, "blocks" | "window">,
): number | null {
  const counted = blocks.filter((block) => block.counted);
  const at = counted.findIndex((block) => block.n === n);
  const sizes = counted.map(({ tokens }) => tokens ?? 0);
  const sum = (of: readonly number[]) => of.reduce((total, tokens) => total + tokens, 0);
  const scale = Math.min(1, window.used / Math.max(1, sum(sizes)));
  return at === -1 ? null : Math.round(sum(sizes.slice(0, at)) * scale);
}

/** The line below the strip with a sign under each position; empty if there are no marks. */
export function markLine(state: PictureMarksInput, cells: number): string {
  const line = Array.from({ length: cells }, () => " ");
  const scale = Math.max(scaleOf(state.window), state.window.used);
  for (const { sign, tokens } of marksOf(state, null)) {
    if (tokens === null || scale <= 0) continue;
    line[Math.min(cells - 1, Math.floor((tokens / scale) * cells))] = sign;
  }
  return ` ${line.join("")}`.trimEnd();
}

/** The meaning of the signs, as rows of the table. */
export function markRows(state: PictureMarksInput, leftMs: number | null): readonly (readonly TableCell[])[] {
  return marksOf(state, leftMs).map(({ sign, name, tokens, text }) => [
    { text: sign, style: "dim" },
    { text: name },
    { text: "" },
    { text: tokens === null ? "" : countedText(tokens, name === "cached"), align: "right" },
    { text, style: "dim" },
  ]);
}
