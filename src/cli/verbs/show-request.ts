import type { PricedRequestDetail, RouteAnswers } from "../../control/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { printableLines } from "../format/printable.ts";
import { replayLines } from "../format/replay-text.ts";
import { requestDiffLines } from "../format/request-diff-text.ts";
import { requestLines } from "../format/request-text.ts";
import { alignRows } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const sides = ["client", "upstream", "response"] as const;
const looks = ["diff", "previous", "replay"] as const;
type RequestSide = (typeof sides)[number];
type RequestQuery = {
  readonly exchange: string;
  readonly side: RequestSide | null;
  /** The comparison or the replay; null for neither. */
  readonly look: (typeof looks)[number] | null;
};

export async function request(call: ReadyCall): Promise<number> {
  const query = readQuery(call);
  if (!query.ok) return reportProblem(call, query.problem);
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const { exchange, side, look } = query.value;
  const path = sessionPath(found.value.session.id, `/requests/${exchange}`);
  if (look === "replay") return await printReplay(call, `${path}/replay`);
  if (look !== null)
    return await printDiff(call, `${path}/diff${look === "previous" ? "?with=previous" : ""}`);
  return side === null ? await printSummary(call, path) : await printBody(call, `${path}/${side}`);
}

function readQuery(call: ReadyCall): CliResult<RequestQuery> {
  const [exchange = ""] = call.operands;
  if (!/^\d{1,15}$/.test(exchange)) {
    return stop(
      exitCodes.usage,
      `"${exchange}" is not the number of a request. \`aperture requests\` lists the numbers.`,
    );
  }
  const [side = null, second] = [...sides, ...looks].filter((each) => call.flags.has(each));
  if (second !== undefined) return stop(exitCodes.usage, `Give --${side} or --${second}, not both.`);
  if (side === "diff" || side === "previous" || side === "replay") {
    return succeed({ exchange, side: null, look: side });
  }
  if (side !== null && wantsJson(call)) {
    return stop(exitCodes.usage, `--${side} prints exact bytes and cannot be combined with --json.`);
  }
  return succeed({ exchange, side, look: null });
}

async function printDiff(call: ReadyCall, path: string): Promise<number> {
  const reply = await call.api.json<RouteAnswers["RequestDiff"]>(path);
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  for (const line of requestDiffLines(reply.value.value, call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

/** Checking a long conversation takes a while, and other jobs may come first. */
const replayMs = 600_000;

async function printReplay(call: ReadyCall, path: string): Promise<number> {
  const reply = await call.api.json<RouteAnswers["ReplayAnswer"]>(path, replayMs);
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) printJson(call, reply.value.text);
  else for (const line of replayLines(reply.value.value, call.screen.paint)) call.screen.out(line);
  return reply.value.value.verdict.accepted ? exitCodes.ok : exitCodes.failed;
}

async function printSummary(call: ReadyCall, path: string): Promise<number> {
  const reply = await call.api.json<PricedRequestDetail>(path);
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const lines = requestLines(reply.value.value, call.system.nowMs());
  const cells = lines.map(([label, text]) => [{ text: label, style: "dim" as const }, { text }]);
  for (const line of alignRows(cells, call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

/**
 * Programs get the exact bytes. A terminal gets the text without control characters, because others wrote it.
 */
async function printBody(call: ReadyCall, path: string): Promise<number> {
  const { api, screen } = call;
  const bytes = await api.bytes(path);
  if (!bytes.ok) return reportProblem(call, bytes.problem);
  if (!screen.isTerminal) {
    screen.bytes(bytes.value);
    return exitCodes.ok;
  }
  screen.out(printableLines(bytes.value.toString("utf8")));
  if (!isQuiet(call)) screen.err("(without control characters; a file or a pipe gets the exact bytes)");
  return exitCodes.ok;
}
