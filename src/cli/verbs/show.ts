import type { BlockDetail } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { blockLines, historyLines, levelLines } from "../format/block.ts";
import { printJson, wantsJson } from "../json-output.ts";
import type { Problem } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { readTarget } from "../targets.ts";
import { exitCodes } from "../usage.ts";

/** Numbers begin anew with every session, so one from elsewhere is the usual reason. */
function withList(problem: Problem): Problem {
  const isMissing = problem.exit === exitCodes.missing;
  return isMissing ? { ...problem, message: `${problem.message} \`aperture blocks\` lists them.` } : problem;
}

export async function show(call: ReadyCall): Promise<number> {
  const [word = ""] = call.operands;
  const target = readTarget(word);
  if (target?.of !== "block" || target.first !== target.last) {
    const message = `"${word}" is no block: write 18, block-18 or '#18', as \`aperture blocks\` counts them.`;
    return giveUp(call, { exit: exitCodes.usage, message });
  }
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const query = { at: call.flags.get("at"), stream: call.flags.get("stream") };
  const path = sessionPath(found.value.session.id, `/blocks/${target.first}`, query);
  const reply = await call.api.json<BlockDetail>(path);
  if (!reply.ok) return giveUp(call, withList(reply.problem));
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const detail = reply.value.value;
  const { screen, world } = call;
  for (const line of blockLines(detail, screen.paint)) screen.out(line);
  for (const line of levelLines(detail, screen.paint)) screen.out(line);
  for (const line of historyLines(detail, { paint: screen.paint, nowMs: world.nowMs() })) screen.out(line);
  if (!isQuiet(call)) screen.err(`\`aperture expand ${target.first}\` prints what is stored of it.`);
  return exitCodes.ok;
}
