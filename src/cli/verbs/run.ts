import { officialUpstreams, type Settings } from "../../config/index.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printable } from "../format/printable.ts";
import { runChild } from "../launch/child.ts";
import { clientEnvironment, isClaude } from "../launch/client-environment.ts";
import { findProgram } from "../launch/programs.ts";
import { type ClientProxy, proxyFor } from "../launch/proxy.ts";
import { findToken } from "../token.ts";
import { exitCodes } from "../usage.ts";

export async function run(call: ReadyCall): Promise<number> {
  const { operands, settings, version, world } = call;
  const [name = "", ...args] = operands;
  const file = findProgram(name, world);
  if (file === null) {
    const message = `The program ${printable(name, 80)} was not found on PATH. Install it, or give its path.`;
    return giveUp(call, { exit: exitCodes.unfound, message });
  }
  // A client may own the whole screen: what is to be said while it does waits until it has ended.
  const remarks: string[] = [];
  const proxy = await proxyFor({ settings, version, note: (line) => remarks.push(line) });
  if (!proxy.ok) return giveUp(call, proxy.problem);
  if (!isQuiet(call)) announce(call, proxy.value);
  for (const line of remarks.splice(0)) call.screen.err(printable(line, 500));
  const env = clientEnvironment({
    program: name,
    url: proxy.value.url,
    env: world.env,
    cwd: world.cwd,
    relayToken: settings.isRemote ? findToken(settings).token : null,
  });
  const end = await runChild({ file, args, env, isTerminal: process.stdin.isTTY === true });
  const count = proxy.value.requests();
  await proxy.value.close();
  for (const line of remarks) call.screen.err(printable(line, 500));
  if ("error" in end) {
    const message = `${printable(file, 200)} could not be started (${printable(end.error)}).`;
    return giveUp(call, { exit: exitCodes.unusable, message });
  }
  if (count === 0 && isClaude(name) && !isQuiet(call)) {
    call.screen.err("No request came through Aperture; `aperture doctor` looks for the reason.");
  }
  return end.exit;
}

function announce({ version, settings, screen, world }: ReadyCall, { url, isOwn }: ClientProxy): void {
  const place = url.replace(/^http:\/\//, "");
  const target = isOwn ? upstreamText(settings) : "the upstreams it was started with";
  const mode = isOwn ? `  mode ${settings.mode}` : "";
  screen.err(`aperture ${version}  proxy ${place} -> ${target}${mode}`);
  const before = world.env["ANTHROPIC_BASE_URL"];
  if (before !== undefined && before !== "" && before.replace(/\/+$/, "") !== url) {
    screen.err(
      `ANTHROPIC_BASE_URL was ${printable(before, 200)} and is ${url} for this client. ` +
        "To go on there, start Aperture with APERTURE_UPSTREAM_ANTHROPIC set to the first.",
    );
  }
}

function upstreamText({ upstreams }: Settings): string {
  const { origin, host } = upstreams.anthropic;
  return origin === officialUpstreams.anthropic ? "the official API" : host;
}
