import { percentText, tokensText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import type { TableCell } from "../format/table.ts";
import type { CostGroupBy, CostRow, CostSum } from "./cost-rows.ts";

export function costHeadings(by: CostGroupBy, hasMoney: boolean): readonly string[] {
  const money = hasMoney ? ["cost"] : [];
  const first = by === "daily" ? "day" : by;
  return [first, "requests", "fresh in", "cached", "written", "hit", "out", ...money];
}

export function costCells(row: CostRow, hasMoney: boolean): readonly TableCell[] {
  const input = [row.requests, row.input, row.cacheRead, row.cacheWrite].map(tokensText);
  const money = hasMoney ? [moneyText(row)] : [];
  const figures = [...input, hitText(row), tokensText(row.output), ...money];
  return [
    { text: printable(row.name, 40), style: row.name === "all" ? "bold" : "cyan" },
    ...figures.map((text): TableCell => ({ text, align: "right" })),
  ];
}

/** The share of the input that came from the provider's cache. */
function hitText({ input, cacheRead, cacheWrite }: CostRow): string {
  return percentText({ part: cacheRead, whole: input + cacheRead + cacheWrite });
}

/** An unknown price shows as `?`, never as zero. A sum without some of its requests starts with `>`. */
function moneyText({ usd, unpriced }: CostSum): string {
  if (usd === null) return "?";
  return `${unpriced > 0 ? "> " : ""}$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
