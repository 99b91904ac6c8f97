import { openApi, warnUntilDurable } from "./api/api-client.ts";
import type { Invocation } from "./args/arguments.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable } from "./format/printable.ts";
import type { ReadyCall, VerbCall, VerbFunction } from "./verb-call.ts";

export type DispatchedVerb = Exclude<
  Invocation["verb"],
  "up" | "help" | "version" | "misused" | "statusline"
>;

// A verb is loaded when it is called: loading all of them takes longer than running one.

/** These verbs also work with invalid settings: some of them repair the settings. */
const withoutSettings = {
  analyze: async () => (await import("./analyze/analyze.ts")).analyze,
  completion: async () => (await import("./completion/completion.ts")).completion,
  config: async () => (await import("./verbs/config.ts")).config,
  doctor: async () => (await import("./doctor/doctor.ts")).doctor,
  uninstall: async () => (await import("./install/install-verbs.ts")).uninstall,
} as const satisfies Partial<
  Record<DispatchedVerb, () => Promise<(call: VerbCall) => number | Promise<number>>>
>;
type VerbWithoutSettings = keyof typeof withoutSettings;
function worksWithoutSettings(verb: DispatchedVerb): verb is VerbWithoutSettings {
  return Object.hasOwn(withoutSettings, verb);
}

const changes = () => import("./verbs/change-blocks.ts");
const decisions = () => import("./verbs/approval-verbs.ts");
const forks = () => import("./verbs/fork-session.ts");
const reversals = () => import("./verbs/undo-redo.ts");
const upkeep = () => import("./verbs/store-upkeep.ts");

const verbs: Readonly<Record<Exclude<DispatchedVerb, VerbWithoutSettings>, () => Promise<VerbFunction>>> = {
  approvals: async () => (await decisions()).approvals,
  approve: async () => (await decisions()).approve,
  archive: async () => (await changes()).archive,
  backup: async () => (await upkeep()).backup,
  blocks: async () => (await import("./verbs/list-blocks.ts")).blocks,
  compress: async () => (await changes()).compress,
  context: async () => (await import("./verbs/show-context.ts")).context,
  cost: async () => (await import("./cost/cost-verb.ts")).cost,
  create: async () => (await changes()).create,
  demo: async () => (await import("./demo/demo-verb.ts")).demo,
  deny: async () => (await decisions()).deny,
  diff: async () => (await import("./verbs/diff-seqs.ts")).diff,
  down: async () => (await import("./verbs/down.ts")).down,
  env: async () => (await import("./launch/env-verb.ts")).env,
  expand: async () => (await import("./verbs/expand-block.ts")).expand,
  export: async () => (await import("./export/export-session.ts")).exportSession,
  focus: async () => (await changes()).focus,
  fork: async () => (await forks()).fork,
  gc: async () => (await upkeep()).gc,
  import: async () => (await import("./analyze/import-transcripts.ts")).importTranscripts,
  install: async () => (await import("./install/install-verbs.ts")).install,
  leave: async () => (await forks()).leave,
  log: async () => (await import("./verbs/show-log.ts")).log,
  manifest: async () => (await import("./verbs/show-manifest.ts")).manifest,
  mode: async () => (await import("./verbs/session-mode.ts")).mode,
  note: async () => (await changes()).create,
  open: async () => (await import("./verbs/open-panel.ts")).open,
  permissions: async () => (await import("./verbs/permissions.ts")).permissions,
  pin: async () => (await changes()).pin,
  purge: async () => (await changes()).purge,
  recall: async () => (await changes()).recall,
  redo: async () => (await reversals()).redo,
  replay: async () => (await import("./replay/replay-verb.ts")).replay,
  request: async () => (await import("./verbs/show-request.ts")).request,
  requests: async () => (await import("./verbs/list-requests.ts")).requests,
  restore: async () => (await changes()).restore,
  run: async () => (await import("./launch/run-client.ts")).run,
  scope: async () => (await changes()).scope,
  select: async () => (await import("./verbs/selection-verb.ts")).select,
  sessions: async () => (await import("./verbs/list-sessions.ts")).sessions,
  show: async () => (await import("./verbs/show-block.ts")).show,
  status: async () => (await import("./verbs/status.ts")).status,
  undo: async () => (await reversals()).undo,
  unpin: async () => (await changes()).unpin,
  update: async () => (await changes()).update,
  verify: async () => (await upkeep()).verify,
  withhold: async () => (await changes()).withhold,
};

export async function dispatch(verb: DispatchedVerb, call: VerbCall): Promise<number> {
  if (worksWithoutSettings(verb)) return await (await withoutSettings[verb]())(call);
  const { screen, settingsResult, flags } = call;
  if (!settingsResult.ok) {
    for (const problem of settingsResult.problems) screen.err(problem);
    return exitCodes.usage;
  }
  const { settings } = settingsResult;
  const logRequest = flags.has("verbose") ? (line: string) => screen.err(printable(line, 300)) : undefined;
  const api = warnUntilDurable(openApi(settings, undefined, logRequest), screen);
  const ready: ReadyCall = { ...call, settings, api };
  return await (await verbs[verb]())(ready);
}
