import type { SegmentRow, StateRow } from "../../queries/answers/index.ts";
import type { Paint, Style } from "./paint.ts";

type StripZone = SegmentRow["zone"];
/** A part of the strip: a zone, or tokens that no block accounts for. */
export type StripPiece = { readonly of: StripZone | "other"; readonly tokens: number };

export const stripLetters: Readonly<Record<StripPiece["of"], string>> = {
  primacy: "P",
  middle: "M",
  recency: "R",
  cold: "C",
  other: "o",
};
export const stripStyles: Readonly<Record<StripPiece["of"], Style>> = {
  primacy: "blue",
  middle: "cyan",
  recency: "green",
  cold: "dim",
  other: "yellow",
};
const free = ".";

type StripInput = Pick<StateRow, "strip" | "otherTokens" | "window">;

/**
 * The content of the window in order. If estimates add up to more than the provider counted, they are scaled
 * to the real use.
 */
export function stripPieces({ strip, otherTokens, window }: StripInput): readonly StripPiece[] {
  const pieces: readonly StripPiece[] = [
    ...strip.map(({ zone, tokens }): StripPiece => ({ of: zone, tokens })),
    { of: "other", tokens: otherTokens },
  ];
  const sum = pieces.reduce((total, { tokens }) => total + tokens, 0);
  if (sum <= window.used) return pieces;
  return pieces.map(({ of, tokens }) => ({ of, tokens: (tokens / sum) * window.used }));
}

/**
 * One character per cell. The scale is always the whole window, so that strips of one width can be compared.
 * A cell shows what most of it holds; a used window shows at least one filled cell.
 */
export function stripCells(pieces: readonly StripPiece[], size: number, cells: number): string {
  const used = pieces.reduce((sum, { tokens }) => sum + tokens, 0);
  const scale = Math.max(size, used);
  if (scale <= 0) return free.repeat(cells);
  const perCell = scale / cells;
  return Array.from({ length: cells }, (_, at) => {
    const inside = piecesBetween(pieces, { from: at * perCell, to: (at + 1) * perCell });
    const most = inside.reduce((best, each) => (each.tokens > best.tokens ? each : best), emptyPiece);
    const sum = inside.reduce((total, { tokens }) => total + tokens, 0);
    return sum >= perCell / 2 || (at === 0 && sum > 0) ? stripLetters[most.of] : free;
  }).join("");
}

const emptyPiece: StripPiece = { of: "other", tokens: 0 };

/** The tokens of each kind between two positions of the window. */
function piecesBetween(
  pieces: readonly StripPiece[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly StripPiece[] {
  const tokensOf = new Map<StripPiece["of"], number>();
  let start = 0;
  for (const { of, tokens } of pieces) {
    const shared = Math.min(to, start + tokens) - Math.max(from, start);
    if (shared > 0) tokensOf.set(of, (tokensOf.get(of) ?? 0) + shared);
    start += tokens;
  }
  return [...tokensOf].map(([of, tokens]) => ({ of, tokens }));
}

export function stripText(cells: string, paint: Paint): string {
  const runs = cells.match(/(.)\1*/g) ?? [];
  return `[${runs.map((run) => paint(styleOf(run[0] ?? ""), run)).join("")}]`;
}

function styleOf(mark: string): Style {
  const zone = Object.entries(stripLetters).find(([, each]) => each === mark)?.[0];
  return zone === undefined ? "dim" : stripStyles[zone as StripPiece["of"]]; // a key of stripLetters
}
