import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type SessionReport, totalsOf } from "../../analysis/index.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { errorCode } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import type { VerbCall } from "../verb-call.ts";
import { isQuiet } from "../verb-call.ts";
import { htmlReport } from "./report-html.ts";
import { textReport } from "./report-text.ts";
import { reportAll } from "./report-threads.ts";
import { SessionLoader } from "./session-loader.ts";
import { chosenSessions, type TranscriptSession } from "./transcript-files.ts";
import { method, type UsageReport } from "./usage-report.ts";

/** This many sessions take about a minute on two cores. */
const sessionsMax = 50;

/** Analyzes the user's own transcripts. It needs no key and no proxy, and writes nothing. */
export async function analyze(call: VerbCall): Promise<number> {
  const { flags, screen, system } = call;
  const found = chosenSessions(call, "analyze");
  if (found.length === 0) return exitCodes.missing;
  const chosen = found.slice(0, Number(flags.get("limit") ?? sessionsMax));
  const report = await buildReport(call, chosen, found.length - chosen.length);
  if (report.sessions.length === 0) {
    screen.err("These transcripts contain no request that could be read.");
    for (const { file, problem } of report.problems) screen.err(`${file}: ${problem}`);
    return exitCodes.failed;
  }
  const html = flags.get("html");
  if (html !== undefined && !writeHtml(call, resolve(system.cwd, html), report)) return exitCodes.failed;
  if (wantsJson(call)) return printJson(call, JSON.stringify(report));
  for (const line of textReport(report, screen.paint)) screen.out(line);
  return exitCodes.ok;
}

/** The oldest session first: a request that was copied into a later file counts where it was made. */
async function buildReport(
  call: VerbCall,
  chosen: readonly TranscriptSession[],
  leftOut: number,
): Promise<UsageReport> {
  const loader = new SessionLoader();
  const waiting = [...chosen].reverse();
  const reports: SessionReport[] = [];
  const progress = openProgress(call, { what: "sessions analyzed", total: chosen.length });
  const next = () => {
    for (let found = waiting.shift(); found !== undefined; found = waiting.shift()) {
      const session = loader.load(found);
      if (session !== null) return session;
      progress.step();
    }
    return null;
  };
  await reportAll({
    next,
    count: chosen.length,
    done: (result, { recording }) => {
      progress.step();
      if (result.ok) reports.push(result.report);
      else loader.problems.push({ file: recording.id, problem: result.problem, count: 1, line: null });
    },
  });
  progress.end();
  reports.sort((a, b) => (b.startedMs ?? 0) - (a.startedMs ?? 0) || (a.id < b.id ? -1 : 1));
  const totals = totalsOf(reports);
  return { v: 1, totals, sessions: reports, leftOut, problems: loader.problems, method };
}

function writeHtml(call: VerbCall, path: string, report: UsageReport): boolean {
  const { screen, version } = call;
  try {
    writeFileSync(path, htmlReport(report, version));
    if (!isQuiet(call)) screen.err(`${path}: report on ${pluralText(report.sessions.length, "session")}`);
    return true;
  } catch (error) {
    screen.err(`${path} cannot be written: ${errorCode(error)}`);
    return false;
  }
}
