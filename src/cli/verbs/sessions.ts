import type { FailedRequest, SessionRow, SessionsPage } from "../../session/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { manyText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { type Cell, tableWith } from "../format/table.ts";
import { ageText } from "../format/times.ts";
import { usedText } from "../format/window.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { exitCodes } from "../usage.ts";
import { watching } from "../watching.ts";

const usualLimit = "20";
const idChars = 8;
const headings = ["id", "name", "client", "model", "window used", "requests", "mode", "last", ""];

export async function sessions(call: ReadyCall): Promise<number> {
  return await watching(call, look);
}

async function look(call: ReadyCall): Promise<number> {
  const limit = call.flags.get("limit") ?? usualLimit;
  const reply = await call.api.json<SessionsPage>(apiPath("/sessions", { limit }));
  if (!reply.ok) return giveUp(call, reply.problem);
  return wantsJson(call) ? printJson(call, reply.value.text) : show(call, reply.value.value);
}

function show(call: ReadyCall, { rows, damaged, next }: SessionsPage): number {
  const { screen, world } = call;
  if (rows.length === 0) screen.err("No session has been recorded yet.");
  else {
    const cells = rows.map((row) => sessionCells(row, world.nowMs()));
    const lines = tableWith(headings, cells, screen.paint);
    for (const line of isQuiet(call) ? lines.slice(1) : lines) screen.out(line);
  }
  if (damaged.length > 0) {
    screen.err(`${manyText(damaged.length, "session")} cannot be opened: ${damaged.map(shortId).join(", ")}`);
  }
  if (next !== null && !isQuiet(call)) screen.err("There are more; --limit N shows more of them.");
  return exitCodes.ok;
}

function sessionCells(row: SessionRow, nowMs: number): readonly Cell[] {
  return [
    { text: shortId(row.id), style: "bold" },
    { text: printable(row.name, 28) },
    { text: printable(row.client, 22) },
    { text: printable(row.model ?? "-", 22) },
    { text: usedText(row.window), align: "right" },
    { text: `${row.requests}`, align: "right" },
    { text: modeText(row.mode) },
    { text: row.lastActivity === null ? "-" : ageText(nowMs - row.lastActivity) },
    stateCell(row),
  ];
}

function stateCell({ state, failed }: SessionRow): Cell {
  if (state === "active") return { text: "active", style: "green" };
  return failed === null ? { text: "" } : { text: failedText(failed), style: "red" };
}

function failedText({ outcome, status }: FailedRequest): string {
  return `error: ${outcome === "complete" ? (status ?? "") : outcome}`;
}

/** Whether what goes up is ours, or as the client sent it. */
function modeText(mode: SessionRow["mode"]): string {
  return mode === "observe" ? "observed" : "managed";
}

function shortId(id: string): string {
  return printable(id).slice(0, idChars);
}
