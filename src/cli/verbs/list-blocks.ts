import type { BlockRow, LabelsAnswer, StateRow } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { runOrWatch } from "../api/watch.ts";
import { matchesAll, readFilters } from "../block-filter.ts";
import { exitCodes } from "../exit-codes.ts";
import { formNames } from "../format/block-list.ts";
import { countedText, pluralText, tokensText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { type TableCell, tableLines } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const headings = ["#", "zone", "kind", "about", "tokens", "shown", "turns left", "used", ""];
const labelsPerRead = 200;
const orders = {
  request: null,
  tokens: (a: BlockRow, b: BlockRow) => (b.tokens ?? 0) - (a.tokens ?? 0),
  used: (a: BlockRow, b: BlockRow) => a.lastUsedTurn - b.lastUsedTurn,
} as const;
type BlockOrder = keyof typeof orders;

export async function blocks(call: ReadyCall): Promise<number> {
  return await runOrWatch(call, listOnce);
}

async function listOnce(call: ReadyCall): Promise<number> {
  const { api, flags } = call;
  const filters = readFilters(call.operands);
  if (!filters.ok) return reportProblem(call, filters.problem);
  const order = orders[(flags.get("sort") ?? "request") as BlockOrder]; // the parser accepts no other word
  const found = await findSession(api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const { id } = found.value.session;
  const query = { at: flags.get("at"), stream: flags.get("stream") };
  const reply = await api.json<StateRow>(sessionPath(id, "/state", query));
  if (!reply.ok) return reportProblem(call, reply.problem);
  const state = reply.value.value;
  const labels = await readLabels(call, id, state.blocks);
  const rows = state.blocks.filter((row) =>
    matchesAll({ row, label: labels.get(row.n) ?? "" }, filters.value),
  );
  const sorted = order === null ? rows : [...rows].sort(order);
  const shown = sorted.slice(0, Number(flags.get("limit") ?? sorted.length));
  if (wantsJson(call)) return printJson(call, JSON.stringify(toJson(state, shown)));
  return printBlocks(call, { state, shown, labels, matching: rows.length });
}

function toJson({ session, seq, head, stream, turn, window }: StateRow, blocks: readonly BlockRow[]) {
  return { v: 1, session, seq, head, stream, turn, window, blocks };
}

/** Labels come from the text of blocks, so they are read separately. */
async function readLabels(call: ReadyCall, session: string, rows: readonly BlockRow[]) {
  const labels = new Map<number, string>();
  for (let from = 0; from < rows.length; from += labelsPerRead) {
    const some = rows.slice(from, from + labelsPerRead).map(({ n }) => n);
    const path = sessionPath(session, "/labels", { blocks: some.join(",") });
    const reply = await call.api.json<LabelsAnswer>(path);
    if (!reply.ok) break;
    for (const { block, label } of reply.value.value.rows) if (label !== null) labels.set(block, label);
  }
  return labels;
}

type ListedBlocks = {
  readonly state: StateRow;
  readonly shown: readonly BlockRow[];
  readonly labels: ReadonlyMap<number, string>;
  readonly matching: number;
};

function printBlocks(call: ReadyCall, { state, shown, labels, matching }: ListedBlocks): number {
  const { screen } = call;
  if (shown.length === 0) {
    screen.err(
      state.blocks.length === 0 ? "This session has no blocks yet." : "No block matches the filters.",
    );
    return exitCodes.ok;
  }
  const cells = shown.map((row) => blockCells(row, labels.get(row.n) ?? row.topic ?? ""));
  const lines = tableLines(headings, cells, screen.paint);
  for (const line of isQuiet(call) ? lines.slice(1) : lines) screen.out(line);
  if (isQuiet(call)) return exitCodes.ok;
  const tokens = shown.reduce((sum, row) => sum + (row.tokens ?? 0), 0);
  const left = matching === shown.length ? "" : ` of ${matching} that match`;
  screen.err(`${pluralText(shown.length, "block")}${left}, ~${tokensText(tokens)} tokens, seq ${state.seq}`);
  return exitCodes.ok;
}

function blockCells(row: BlockRow, label: string): readonly TableCell[] {
  return [
    { text: `#${row.n}`, align: "right", style: "bold" },
    { text: row.zone },
    { text: row.kind },
    { text: printable(label, 44) },
    { text: row.tokens === null ? "?" : countedText(row.tokens, row.exact), align: "right" },
    { text: `${formNames[row.shown]}${row.pending ? ` -> ${formNames[row.wanted]}` : ""}` },
    { text: row.ttl === null ? "-" : `${row.ttl}`, align: "right" },
    { text: `turn ${row.lastUsedTurn}` },
    { text: marksOf(row), style: "yellow" },
  ];
}

function marksOf(row: BlockRow): string {
  const marks: readonly (readonly [boolean, string])[] = [
    [row.pinned, "pinned"],
    [row.focused, "focused"],
    [row.selected, "selected"],
    [row.withheld, "withheld"],
    // As in the panel: blocks that are always sent, such as tools, do not become stale.
    [row.state === "stale" && row.ttl !== null, "stale"],
  ];
  return marks.flatMap(([isSet, word]) => (isSet ? [word] : [])).join(" ");
}
