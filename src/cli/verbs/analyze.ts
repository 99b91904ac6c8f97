import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type SessionReport, totalsOf } from "../../analysis/index.ts";
import { askedSessions } from "../analyze/asked-sessions.ts";
import { codeOf, type FoundSession } from "../analyze/find-files.ts";
import { htmlReport } from "../analyze/html.ts";
import { SessionLoader } from "../analyze/load-sessions.ts";
import { method, type Report } from "../analyze/report.ts";
import { reportAll } from "../analyze/report-all.ts";
import { textReport } from "../analyze/text.ts";
import type { Call } from "../call.ts";
import { isQuiet } from "../call.ts";
import { manyText } from "../format/numbers.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { openProgress } from "../progress.ts";
import { exitCodes } from "../usage.ts";

/** So many sessions take about a minute on two cores. */
const sessionsMax = 50;

/** Says what the user's own transcripts hold and cost. It needs no key and no proxy, and writes nothing. */
export async function analyze(call: Call): Promise<number> {
  const { flags, screen, world } = call;
  const found = askedSessions(call, "analyze");
  if (found.length === 0) return exitCodes.missing;
  const chosen = found.slice(0, Number(flags.get("limit") ?? sessionsMax));
  const report = await reportOf(call, chosen, found.length - chosen.length);
  if (report.sessions.length === 0) {
    screen.err("No request could be read from these transcripts.");
    for (const { file, problem } of report.problems) screen.err(`${file}: ${problem}`);
    return exitCodes.failed;
  }
  const html = flags.get("html");
  if (html !== undefined && !writeHtml(call, resolve(world.cwd, html), report)) return exitCodes.failed;
  if (wantsJson(call)) return printJson(call, JSON.stringify(report));
  for (const line of textReport(report, screen.paint)) screen.out(line);
  return exitCodes.ok;
}

/** The oldest first: a request that was copied into a later file counts where it was made. */
async function reportOf(call: Call, chosen: readonly FoundSession[], leftOut: number): Promise<Report> {
  const loader = new SessionLoader();
  const waiting = [...chosen].reverse();
  const reports: SessionReport[] = [];
  const progress = openProgress(call, { what: "sessions analysed", total: chosen.length });
  const next = () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const session = loader.load(one);
      if (session !== null) return session;
      progress.step();
    }
    return null;
  };
  await reportAll({
    next,
    count: chosen.length,
    done: (worked, { recording }) => {
      progress.step();
      if (worked.ok) reports.push(worked.report);
      else loader.problems.push({ file: recording.id, problem: worked.problem, count: 1, line: null });
    },
  });
  progress.end();
  reports.sort((a, b) => (b.startedMs ?? 0) - (a.startedMs ?? 0) || (a.id < b.id ? -1 : 1));
  const totals = totalsOf(reports);
  return { v: 1, totals, sessions: reports, leftOut, problems: loader.problems, method };
}

function writeHtml(call: Call, path: string, report: Report): boolean {
  const { screen, version } = call;
  try {
    writeFileSync(path, htmlReport(report, version));
    if (!isQuiet(call)) screen.err(`${path}: a report of ${manyText(report.sessions.length, "session")}`);
    return true;
  } catch (error) {
    screen.err(`${path} cannot be written: ${codeOf(error)}`);
    return false;
  }
}
