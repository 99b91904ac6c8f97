import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printable } from "../format/printable.ts";
import { announcement, whyNotObserved } from "../launch/announce.ts";
import { runChild } from "../launch/child.ts";
import { clientArguments } from "../launch/client-arguments.ts";
import { clientEnvironment, clientOf, isClaude } from "../launch/client-environment.ts";
import { hasLogin, settleLogins } from "../launch/logins.ts";
import { findProgram } from "../launch/programs.ts";
import { type ClientProxy, isFirstParty, proxyFor } from "../launch/proxy.ts";
import { findToken } from "../token.ts";
import { exitCodes } from "../usage.ts";

/** A client that has sent nothing by then was led elsewhere by something. */
const silentMs = 30_000;

export async function run(call: ReadyCall): Promise<number> {
  const { operands, version, world } = call;
  const [name = "", ...args] = operands;
  const file = findProgram(name, world);
  if (file === null) {
    const message = `The program ${printable(name, 80)} was not found on PATH. Install it, or give its path; \`aperture demo\` needs no client.`;
    return giveUp(call, { exit: exitCodes.unfound, message });
  }
  const settings = isClaude(name) ? await settleLogins(call) : call.settings;
  // A client may own the whole screen: what is to be said while it does waits until it has ended.
  const remarks: string[] = [];
  const proxy = await proxyFor({ settings, version, note: (line) => remarks.push(line) });
  if (!proxy.ok) return giveUp(call, proxy.problem);
  const wantedMode = call.flags.get("mode");
  const problem = whyNotObserved({ client: clientOf(name), proxy: proxy.value, wantedMode });
  if (problem !== null) {
    await proxy.value.close();
    return giveUp(call, { exit: exitCodes.failed, message: problem });
  }
  if (!isQuiet(call)) announce({ ...call, settings }, name, proxy.value);
  for (const line of remarks.splice(0)) call.screen.err(printable(line, 500));
  const silence = watchSilence(call, proxy.value);
  const own = clientArguments(name, proxy.value.url);
  const env = environmentOf(call, name, proxy.value);
  const isTerminal = process.stdin.isTTY === true;
  const end = await runChild({ file, args: [...own.args, ...args], env, isTerminal });
  own.end();
  clearTimeout(silence);
  const count = proxy.value.requests();
  await proxy.value.close();
  for (const line of remarks) call.screen.err(printable(line, 500));
  if ("error" in end) {
    const message = `${printable(file, 200)} could not be started (${printable(end.error)}).`;
    return giveUp(call, { exit: exitCodes.unusable, message });
  }
  if (count === 0 && clientOf(name) !== null && !isQuiet(call)) {
    call.screen.err("No request came through Aperture; `aperture doctor` looks for the reason.");
  }
  return end.exit;
}

function environmentOf({ settings, world, flags }: ReadyCall, program: string, proxy: ClientProxy) {
  return clientEnvironment({
    program,
    url: proxy.url,
    isFirstParty: isFirstParty(proxy),
    env: world.env,
    cwd: world.cwd,
    relayToken: settings.isRemote ? findToken(settings).token : null,
    isObserved: flags.get("mode") === "observe",
  });
}

/** On a terminal the client draws; whoever reads a file of remarks is told while it still helps. */
function watchSilence(call: ReadyCall, proxy: ClientProxy): NodeJS.Timeout {
  const say = () => {
    if (proxy.requests() !== 0 || process.stderr.isTTY === true || isQuiet(call)) return;
    call.screen.err("No request has come through Aperture yet; `aperture doctor` looks for the reason.");
  };
  return setTimeout(say, silentMs).unref();
}

function announce(call: ReadyCall, name: string, proxy: ClientProxy): void {
  const { version, settings, screen, world } = call;
  const isUnagreed = !settings.managesLogins && isClaude(name) && hasLogin(world);
  const wantedMode = call.flags.get("mode");
  const lines = announcement({ version, client: clientOf(name), proxy, wantedMode, isUnagreed });
  for (const line of lines) screen.err(line);
  const before = world.env["ANTHROPIC_BASE_URL"];
  if (before !== undefined && before !== "" && before.replace(/\/+$/, "") !== proxy.url) {
    screen.err(
      `ANTHROPIC_BASE_URL was ${printable(before, 200)} and is ${proxy.url} for this client. ` +
        "To go on there, start Aperture with APERTURE_UPSTREAM_ANTHROPIC set to the first.",
    );
  }
}
