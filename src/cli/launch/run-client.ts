import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findToken } from "../api/api-token.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { piModels, providerAddresses } from "./client-addresses.ts";
import { clientEnvironment, clientOf, isClaude } from "./client-environment.ts";
import { type ClientProxy, isFirstParty, openClientProxy } from "./client-proxy.ts";
import { findProgram } from "./find-program.ts";
import { launchBanner, observeProblem } from "./launch-banner.ts";
import { runChild } from "./run-child.ts";
import { askAboutLogin, hasLogin } from "./subscription-login.ts";

/** A client that has sent nothing by then uses another address. */
const silentMs = 30_000;

export async function run(call: ReadyCall): Promise<number> {
  const { operands, version, system } = call;
  const [name = "", ...args] = operands;
  const file = findProgram(name, system);
  if (file === null) {
    const message = `The program ${printable(name, 80)} was not found on PATH. Install it or give its path; \`aperture demo\` needs no client.`;
    return reportProblem(call, { exit: exitCodes.unfound, message });
  }
  const { settings, managesLogins } = isClaude(name)
    ? await askAboutLogin(call)
    : { settings: call.settings, managesLogins: null };
  // A client may own the whole screen, so messages wait until it has ended.
  const messages: string[] = [];
  const proxy = await openClientProxy({
    settings,
    managesLogins,
    version,
    notify: (line) => messages.push(line),
  });
  if (!proxy.ok) return reportProblem(call, proxy.problem);
  const wantedMode = call.flags.get("mode");
  const problem = observeProblem({ client: clientOf(name), proxy: proxy.value, wantedMode });
  if (problem !== null) {
    await proxy.value.close();
    return reportProblem(call, { exit: exitCodes.failed, message: problem });
  }
  if (!isQuiet(call)) printBanner(call, name, proxy.value);
  for (const line of messages.splice(0)) call.screen.err(printable(line, 500));
  const silence = watchSilence(call, proxy.value);
  const own = clientArguments(name, proxy.value.url);
  const env = environmentOf(call, name, proxy.value);
  const isTerminal = process.stdin.isTTY === true;
  const end = await runChild({ file, args: [...own.args, ...args], env, isTerminal });
  own.end();
  clearTimeout(silence);
  const count = proxy.value.requests();
  await proxy.value.close();
  for (const line of messages) call.screen.err(printable(line, 500));
  if ("error" in end) {
    const message = `${printable(file, 200)} could not be started (${printable(end.error)}).`;
    return reportProblem(call, { exit: exitCodes.unusable, message });
  }
  if (count === 0 && clientOf(name) !== null && !isQuiet(call)) {
    call.screen.err("No request came through Aperture. `aperture doctor` finds the reason.");
  }
  return end.exit;
}

function environmentOf({ settings, system, flags }: ReadyCall, program: string, proxy: ClientProxy) {
  return clientEnvironment({
    program,
    url: proxy.url,
    isFirstParty: isFirstParty(proxy),
    env: system.env,
    cwd: system.cwd,
    relayToken: settings.isRemote ? findToken(settings).token : null,
    isObserved: flags.get("mode") === "observe",
  });
}

/**
 * Warns early if standard error is a file. On a terminal, the client draws, and the warning comes at the end.
 */
function watchSilence(call: ReadyCall, proxy: ClientProxy): NodeJS.Timeout {
  const warn = () => {
    if (proxy.requests() !== 0 || process.stderr.isTTY === true || isQuiet(call)) return;
    call.screen.err("No request has come through Aperture yet. `aperture doctor` finds the reason.");
  };
  return setTimeout(warn, silentMs).unref();
}

function printBanner(call: ReadyCall, name: string, proxy: ClientProxy): void {
  const { version, screen, system } = call;
  const isOnLogin = isClaude(name) && hasLogin(system);
  const wantedMode = call.flags.get("mode");
  const lines = launchBanner({ version, client: clientOf(name), proxy, wantedMode, isOnLogin });
  for (const line of lines) screen.err(line);
  const before = system.env["ANTHROPIC_BASE_URL"];
  if (before !== undefined && before !== "" && before.replace(/\/+$/, "") !== proxy.url) {
    screen.err(
      `ANTHROPIC_BASE_URL was ${printable(before, 200)}; this client uses ${proxy.url} instead. ` +
        "To keep that upstream, start Aperture with APERTURE_UPSTREAM_ANTHROPIC set to it.",
    );
  }
}

type ClientArguments = {
  /** The arguments before the user's own. */
  readonly args: readonly string[];
  /** Removes files that only this client needed. */
  readonly end: () => void;
};

const nothing: ClientArguments = { args: [], end: () => undefined };

/** Clients that read no address from the environment get it on their command line. */
function clientArguments(program: string, url: string): ClientArguments {
  switch (clientOf(program)) {
    case "codex":
      return { ...nothing, args: ["-c", `openai_base_url=${JSON.stringify(providerAddresses(url).openai)}`] };
    case "pi":
      return piArguments(url);
    default:
      return nothing;
  }
}

/** pi takes addresses from an extension. This one exists as long as the client runs. */
function piArguments(url: string): ClientArguments {
  const folder = mkdtempSync(join(tmpdir(), "aperture-pi-"));
  const file = join(folder, "aperture.mjs");
  const providers = JSON.stringify(piModels(url).providers);
  const source = `export default (pi) => {
  for (const [name, provider] of Object.entries(${providers})) pi.registerProvider(name, provider);
};\n`;
  writeFileSync(file, source, { mode: 0o600 });
  return { args: ["-e", file], end: () => rmSync(folder, { recursive: true, force: true }) };
}
