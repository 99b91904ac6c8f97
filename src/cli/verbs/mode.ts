import type { HealthAnswer } from "../../control/index.ts";
import type { ModeAnswer } from "../../session/index.ts";
import { apiPath, sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";

const modes = ["observe", "ask", "auto", "default"] as const;

const meanings = {
  observe: "its requests go up as its client sends them, and its model is told nothing",
  ask: "whatever its model wants to change waits for you",
  auto: "its model may do what can be taken back",
} as const;

const ceiling =
  "Aperture is configured to observe (APERTURE_MODE), so no session is managed, whatever is set here.";

/** What a mode means here: where all of Aperture only observes, no session does more. */
async function meaningOf(call: ReadyCall, set: ModeAnswer["mode"]): Promise<string> {
  const health = set === "observe" ? null : await call.api.json<HealthAnswer>(apiPath("/health"));
  if (health?.ok && health.value.value.mode === "observe") return ceiling;
  return set === null ? "As it is configured (APERTURE_MODE)." : `${meanings[set]}.`;
}

export async function mode(call: ReadyCall): Promise<number> {
  const [word] = call.operands;
  if (word !== undefined && !modes.some((each) => each === word)) {
    const problem = `"${printable(word, 40)}" is no mode: use observe, ask, auto, or default for what is configured.`;
    return giveUp(call, { exit: exitCodes.usage, message: problem });
  }
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const path = sessionPath(found.value.session.id, "/mode");
  const wanted = word === "default" ? null : word;
  const reply =
    word === undefined
      ? await call.api.json<ModeAnswer>(path)
      : await call.api.put<ModeAnswer>(path, { mode: wanted });
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { mode: set } = reply.value.value;
  call.screen.out(set ?? "default");
  if (!isQuiet(call)) call.screen.err(await meaningOf(call, set));
  return exitCodes.ok;
}
