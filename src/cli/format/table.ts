import { type Paint, plain, type Style, tabbed } from "./paint.ts";
import { textWidth } from "./text-width.ts";

export type TableCell = { readonly text: string; readonly align?: "right"; readonly style?: Style };

/** Pads the cells of each column to one width. Colours are applied last, so that they take no width. */
export function alignRows(rows: readonly (readonly TableCell[])[], paint: Paint = plain): readonly string[] {
  if (paint === tabbed) return rows.map((row) => row.map(({ text }) => text.trim()).join("\t"));
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(0, ...rows.map((row) => textWidth(row[at]?.text ?? ""))),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => padCell(cell, { width: widths[at] ?? 0, isLast: at === row.length - 1 }, paint))
      .join("  ")
      .trimEnd(),
  );
}

type CellRoom = { readonly width: number; readonly isLast: boolean };

function padCell({ text, align, style }: TableCell, { width, isLast }: CellRoom, paint: Paint): string {
  const blank = " ".repeat(width - textWidth(text));
  const shown = style === undefined ? text : paint(style, text);
  if (align === "right") return blank + shown;
  return isLast ? shown : shown + blank;
}

/** Rows below headings. A heading is aligned like the first row's cell. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly TableCell[])[],
  paint: Paint,
): readonly string[] {
  const head = headings.map((text, at): TableCell => {
    const side = rows[0]?.[at]?.align;
    return side === undefined ? { text, style: "dim" } : { text, style: "dim", align: side };
  });
  return alignRows([head, ...rows], paint);
}
