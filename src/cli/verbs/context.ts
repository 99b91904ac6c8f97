import type { GlanceAnswer } from "../../control/index.ts";
import type { StateRow } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, type ReadyCall } from "../call.ts";
import { contextLines } from "../format/context.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";
import { watching } from "../watching.ts";

export async function context(call: ReadyCall): Promise<number> {
  return await watching(call, look, call.operands[0]);
}

async function look(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const found = await findSession(api, sessionWord(call, operands[0]));
  if (!found.ok) return giveUp(call, found.problem);
  const { id, name } = found.value.session;
  const query = { at: flags.get("at"), stream: flags.get("stream") };
  const reply = await api.json<StateRow>(sessionPath(id, "/state", query));
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const state = reply.value.value;
  const cacheLeftMs = state.seq === state.head ? await cacheLeft(call, id) : null;
  for (const line of contextLines({ name, state, paint: screen.paint, cacheLeftMs })) screen.out(line);
  return exitCodes.ok;
}

/** Only of the present: what was left at an earlier seq is gone. */
async function cacheLeft({ api, world }: ReadyCall, id: string): Promise<number | null> {
  const glance = await api.json<GlanceAnswer>(sessionPath(id, "/glance", {}));
  const endsMs = glance.ok ? glance.value.value.cacheEndsMs : null;
  return endsMs === null ? null : endsMs - world.nowMs();
}
