import type { SegmentRow, StateRow } from "../../session/index.ts";
import type { Paint, Style } from "./paint.ts";

type Zone = SegmentRow["zone"];
/** What a piece of the strip is: a zone, or what no block accounts for. */
export type Piece = { readonly of: Zone | "other"; readonly tokens: number };

export const stripMarks: Readonly<Record<Piece["of"], string>> = {
  primacy: "P",
  middle: "M",
  recency: "R",
  cold: "C",
  other: "o",
};
export const stripStyles: Readonly<Record<Piece["of"], Style>> = {
  primacy: "blue",
  middle: "cyan",
  recency: "green",
  cold: "dim",
  other: "yellow",
};
const free = ".";

type Held = Pick<StateRow, "strip" | "otherTokens" | "window">;

/**
 * What the window holds, left to right. Estimates may add up to more than the provider counted; together they
 * then take the room that is really used.
 */
export function piecesOf({ strip, otherTokens, window }: Held): readonly Piece[] {
  const pieces: readonly Piece[] = [
    ...strip.map(({ zone, tokens }): Piece => ({ of: zone, tokens })),
    { of: "other", tokens: otherTokens },
  ];
  const sum = pieces.reduce((total, { tokens }) => total + tokens, 0);
  if (sum <= window.used) return pieces;
  return pieces.map(({ of, tokens }) => ({ of, tokens: (tokens / sum) * window.used }));
}

/**
 * One character per cell. The scale is the whole window, always: a strip grows with use and two strips of one
 * width can be compared. A cell shows what most of it holds; whatever is used shows at least once.
 */
export function stripCells(pieces: readonly Piece[], size: number, cells: number): string {
  const used = pieces.reduce((sum, { tokens }) => sum + tokens, 0);
  const scale = Math.max(size, used);
  if (scale <= 0) return free.repeat(cells);
  const perCell = scale / cells;
  return Array.from({ length: cells }, (_, at) => {
    const held = heldIn(pieces, { from: at * perCell, to: (at + 1) * perCell });
    const most = held.reduce((best, each) => (each.tokens > best.tokens ? each : best), nothing);
    const sum = held.reduce((total, { tokens }) => total + tokens, 0);
    return sum >= perCell / 2 || (at === 0 && sum > 0) ? stripMarks[most.of] : free;
  }).join("");
}

const nothing: Piece = { of: "other", tokens: 0 };

/** How many tokens of each kind lie between two places of the window. */
function heldIn(
  pieces: readonly Piece[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly Piece[] {
  const held = new Map<Piece["of"], number>();
  let start = 0;
  for (const { of, tokens } of pieces) {
    const shared = Math.min(to, start + tokens) - Math.max(from, start);
    if (shared > 0) held.set(of, (held.get(of) ?? 0) + shared);
    start += tokens;
  }
  return [...held].map(([of, tokens]) => ({ of, tokens }));
}

export function stripText(cells: string, paint: Paint): string {
  const runs = cells.match(/(.)\1*/g) ?? [];
  return `[${runs.map((run) => paint(styleOf(run[0] ?? ""), run)).join("")}]`;
}

function styleOf(mark: string): Style {
  const found = Object.entries(stripMarks).find(([, each]) => each === mark)?.[0];
  return found === undefined ? "dim" : stripStyles[found as Piece["of"]]; // the keys of the marks
}
