import { columnsOf } from "./columns.ts";
import { type Paint, plain, type Style, tabbed } from "./paint.ts";

export type Cell = { readonly text: string; readonly align?: "right"; readonly style?: Style };

/** Lines whose cells stand below each other. Colours come last, so that they take no room. */
export function aligned(rows: readonly (readonly Cell[])[], paint: Paint = plain): readonly string[] {
  if (paint === tabbed) return rows.map((row) => row.map(({ text }) => text.trim()).join("\t"));
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(0, ...rows.map((row) => columnsOf(row[at]?.text ?? ""))),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => filled(cell, { width: widths[at] ?? 0, isLast: at === row.length - 1 }, paint))
      .join("  ")
      .trimEnd(),
  );
}

type Room = { readonly width: number; readonly isLast: boolean };

function filled({ text, align, style }: Cell, { width, isLast }: Room, paint: Paint): string {
  const blank = " ".repeat(width - columnsOf(text));
  const shown = style === undefined ? text : paint(style, text);
  if (align === "right") return blank + shown;
  return isLast ? shown : shown + blank;
}

/** A heading above the rows; the heading follows the side of the first row's cells. */
export function tableWith(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
): readonly string[] {
  const head = headings.map((text, at): Cell => {
    const side = rows[0]?.[at]?.align;
    return side === undefined ? { text, style: "dim" } : { text, style: "dim", align: side };
  });
  return aligned([head, ...rows], paint);
}
