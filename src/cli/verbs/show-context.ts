import type { GlanceAnswer } from "../../control/index.ts";
import type { StateRow } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { runOrWatch } from "../api/watch.ts";
import { exitCodes } from "../exit-codes.ts";
import { contextLines } from "../format/context-picture.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type ReadyCall, reportProblem } from "../verb-call.ts";

export async function context(call: ReadyCall): Promise<number> {
  return await runOrWatch(call, showOnce, call.operands[0]);
}

async function showOnce(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const found = await findSession(api, sessionArgument(call, operands[0]));
  if (!found.ok) return reportProblem(call, found.problem);
  const { id, name } = found.value.session;
  const query = { at: flags.get("at"), stream: flags.get("stream") };
  const reply = await api.json<StateRow>(sessionPath(id, "/state", query));
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const state = reply.value.value;
  const cacheLeftMs = state.seq === state.head ? await cacheLeft(call, id) : null;
  for (const line of contextLines({ name, state, paint: screen.paint, cacheLeftMs })) screen.out(line);
  return exitCodes.ok;
}

/** Only for the present: the cache of an earlier seq is gone. */
async function cacheLeft({ api, system }: ReadyCall, id: string): Promise<number | null> {
  const glance = await api.json<GlanceAnswer>(sessionPath(id, "/glance", {}));
  const endsMs = glance.ok ? glance.value.value.cacheEndsMs : null;
  return endsMs === null ? null : endsMs - system.nowMs();
}
