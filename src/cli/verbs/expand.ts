import type { ExpansionAnswer } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { manyText } from "../format/numbers.ts";
import { printableLines } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { readExpandable } from "../targets.ts";
import { exitCodes } from "../usage.ts";

/** Reads back what is stored. Nothing that is sent changes by it. */
export async function expand(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const target = readExpandable(operands[0] ?? "");
  if (!target.ok) return giveUp(call, target.problem);
  const found = await findSession(api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const query = { ...target.value, stream: flags.get("stream") };
  const reply = await api.json<ExpansionAnswer>(sessionPath(found.value.session.id, "/expansion", query));
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { text, left, next } = reply.value.value;
  screen.out(printableLines(text));
  if (next !== null) {
    screen.err(`There was no room for ${manyText(left, "block")}; go on with \`aperture expand ${next}\`.`);
  }
  if (!isQuiet(call)) screen.err("(read from the store; what is sent to the model stays as it is)");
  return exitCodes.ok;
}
