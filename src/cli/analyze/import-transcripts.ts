import { join } from "node:path";
import { windowOf } from "../../config/index.ts";
import { type ImportResult, TranscriptImporter } from "../../recorder/index.ts";
import { openSqliteStore, type Store } from "../../store/index.ts";
import type { GatheredSession, TranscriptProblem } from "../../transcripts/index.ts";
import { openApi } from "../api/api-client.ts";
import { apiPath } from "../api/api-path.ts";
import { lockData } from "../app/data-lock.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { SessionLoader } from "./session-loader.ts";
import type { TranscriptSession } from "./transcript-files.ts";
import { chosenSessions } from "./transcript-files.ts";

/** The result for people and for `--json`. */
type ImportReport = {
  readonly v: 1;
  readonly sessions: readonly (ImportResult & { readonly client: string; readonly transcript: string })[];
  readonly problems: readonly TranscriptProblem[];
};

type AddSession = (gathered: GatheredSession) => Promise<CliResult<ImportResult>>;

/** Imports transcripts as sessions in the log. */
export async function importTranscripts(call: ReadyCall): Promise<number> {
  const { flags, settings } = call;
  const found = chosenSessions(call, "import");
  if (found.length === 0) return exitCodes.missing;
  const chosen = found.slice(0, Number(flags.get("limit") ?? found.length));
  const lock = await lockData(settings.dataDir);
  // Only the process that holds the data may write it, so a running Aperture gets one session after the
  // other.
  if (!lock.held) return printResult(call, await importAll(call, chosen, addThroughApi(call)));
  const store = openSqliteStore({ path: join(settings.dataDir, "aperture.db") });
  try {
    return printResult(call, await importAll(call, chosen, addToStore(call, store)));
  } finally {
    await store.close();
    lock.release();
  }
}

function addToStore({ system }: ReadyCall, store: Store): AddSession {
  const importer = new TranscriptImporter({ store, windowOf, secrets: secretsOf(system.env) });
  return async (gathered) => {
    const added = await importer.add(gathered);
    return added.ok ? succeed(added.value) : stop(exitCodes.failed, added.error.message);
  };
}

/** Importing a large session takes longer than a usual answer. */
const answerMs = 600_000;

function addThroughApi({ settings, system }: ReadyCall): AddSession {
  const api = openApi(settings, answerMs);
  return async (gathered) => {
    const text = JSON.stringify(gathered);
    const secrets = secretsOf(system.env).filter((secret) => text.includes(secret));
    const reply = await api.post<ImportResult>(apiPath("/import"), { gathered, secrets });
    return reply.ok ? succeed(reply.value.value) : reply;
  };
}

function printResult(call: ReadyCall, report: CliResult<ImportReport>): number {
  if (!report.ok) return reportProblem(call, report.problem);
  return wantsJson(call) ? printJson(call, JSON.stringify(report.value)) : printReport(call, report.value);
}

/** The oldest session first, so that the log keeps their order. */
async function importAll(
  call: ReadyCall,
  found: readonly TranscriptSession[],
  add: AddSession,
): Promise<CliResult<ImportReport>> {
  const loader = new SessionLoader();
  const sessions: ImportReport["sessions"][number][] = [];
  const progress = openProgress(call, { what: "sessions imported", total: found.length });
  for (const transcript of [...found].reverse()) {
    progress.step();
    const gathered = loader.load(transcript);
    if (gathered === null) continue;
    const { client, recording } = gathered;
    const added = await add(gathered);
    if (added.ok) sessions.push({ client, transcript: recording.id, ...added.value });
    else if (added.problem.exit === exitCodes.failed)
      loader.problems.push({ file: recording.id, problem: added.problem.message, count: 1, line: null });
    else {
      progress.end();
      return added;
    }
  }
  progress.end();
  return succeed({ v: 1, sessions, problems: loader.problems });
}

const secretName = /key|token|secret|password|credential/i;
const secretLengthMin = 12;

/** Clients read their keys from the environment. */
function secretsOf(env: ReadyCall["system"]["env"]): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    secretName.test(name) && value !== undefined && value.length >= secretLengthMin ? [value] : [],
  );
}

function printReport(call: ReadyCall, { sessions, problems }: ImportReport): number {
  const { screen } = call;
  for (const { client, transcript, session, added, known, lost, problem, masked } of sessions) {
    const parts = [
      added === 0 ? "nothing new" : `${pluralText(added, "request")} added`,
      ...(known === 0 ? [] : [`${known} already known`]),
      ...(masked === 0 ? [] : [`${pluralText(masked, "credential")} masked`]),
      ...(lost === 0 ? [] : [`${lost} not recorded: ${printable(problem ?? "", 120)}`]),
    ];
    screen.out(`${session.slice(0, 8)}  ${client}  ${printable(transcript, 60)}  ${parts.join(", ")}`);
  }
  for (const { file, problem, count, line } of problems) {
    const where = line === null ? "" : `, first in line ${line}`;
    screen.err(`${printable(file, 200)}: ${count} ${printable(problem, 120)}${where}`);
  }
  const total = sessions.reduce((sum, { added }) => sum + added, 0);
  if (!isQuiet(call))
    screen.err(`${pluralText(total, "request")} added from ${pluralText(sessions.length, "session")}`);
  return sessions.some(({ lost }) => lost > 0) ? exitCodes.failed : exitCodes.ok;
}
