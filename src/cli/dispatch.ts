import type { Invocation } from "./arguments.ts";
import type { Call, ReadyCall, VerbFunction } from "./call.ts";
import { openApi } from "./client.ts";
import { tellingDurable } from "./durable-api.ts";
import { printable } from "./format/printable.ts";
import { exitCodes } from "./usage.ts";

export type CalledVerb = Exclude<Invocation["verb"], "up" | "help" | "version" | "misused" | "statusline">;

// A verb is loaded when it is called: all of them together take longer to load than one takes to run.

/** These work with settings that cannot be used, too: some of them are the way out. */
const unready = {
  analyze: async () => (await import("./verbs/analyze.ts")).analyze,
  completion: async () => (await import("./verbs/completion.ts")).completion,
  config: async () => (await import("./verbs/config.ts")).config,
  doctor: async () => (await import("./verbs/doctor.ts")).doctor,
  uninstall: async () => (await import("./verbs/install.ts")).uninstall,
} as const satisfies Partial<Record<CalledVerb, () => Promise<(call: Call) => number | Promise<number>>>>;
type Unready = keyof typeof unready;
function isUnready(verb: CalledVerb): verb is Unready {
  return Object.hasOwn(unready, verb);
}

const acts = () => import("./verbs/act.ts");
const decisions = () => import("./verbs/decide.ts");
const forks = () => import("./verbs/fork.ts");
const reversals = () => import("./verbs/reverse.ts");

const verbs: Readonly<Record<Exclude<CalledVerb, Unready>, () => Promise<VerbFunction>>> = {
  approvals: async () => (await decisions()).approvals,
  approve: async () => (await decisions()).approve,
  archive: async () => (await acts()).archive,
  backup: async () => (await import("./verbs/backup.ts")).backup,
  blocks: async () => (await import("./verbs/blocks.ts")).blocks,
  compress: async () => (await acts()).compress,
  context: async () => (await import("./verbs/context.ts")).context,
  cost: async () => (await import("./verbs/cost.ts")).cost,
  create: async () => (await acts()).create,
  demo: async () => (await import("./verbs/demo.ts")).demo,
  deny: async () => (await decisions()).deny,
  diff: async () => (await import("./verbs/diff.ts")).diff,
  down: async () => (await import("./verbs/down.ts")).down,
  env: async () => (await import("./verbs/env.ts")).env,
  expand: async () => (await import("./verbs/expand.ts")).expand,
  export: async () => (await import("./verbs/export.ts")).exportSession,
  focus: async () => (await acts()).focus,
  import: async () => (await import("./verbs/import.ts")).importTranscripts,
  fork: async () => (await forks()).fork,
  leave: async () => (await forks()).leave,
  gc: async () => (await import("./verbs/gc.ts")).gc,
  install: async () => (await import("./verbs/install.ts")).install,
  log: async () => (await import("./verbs/log.ts")).log,
  manifest: async () => (await import("./verbs/manifest.ts")).manifest,
  mode: async () => (await import("./verbs/mode.ts")).mode,
  permissions: async () => (await import("./verbs/permissions.ts")).permissions,
  note: async () => (await acts()).create,
  open: async () => (await import("./verbs/open.ts")).open,
  pin: async () => (await acts()).pin,
  purge: async () => (await acts()).purge,
  recall: async () => (await acts()).recall,
  redo: async () => (await reversals()).redo,
  replay: async () => (await import("./verbs/replay.ts")).replay,
  request: async () => (await import("./verbs/request.ts")).request,
  requests: async () => (await import("./verbs/requests.ts")).requests,
  restore: async () => (await acts()).restore,
  run: async () => (await import("./verbs/run.ts")).run,
  scope: async () => (await acts()).scope,
  select: async () => (await import("./verbs/select.ts")).select,
  sessions: async () => (await import("./verbs/sessions.ts")).sessions,
  show: async () => (await import("./verbs/show.ts")).show,
  status: async () => (await import("./verbs/status.ts")).status,
  undo: async () => (await reversals()).undo,
  unpin: async () => (await acts()).unpin,
  update: async () => (await acts()).update,
  verify: async () => (await import("./verbs/verify.ts")).verify,
  withhold: async () => (await acts()).withhold,
};

export async function dispatch(verb: CalledVerb, call: Call): Promise<number> {
  if (isUnready(verb)) return await (await unready[verb]())(call);
  if (!call.read.ok) {
    for (const problem of call.read.problems) call.screen.err(problem);
    return exitCodes.usage;
  }
  const { settings } = call.read;
  const told = call.flags.has("verbose")
    ? (line: string) => call.screen.err(printable(line, 300))
    : undefined;
  const api = tellingDurable(openApi(settings, undefined, told), call.screen);
  const ready: ReadyCall = { ...call, settings, api };
  return await (await verbs[verb]())(ready);
}
