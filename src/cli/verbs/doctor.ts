import type { Call } from "../call.ts";
import { openApi } from "../client.ts";
import { checkClaude } from "../doctor/claude.ts";
import { checkClients } from "../doctor/clients.ts";
import { checkDirectory, checkToken } from "../doctor/files.ts";
import { broken, type Finding, fine } from "../doctor/finding.ts";
import { checkMachine } from "../doctor/machine.ts";
import { checkProxy, checkUpstreams } from "../doctor/proxy.ts";
import { checkTraffic } from "../doctor/traffic.ts";
import { checkReach } from "../doctor/upstreams.ts";
import type { Style } from "../format/paint.ts";
import { aligned, type Cell } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { exitCodes } from "../usage.ts";

const askMs = 3_000;
const styles: Readonly<Record<Finding["result"], Style>> = { ok: "green", warn: "yellow", fail: "red" };

/** Works with settings that cannot be used, too: that is one of the things it finds. */
export async function doctor(call: Call): Promise<number> {
  const findings = await findAll(call);
  if (wantsJson(call)) printJson(call, JSON.stringify({ v: 1, findings }));
  else show(call, findings);
  if (findings.some(({ result }) => result === "fail")) return exitCodes.failed;
  return findings.some(({ result }) => result === "warn") ? exitCodes.warned : exitCodes.ok;
}

async function findAll({ read, version, world }: Call): Promise<readonly Finding[]> {
  if (!read.ok) {
    return read.problems.map((problem) =>
      broken("settings", problem, "correct it in the environment, the config file or the flags"),
    );
  }
  const { settings } = read;
  const api = openApi(settings, askMs);
  const proxy = await checkProxy(api, version);
  const us = { url: api.url, isRunning: proxy.isRunning };
  const upstream = proxy.health?.upstreams["anthropic"] ?? settings.upstreams.anthropic.href;
  return [
    fine("settings", "can be used"),
    ...checkMachine(settings),
    ...proxy.findings,
    ...(await checkReach(proxy.health, settings)),
    checkToken(settings, proxy.isRunning),
    checkDirectory(settings),
    checkUpstreams(settings),
    ...(await checkClients(world, us)),
    ...checkClaude(world, { upstream, managesLogins: settings.managesLogins }),
    ...(proxy.health === null ? [] : await checkTraffic(api)),
  ];
}

function show({ screen }: Call, findings: readonly Finding[]): void {
  const rows = findings.flatMap((finding): readonly (readonly Cell[])[] => {
    const { about, result, says } = finding;
    const head = [{ text: result, style: styles[result] }, { text: about }, { text: says }];
    const fix = [{ text: "" }, { text: "" }, { text: `fix: ${"fix" in finding ? finding.fix : ""}` }];
    return result === "ok" ? [head] : [head, fix];
  });
  for (const line of aligned(rows, screen.paint)) screen.out(line);
}
