import { openApi } from "../api/api-client.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Style } from "../format/paint.ts";
import { alignRows, type TableCell } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import type { VerbCall } from "../verb-call.ts";
import { checkClaude, checkClients } from "./client-check.ts";
import { type Diagnosis, failure, passed } from "./diagnosis.ts";
import { checkDirectory, checkMachine, checkToken } from "./file-check.ts";
import { checkProxy } from "./proxy-check.ts";
import { checkTraffic } from "./traffic-check.ts";
import { checkReach, checkUpstreams } from "./upstream-check.ts";

const askMs = 3_000;
const styles: Readonly<Record<Diagnosis["result"], Style>> = { ok: "green", warn: "yellow", fail: "red" };

/** Works with invalid settings too: they are one of its findings. */
export async function doctor(call: VerbCall): Promise<number> {
  const findings = await runChecks(call);
  if (wantsJson(call)) printJson(call, JSON.stringify({ v: 1, findings }));
  else printFindings(call, findings);
  if (findings.some(({ result }) => result === "fail")) return exitCodes.failed;
  return findings.some(({ result }) => result === "warn") ? exitCodes.warned : exitCodes.ok;
}

async function runChecks({ settingsResult: read, version, system }: VerbCall): Promise<readonly Diagnosis[]> {
  if (!read.ok) {
    return read.problems.map((problem) =>
      failure("settings", problem, "correct it in the environment, the config file or the options"),
    );
  }
  const { settings } = read;
  const api = openApi(settings, askMs);
  const proxy = await checkProxy(api, version);
  const aperture = { url: api.url, isRunning: proxy.isRunning };
  const upstream = proxy.health?.upstreams["anthropic"] ?? settings.upstreams.anthropic.href;
  const managesLogins = proxy.health?.managesLogins ?? settings.managesLogins;
  return [
    passed("settings", "valid"),
    ...checkMachine(settings),
    ...proxy.findings,
    ...(await checkReach(proxy.health, settings)),
    checkToken(settings, proxy.isRunning),
    checkDirectory(settings),
    checkUpstreams(settings),
    ...(await checkClients(system, aperture)),
    ...checkClaude(system, { upstream, managesLogins }),
    ...(proxy.health === null ? [] : await checkTraffic(api)),
  ];
}

function printFindings({ screen }: VerbCall, findings: readonly Diagnosis[]): void {
  const rows = findings.flatMap((finding): readonly (readonly TableCell[])[] => {
    const { about, result, says } = finding;
    const head = [{ text: result, style: styles[result] }, { text: about }, { text: says }];
    const fix = [{ text: "" }, { text: "" }, { text: `fix: ${"fix" in finding ? finding.fix : ""}` }];
    return result === "ok" ? [head] : [head, fix];
  });
  for (const line of alignRows(rows, screen.paint)) screen.out(line);
}
