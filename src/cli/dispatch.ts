import type { Invocation } from "./arguments.ts";
import type { Call, ReadyCall, VerbFunction } from "./call.ts";
import { openApi } from "./client.ts";
import { exitCodes } from "./usage.ts";
import {
  archive,
  compress,
  create,
  diff,
  focus,
  pin,
  purge,
  recall,
  restore,
  scope,
  unpin,
  update,
  withhold,
} from "./verbs/act.ts";
import { context } from "./verbs/context.ts";
import { approvals, approve, deny } from "./verbs/decide.ts";
import { doctor } from "./verbs/doctor.ts";
import { expand } from "./verbs/expand.ts";
import { log } from "./verbs/log.ts";
import { manifest } from "./verbs/manifest.ts";
import { mode } from "./verbs/mode.ts";
import { request } from "./verbs/request.ts";
import { requests } from "./verbs/requests.ts";
import { redo, undo } from "./verbs/reverse.ts";
import { run } from "./verbs/run.ts";
import { select } from "./verbs/select.ts";
import { sessions } from "./verbs/sessions.ts";
import { show } from "./verbs/show.ts";
import { status } from "./verbs/status.ts";

export type CalledVerb = Exclude<Invocation["verb"], "up" | "help" | "version" | "misused">;

const verbs: Readonly<Record<Exclude<CalledVerb, "doctor">, VerbFunction>> = {
  approvals,
  approve,
  archive,
  compress,
  context,
  create,
  deny,
  diff,
  expand,
  focus,
  log,
  manifest,
  mode,
  note: create,
  pin,
  purge,
  recall,
  redo,
  request,
  requests,
  restore,
  run,
  scope,
  select,
  sessions,
  show,
  status,
  undo,
  unpin,
  update,
  withhold,
};

export async function dispatch(verb: CalledVerb, call: Call): Promise<number> {
  if (verb === "doctor") return await doctor(call);
  if (!call.read.ok) {
    for (const problem of call.read.problems) call.screen.err(problem);
    return exitCodes.usage;
  }
  const { settings } = call.read;
  const ready: ReadyCall = { ...call, settings, api: openApi(settings) };
  return await verbs[verb](ready);
}
