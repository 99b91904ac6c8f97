import type { BlockDetail } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { blockSummaryLines, historyLines, levelLines } from "../format/block-details.ts";
import { printJson, wantsJson } from "../json-output.ts";
import type { CliProblem } from "../outcome.ts";
import { readTarget } from "../targets.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

/** Block numbers start again in every session, so a number from another session is the usual mistake. */
function withList(problem: CliProblem): CliProblem {
  const isMissing = problem.exit === exitCodes.missing;
  return isMissing ? { ...problem, message: `${problem.message} \`aperture blocks\` lists them.` } : problem;
}

export async function show(call: ReadyCall): Promise<number> {
  const [word = ""] = call.operands;
  const target = readTarget(word);
  if (target?.of !== "block" || target.first !== target.last) {
    const message = `"${word}" is not a block. Write 18, block-18 or '#18'; \`aperture blocks\` lists the numbers.`;
    return reportProblem(call, { exit: exitCodes.usage, message });
  }
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const query = { at: call.flags.get("at"), stream: call.flags.get("stream") };
  const path = sessionPath(found.value.session.id, `/blocks/${target.first}`, query);
  const reply = await call.api.json<BlockDetail>(path);
  if (!reply.ok) return reportProblem(call, withList(reply.problem));
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const detail = reply.value.value;
  const { screen, system } = call;
  for (const line of blockSummaryLines(detail, screen.paint)) screen.out(line);
  for (const line of levelLines(detail, screen.paint)) screen.out(line);
  for (const line of historyLines(detail, { paint: screen.paint, nowMs: system.nowMs() })) screen.out(line);
  if (!isQuiet(call)) screen.err(`\`aperture expand ${target.first}\` prints its content.`);
  return exitCodes.ok;
}
