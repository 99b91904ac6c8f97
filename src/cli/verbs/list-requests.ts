import type { PricedRequest, PricedRequests } from "../../control/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { bytesText, tokensText } from "../format/number-text.ts";
import type { Style } from "../format/paint.ts";
import { printable } from "../format/printable.ts";
import { rewriteText } from "../format/rewrite-text.ts";
import { type TableCell, tableLines } from "../format/table.ts";
import { durationText, timeText } from "../format/time-text.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const usualLimit = 20;
const headings = ["n", "time", "role", "sent", "model", "outcome", "in", "cached", "out", "body", "took"];

export async function requests(call: ReadyCall): Promise<number> {
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const { id, requests: total } = found.value.session;
  const limit = Number(call.flags.get("limit") ?? usualLimit);
  // Requests are numbered from 1, so the last ones come after all the others.
  const after = Math.max(0, total - limit);
  const reply = await call.api.json<PricedRequests>(sessionPath(id, "/requests", { after, limit }));
  if (!reply.ok) return reportProblem(call, reply.problem);
  return wantsJson(call) ? printJson(call, reply.value.text) : show(call, reply.value.value);
}

function show(call: ReadyCall, { rows }: PricedRequests): number {
  const { screen, system } = call;
  if (rows.length === 0) {
    screen.err("This session has no requests yet.");
    return exitCodes.ok;
  }
  // Most sessions have no rewrite and need no column for it.
  const isRewritten = rows.some(({ rewrite }) => rewrite !== null);
  const cells = rows.map((row) => [
    ...requestCells(row, system.nowMs()),
    ...(isRewritten ? [rewriteCell(row)] : []),
  ]);
  const lines = tableLines([...headings, ...(isRewritten ? ["rewrite"] : [])], cells, screen.paint);
  for (const line of isQuiet(call) ? lines.slice(1) : lines) screen.out(line);
  return exitCodes.ok;
}

function requestCells(row: PricedRequest, nowMs: number): readonly TableCell[] {
  const { usage } = row;
  const prompt = usage === null ? null : usage.input + usage.cacheRead + usage.cacheWrite;
  return [
    { text: `${row.id}`, align: "right", style: "bold" },
    { text: row.time === null ? "-" : timeText(row.time, nowMs) },
    { text: row.role },
    { text: row.rendering },
    { text: printable(row.model ?? "-", 24) },
    { text: outcomeText(row), style: outcomeStyle(row) },
    { text: prompt === null ? "-" : tokensText(prompt), align: "right" },
    { text: usage === null ? "-" : tokensText(usage.cacheRead), align: "right" },
    { text: usage === null ? "-" : tokensText(usage.output), align: "right" },
    { text: bytesText(row.bytesUp), align: "right" },
    { text: row.totalMs === null ? "-" : durationText(row.totalMs), align: "right" },
  ];
}

function rewriteCell({ rewrite }: PricedRequest): TableCell {
  return rewrite === null ? { text: "" } : { text: rewriteText(rewrite), style: "cyan" };
}

function outcomeText({ outcome, status }: Pick<PricedRequest, "outcome" | "status">): string {
  return status === null ? outcome : `${outcome} ${status}`;
}

function outcomeStyle({ outcome, status }: Pick<PricedRequest, "outcome" | "status">): Style {
  if (outcome === "open") return "cyan";
  return outcome === "complete" && (status ?? 0) < 400 ? "green" : "yellow";
}
