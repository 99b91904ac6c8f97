import { exitCodes } from "../exit-codes.ts";
import { tableLines } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { withApi } from "../with-api.ts";
import { costCells, costHeadings } from "./cost-cells.ts";
import { type CostGroupBy, type CostRow, costGroupNames, sumCosts } from "./cost-rows.ts";
import { readDays } from "./days.ts";
import { requestCosts } from "./request-costs.ts";

export async function cost(call: ReadyCall): Promise<number> {
  const by = costGroupNames.find((name) => name === call.operands[0]) ?? "daily";
  const days = readDays(
    { since: call.flags.get("since"), until: call.flags.get("until") },
    call.system.nowMs(),
  );
  if (!days.ok) return reportProblem(call, days.problem);
  return await withApi(call, "cost", async (ready) => {
    const costs = await requestCosts(ready, days.value);
    if (!costs.ok) return reportProblem(ready, costs.problem);
    const rows = sumCosts(costs.value, by);
    const total = sumCosts(costs.value, "all")[0] ?? null;
    if (wantsJson(ready)) return printJson(ready, JSON.stringify(toJson(ready, by, { rows, total })));
    return printCosts(ready, by, { rows, total });
  });
}

type CostSummary = { readonly rows: readonly CostRow[]; readonly total: CostRow | null };

function toJson({ flags }: ReadyCall, by: CostGroupBy, { rows, total }: CostSummary) {
  const without = ({ usd: _usd, unpriced: _unpriced, ...tokens }: CostRow) => tokens;
  const shown = (row: CostRow) => (flags.has("no-cost") ? without(row) : row);
  return { v: 1, by, rows: rows.map(shown), total: total === null ? null : shown(total) };
}

function printCosts(call: ReadyCall, by: CostGroupBy, { rows, total }: CostSummary): number {
  const { screen, flags } = call;
  if (total === null) {
    screen.err("No usage was recorded in this time.");
    return exitCodes.ok;
  }
  const hasMoney = !flags.has("no-cost");
  const cells = [...rows, { ...total, name: "all" }].map((row) => costCells(row, hasMoney));
  const lines = tableLines(costHeadings(by, hasMoney), cells, screen.paint);
  for (const line of isQuiet(call) ? lines.slice(1, -1) : lines) screen.out(line);
  if (hasMoney && total.unpriced > 0 && !isQuiet(call)) screen.err(unpricedText(total));
  return exitCodes.ok;
}

function unpricedText({ unpriced }: CostRow): string {
  const many = unpriced === 1 ? "1 request went" : `${unpriced} requests went`;
  return `${many} to models without a known price: the sums include their tokens, not their cost.`;
}
