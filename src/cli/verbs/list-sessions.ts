import type { FailedRequest, SessionRow, SessionsPage } from "../../queries/answers/index.ts";
import { apiPath } from "../api/api-path.ts";
import { runOrWatch } from "../api/watch.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { type TableCell, tableLines } from "../format/table.ts";
import { ageText } from "../format/time-text.ts";
import { usedText } from "../format/window-text.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const usualLimit = "20";
const idChars = 8;
const headings = ["id", "name", "client", "model", "window used", "requests", "mode", "last", ""];

export async function sessions(call: ReadyCall): Promise<number> {
  return await runOrWatch(call, listOnce);
}

async function listOnce(call: ReadyCall): Promise<number> {
  const limit = call.flags.get("limit") ?? usualLimit;
  const reply = await call.api.json<SessionsPage>(apiPath("/sessions", { limit }));
  if (!reply.ok) return reportProblem(call, reply.problem);
  return wantsJson(call) ? printJson(call, reply.value.text) : printSessions(call, reply.value.value);
}

function printSessions(call: ReadyCall, { rows, damaged, next }: SessionsPage): number {
  const { screen, system } = call;
  if (rows.length === 0) screen.err("No session has been recorded yet.");
  else {
    const cells = rows.map((row) => sessionCells(row, system.nowMs()));
    const lines = tableLines(headings, cells, screen.paint);
    for (const line of isQuiet(call) ? lines.slice(1) : lines) screen.out(line);
  }
  if (damaged.length > 0) {
    screen.err(
      `${pluralText(damaged.length, "session")} cannot be opened: ${damaged.map(shortId).join(", ")}`,
    );
  }
  if (next !== null && !isQuiet(call)) screen.err("There are more sessions: --limit N shows them.");
  return exitCodes.ok;
}

function sessionCells(row: SessionRow, nowMs: number): readonly TableCell[] {
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

function stateCell({ state, failed }: SessionRow): TableCell {
  if (state === "active") return { text: "active", style: "green" };
  return failed === null ? { text: "" } : { text: failedText(failed), style: "red" };
}

function failedText({ outcome, status }: FailedRequest): string {
  return `error: ${outcome === "complete" ? (status ?? "") : outcome}`;
}

function modeText(mode: SessionRow["mode"]): string {
  return mode === "observe" ? "observed" : "managed";
}

function shortId(id: string): string {
  return printable(id).slice(0, idChars);
}
