import type { ExpansionAnswer } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { printableLines } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { readExpandTarget } from "../targets.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

/** Prints stored content. It changes nothing that is sent. */
export async function expand(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const target = readExpandTarget(operands[0] ?? "");
  if (!target.ok) return reportProblem(call, target.problem);
  const found = await findSession(api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const query = { ...target.value, stream: flags.get("stream") };
  const reply = await api.json<ExpansionAnswer>(sessionPath(found.value.session.id, "/expansion", query));
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { text, left, next } = reply.value.value;
  screen.out(printableLines(text));
  if (next !== null) {
    screen.err(`${pluralText(left, "more block")} left out: continue with \`aperture expand ${next}\`.`);
  }
  if (!isQuiet(call)) screen.err("(printed from the store; requests to the model do not change)");
  return exitCodes.ok;
}
