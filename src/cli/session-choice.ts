import type { PricedSessionDetail } from "../control/index.ts";
import type { SessionsPage } from "../session/index.ts";
import { apiPath, lastWord, sessionPath } from "./api-path.ts";
import type { ReadyCall } from "./call.ts";
import type { Api } from "./client.ts";
import { printable } from "./format/printable.ts";
import { type Outcome, stop, succeed } from "./outcome.ts";
import { exitCodes } from "./usage.ts";

const sessionsLookedAt = 1_000;
const namedMax = 5;

/** The word for a session, as it was given: behind the verb, behind `--session`, or not at all. */
export function sessionWord({ flags }: Pick<ReadyCall, "flags">, operand?: string): string {
  return operand ?? flags.get("session") ?? lastWord;
}

/** Ids are long. The start of one is enough where only one begins so. */
export async function findSession(api: Api, word: string): Promise<Outcome<PricedSessionDetail>> {
  const exact = await api.json<PricedSessionDetail>(sessionPath(word));
  if (exact.ok) return succeed(exact.value.value);
  if (exact.problem.exit !== exitCodes.missing) return exact;
  if (word === lastWord) return stop(exitCodes.missing, noneYet);
  const found = await idsBeginning(api, word);
  if (!found.ok) return found;
  const [first, second] = found.value;
  if (first === undefined) return stop(exitCodes.missing, unknownSession(word));
  if (second !== undefined) return stop(exitCodes.missing, severalBegin(word, found.value));
  const detail = await api.json<PricedSessionDetail>(sessionPath(first));
  return detail.ok ? succeed(detail.value.value) : detail;
}

async function idsBeginning(api: Api, word: string): Promise<Outcome<readonly string[]>> {
  const page = await api.json<SessionsPage>(apiPath("/sessions", { limit: sessionsLookedAt }));
  if (!page.ok) return page;
  return succeed(page.value.value.rows.map(({ id }) => id).filter((id) => id.startsWith(word.toLowerCase())));
}

const noneYet =
  "No session has been recorded yet. Send a request through Aperture, for instance with `aperture run claude`.";

function unknownSession(word: string): string {
  return `There is no session ${printable(word, 80)}. \`aperture sessions\` lists them.`;
}

function severalBegin(word: string, ids: readonly string[]): string {
  const shown = ids.slice(0, namedMax).join(", ");
  return `${ids.length} sessions begin with ${printable(word, 80)}: ${shown}. Give more of the id.`;
}
