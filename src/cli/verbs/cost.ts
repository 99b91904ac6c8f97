import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { readDays } from "../cost/days.ts";
import { type CostRow, type Grouping, groupings, type Priced, summed } from "../cost/groups.ts";
import { spendsOf } from "../cost/spends.ts";
import { tokensText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { type Cell, tableWith } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";
import { withApi } from "../with-api.ts";

export async function cost(call: ReadyCall): Promise<number> {
  const by = groupingIn(call.operands[0] ?? "daily");
  if (!by.ok) return giveUp(call, by.problem);
  const days = readDays(
    { since: call.flags.get("since"), until: call.flags.get("until") },
    call.world.nowMs(),
  );
  if (!days.ok) return giveUp(call, days.problem);
  return await withApi(call, "cost", async (there) => {
    const spends = await spendsOf(there, days.value);
    if (!spends.ok) return giveUp(there, spends.problem);
    const rows = summed(spends.value, by.value);
    const total = summed(spends.value, "all")[0] ?? null;
    if (wantsJson(there)) return printJson(there, JSON.stringify(asData(there, by.value, { rows, total })));
    return show(there, by.value, { rows, total });
  });
}

function groupingIn(word: string): Outcome<Grouping> {
  const found = groupings.find((each) => each === word);
  if (found !== undefined) return succeed(found);
  return stop(exitCodes.usage, `"${printable(word, 40)}" is no way to sum up: use ${groupings.join(", ")}.`);
}

type Summary = { readonly rows: readonly CostRow[]; readonly total: CostRow | null };

function asData({ flags }: ReadyCall, by: Grouping, { rows, total }: Summary) {
  const without = ({ usd: _usd, unpriced: _unpriced, ...tokens }: CostRow) => tokens;
  const shown = (row: CostRow) => (flags.has("no-cost") ? without(row) : row);
  return { v: 1, by, rows: rows.map(shown), total: total === null ? null : shown(total) };
}

function show(call: ReadyCall, by: Grouping, { rows, total }: Summary): number {
  const { screen, flags } = call;
  if (total === null) {
    screen.err("Nothing was used in this time.");
    return exitCodes.ok;
  }
  const hasMoney = !flags.has("no-cost");
  const money = hasMoney ? ["cost"] : [];
  const headings = [
    by === "daily" ? "day" : by,
    "requests",
    "fresh in",
    "cached",
    "written",
    "out",
    ...money,
  ];
  const cells = [...rows, { ...total, name: "all" }].map((row) => costCells(row, hasMoney));
  const lines = tableWith(headings, cells, screen.paint);
  for (const line of isQuiet(call) ? lines.slice(1, -1) : lines) screen.out(line);
  if (hasMoney && total.unpriced > 0 && !isQuiet(call)) screen.err(unpricedText(total));
  return exitCodes.ok;
}

function costCells(row: CostRow, hasMoney: boolean): readonly Cell[] {
  const figures = [row.requests, row.input, row.cacheRead, row.cacheWrite, row.output];
  return [
    { text: printable(row.name, 40), style: row.name === "all" ? "bold" : "cyan" },
    ...figures.map((figure): Cell => ({ text: tokensText(figure), align: "right" })),
    ...(hasMoney ? [{ text: moneyText(row), align: "right" } as const] : []),
  ];
}

/** Where a price is not known, nothing is said rather than zero; a part of the sum is marked as one. */
function moneyText({ usd, unpriced }: Priced): string {
  if (usd === null) return "?";
  return `${unpriced > 0 ? "> " : ""}$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

function unpricedText({ unpriced }: CostRow): string {
  const many = unpriced === 1 ? "1 request is" : `${unpriced} requests are`;
  return `${many} of models without a known price; their tokens count, their cost does not.`;
}
