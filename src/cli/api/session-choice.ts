import type { PricedSessionDetail } from "../../control/index.ts";
import type { SessionsPage } from "../../queries/answers/index.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import type { ReadyCall } from "../verb-call.ts";
import type { Api } from "./api-client.ts";
import { apiPath, lastWord, sessionPath } from "./api-path.ts";

const sessionsMax = 1_000;
const namedMax = 5;

/** The session that the user named after the verb or with `--session`, else `last`. */
export function sessionArgument({ flags }: Pick<ReadyCall, "flags">, operand?: string): string {
  return operand ?? flags.get("session") ?? lastWord;
}

/** Finds a session by its id, by the start of an id if only one session has it, or by `last`. */
export async function findSession(api: Api, word: string): Promise<CliResult<PricedSessionDetail>> {
  const exact = await api.json<PricedSessionDetail>(sessionPath(word));
  if (exact.ok) return succeed(exact.value.value);
  if (exact.problem.exit !== exitCodes.missing) return exact;
  if (word === lastWord) return stop(exitCodes.missing, noSessionText);
  const found = await idsStartingWith(api, word);
  if (!found.ok) return found;
  const [first, second] = found.value;
  if (first === undefined) return stop(exitCodes.missing, unknownSessionText(word));
  if (second !== undefined) return stop(exitCodes.missing, ambiguousSessionText(word, found.value));
  const detail = await api.json<PricedSessionDetail>(sessionPath(first));
  return detail.ok ? succeed(detail.value.value) : detail;
}

async function idsStartingWith(api: Api, word: string): Promise<CliResult<readonly string[]>> {
  const page = await api.json<SessionsPage>(apiPath("/sessions", { limit: sessionsMax }));
  if (!page.ok) return page;
  return succeed(page.value.value.rows.map(({ id }) => id).filter((id) => id.startsWith(word.toLowerCase())));
}

const noSessionText =
  "No session has been recorded yet. Send a request through Aperture, for example with `aperture run claude`.";

function unknownSessionText(word: string): string {
  return `There is no session ${printable(word, 80)}. \`aperture sessions\` lists them.`;
}

function ambiguousSessionText(word: string, ids: readonly string[]): string {
  const shown = ids.slice(0, namedMax).join(", ");
  return `${ids.length} sessions start with ${printable(word, 80)}: ${shown}. Give more of the id.`;
}
