import { join, resolve } from "node:path";
import type { BackupReport, GcReport, VerifyReport } from "../../store/index.ts";
import { apiPath } from "../api/api-path.ts";
import { exitCodes } from "../exit-codes.ts";
import { bytesText, pluralText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { withApi } from "../with-api.ts";

export async function backup(call: ReadyCall): Promise<number> {
  const path = resolve(call.operands[0] ?? usualFile(call));
  return await withApi(call, "backup", async (ready) => {
    const reply = await ready.api.post<BackupReport>(apiPath("/backup"), { path });
    if (!reply.ok) return reportProblem(ready, reply.problem);
    if (wantsJson(ready)) return printJson(ready, reply.value.text);
    ready.screen.out(printable(reply.value.value.path));
    if (!isQuiet(ready)) ready.screen.err(`${bytesText(reply.value.value.bytes)} written`);
    return exitCodes.ok;
  });
}

/** Beside the data and named after the time, so that no backup replaces another. */
function usualFile({ settings, system }: ReadyCall): string {
  const stamp = new Date(system.nowMs())
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "-");
  return join(settings.dataDir, `backup-${stamp}.db`);
}

export async function gc(call: ReadyCall): Promise<number> {
  return await withApi(call, "gc", async (ready) => {
    const reply = await ready.api.post<GcReport>(apiPath("/gc"), {});
    if (!reply.ok) return reportProblem(ready, reply.problem);
    if (wantsJson(ready)) return printJson(ready, reply.value.text);
    const { contents, pages, freedBytes } = reply.value.value;
    const deleted = `${pluralText(contents, "content")} and ${pluralText(pages, "page")}`;
    ready.screen.out(`deleted ${deleted}, freed ${bytesText(freedBytes)}`);
    return exitCodes.ok;
  });
}

export async function verify(call: ReadyCall): Promise<number> {
  const scope = call.flags.has("tail") ? "tail" : "all";
  return await withApi(call, "verify", async (ready) => {
    const reply = await ready.api.post<VerifyReport>(apiPath("/verify"), { scope });
    if (!reply.ok) return reportProblem(ready, reply.problem);
    const report = reply.value.value;
    if (wantsJson(ready)) printJson(ready, reply.value.text);
    else show(ready, report);
    return report.damage.length === 0 ? exitCodes.ok : exitCodes.failed;
  });
}

function show({ screen }: ReadyCall, report: VerifyReport): void {
  const { sessions, frames, contents, bodies, pages, damage } = report;
  const looked =
    report.scope === "all"
      ? [pluralText(contents, "content"), `${bodies} bodies`, pluralText(pages, "page")]
      : ["the newest frames of every session"];
  const found = damage.length === 0 ? "no damage" : `${damage.length} damaged`;
  screen.out([pluralText(sessions, "session"), pluralText(frames, "frame"), ...looked, found].join(", "));
  for (const { where, problem } of damage) screen.out(`${printable(where, 80)}: ${printable(problem, 200)}`);
}
