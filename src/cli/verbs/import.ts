import { join } from "node:path";
import { windowOf } from "../../config/index.ts";
import { type Imported, Importer } from "../../session/index.ts";
import { openSqliteStore, type Store } from "../../store/index.ts";
import type { GatheredSession, TranscriptProblem } from "../../transcripts/index.ts";
import { askedSessions } from "../analyze/asked-sessions.ts";
import type { FoundSession } from "../analyze/find-files.ts";
import { SessionLoader } from "../analyze/load-sessions.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { openApi } from "../client.ts";
import { lockData } from "../data-lock.ts";
import { manyText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import { exitCodes } from "../usage.ts";

/** What was done, for people and for `--json`. */
type ImportReport = {
  readonly v: 1;
  readonly sessions: readonly (Imported & { readonly client: string; readonly transcript: string })[];
  readonly problems: readonly TranscriptProblem[];
};

type Adding = (gathered: GatheredSession) => Promise<Outcome<Imported>>;

/** Writes transcripts into the log, where they can be looked at like any session. */
export async function importTranscripts(call: ReadyCall): Promise<number> {
  const { flags, settings } = call;
  const found = askedSessions(call, "import");
  if (found.length === 0) return exitCodes.missing;
  const chosen = found.slice(0, Number(flags.get("limit") ?? found.length));
  const lock = await lockData(settings.dataDir);
  // Who has the data writes it: another Aperture that runs is handed what was read, session by session.
  if (!lock.held) return told(call, await imported(call, chosen, throughApi(call)));
  const store = openSqliteStore({ path: join(settings.dataDir, "aperture.db") });
  try {
    return told(call, await imported(call, chosen, intoStore(call, store)));
  } finally {
    await store.close();
    lock.release();
  }
}

function intoStore({ world }: ReadyCall, store: Store): Adding {
  const importer = new Importer({ store, windowOf, secrets: secretsOf(world.env) });
  return async (gathered) => {
    const added = await importer.add(gathered);
    return added.ok ? succeed(added.value) : stop(exitCodes.failed, added.error.message);
  };
}

/** A session may be large, and one that is new takes its time. */
const answerMs = 600_000;

function throughApi({ settings, world }: ReadyCall): Adding {
  const api = openApi(settings, answerMs);
  return async (gathered) => {
    const text = JSON.stringify(gathered);
    const secrets = secretsOf(world.env).filter((secret) => text.includes(secret));
    const reply = await api.post<Imported>(apiPath("/import"), { gathered, secrets });
    return reply.ok ? succeed(reply.value.value) : reply;
  };
}

function told(call: ReadyCall, report: Outcome<ImportReport>): number {
  if (!report.ok) return giveUp(call, report.problem);
  return wantsJson(call) ? printJson(call, JSON.stringify(report.value)) : tell(call, report.value);
}

/** The oldest first, so that sessions stand in the log as they came. */
async function imported(
  call: ReadyCall,
  found: readonly FoundSession[],
  add: Adding,
): Promise<Outcome<ImportReport>> {
  const loader = new SessionLoader();
  const sessions: ImportReport["sessions"][number][] = [];
  const progress = openProgress(call, { what: "sessions imported", total: found.length });
  for (const one of [...found].reverse()) {
    progress.step();
    const gathered = loader.load(one);
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

/** Clients have their keys from the environment. */
function secretsOf(env: ReadyCall["world"]["env"]): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    secretName.test(name) && value !== undefined && value.length >= secretLengthMin ? [value] : [],
  );
}

function tell(call: ReadyCall, { sessions, problems }: ImportReport): number {
  const { screen } = call;
  for (const { client, transcript, session, added, known, lost, problem, masked } of sessions) {
    const parts = [
      added === 0 ? "nothing new" : `${manyText(added, "request")} added`,
      ...(known === 0 ? [] : [`${known} known`]),
      ...(masked === 0 ? [] : [`${manyText(masked, "credential")} masked`]),
      ...(lost === 0 ? [] : [`${lost} not recorded: ${printable(problem ?? "", 120)}`]),
    ];
    screen.out(`${session.slice(0, 8)}  ${client}  ${printable(transcript, 60)}  ${parts.join(", ")}`);
  }
  for (const { file, problem, count, line } of problems) {
    const place = line === null ? "" : `, first in line ${line}`;
    screen.err(`${printable(file, 200)}: ${count} ${printable(problem, 120)}${place}`);
  }
  const total = sessions.reduce((sum, { added }) => sum + added, 0);
  if (!isQuiet(call))
    screen.err(`${manyText(total, "request")} added from ${manyText(sessions.length, "session")}`);
  return sessions.some(({ lost }) => lost > 0) ? exitCodes.failed : exitCodes.ok;
}
