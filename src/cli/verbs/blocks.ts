import type { BlockRow, LabelsAnswer, StateRow } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { isWanted, readFilters } from "../block-filter.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { formWords } from "../format/blocks.ts";
import { countedText, manyText, tokensText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { type Cell, tableWith } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";
import { watching } from "../watching.ts";

const headings = ["#", "zone", "kind", "about", "tokens", "shown", "turns left", "used", ""];
const labelsPerRead = 200;
const orders = {
  request: null,
  tokens: (a: BlockRow, b: BlockRow) => (b.tokens ?? 0) - (a.tokens ?? 0),
  used: (a: BlockRow, b: BlockRow) => a.lastUsedTurn - b.lastUsedTurn,
} as const;
type Order = keyof typeof orders;

export async function blocks(call: ReadyCall): Promise<number> {
  return await watching(call, look);
}

async function look(call: ReadyCall): Promise<number> {
  const { api, flags } = call;
  const filters = readFilters(call.operands);
  if (!filters.ok) return giveUp(call, filters.problem);
  const order = orderIn(flags.get("sort") ?? "request");
  if (!order.ok) return giveUp(call, order.problem);
  const found = await findSession(api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const { id } = found.value.session;
  const query = { at: flags.get("at"), stream: flags.get("stream") };
  const reply = await api.json<StateRow>(sessionPath(id, "/state", query));
  if (!reply.ok) return giveUp(call, reply.problem);
  const state = reply.value.value;
  const labels = await labelsOf(call, id, state.blocks);
  const rows = state.blocks.filter((row) => isWanted({ row, label: labels.get(row.n) ?? "" }, filters.value));
  const sorted = order.value === null ? rows : [...rows].sort(order.value);
  const shown = sorted.slice(0, Number(flags.get("limit") ?? sorted.length));
  if (wantsJson(call)) return printJson(call, JSON.stringify(asData(state, shown)));
  return show(call, { state, shown, labels, fitting: rows.length });
}

function orderIn(word: string): Outcome<(typeof orders)[Order]> {
  if (Object.hasOwn(orders, word)) return succeed(orders[word as Order]); // just looked up
  return stop(exitCodes.usage, `--sort is request, tokens or used, not "${printable(word, 40)}".`);
}

function asData({ session, seq, head, stream, turn, window }: StateRow, blocks: readonly BlockRow[]) {
  return { v: 1, session, seq, head, stream, turn, window, blocks };
}

/** What a block is about stands in its text, so it is asked for apart. */
async function labelsOf(call: ReadyCall, session: string, rows: readonly BlockRow[]) {
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

type Shown = {
  readonly state: StateRow;
  readonly shown: readonly BlockRow[];
  readonly labels: ReadonlyMap<number, string>;
  readonly fitting: number;
};

function show(call: ReadyCall, { state, shown, labels, fitting }: Shown): number {
  const { screen } = call;
  if (shown.length === 0) {
    screen.err(state.blocks.length === 0 ? "This session has no blocks yet." : "No block fits these words.");
    return exitCodes.ok;
  }
  const cells = shown.map((row) => blockCells(row, labels.get(row.n) ?? row.topic ?? ""));
  const lines = tableWith(headings, cells, screen.paint);
  for (const line of isQuiet(call) ? lines.slice(1) : lines) screen.out(line);
  if (isQuiet(call)) return exitCodes.ok;
  const tokens = shown.reduce((sum, row) => sum + (row.tokens ?? 0), 0);
  const left = fitting === shown.length ? "" : ` of ${fitting} that fit`;
  screen.err(`${manyText(shown.length, "block")}${left}, ~${tokensText(tokens)} tokens, seq ${state.seq}`);
  return exitCodes.ok;
}

function blockCells(row: BlockRow, label: string): readonly Cell[] {
  return [
    { text: `#${row.n}`, align: "right", style: "bold" },
    { text: row.zone },
    { text: row.kind },
    { text: printable(label, 44) },
    { text: row.tokens === null ? "?" : countedText(row.tokens, row.exact), align: "right" },
    { text: `${formWords[row.shown]}${row.pending ? ` -> ${formWords[row.wanted]}` : ""}` },
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
    // As in the panel: what is always sent, such as tools, does not grow old.
    [row.state === "stale" && row.ttl !== null, "stale"],
  ];
  return marks.flatMap(([isSet, word]) => (isSet ? [word] : [])).join(" ");
}
