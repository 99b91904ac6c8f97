import { failLaw } from "./law-error.ts";
import type { Stream } from "./laws.ts";
import { type Message, type SeenUnit, textsIn, unitsOf } from "./seen-body.ts";
import { checkNamed, isLowered, isWholeAs, resultText, type ShownUnit } from "./shown-units.ts";

type Complete = {
  readonly stream: Stream;
  /** As the client means them. */
  readonly messages: readonly Message[];
  readonly purpose: string;
};

/** One thing the client says, and what stands for it. */
type Pair = {
  readonly want: string;
  readonly have: string;
  readonly source: SeenUnit;
  /** Several where texts of one answer stand for one that the client has joined. */
  readonly shown: readonly ShownUnit[];
};

/** Everything the client says is there, in order, once: whole, or shorter under its number. */
export function checkComplete({ stream, messages, purpose }: Complete, units: readonly ShownUnit[]): void {
  const client = unitsOf(messages);
  const wanted = textsIn(client);
  const seen = textsIn(units);
  for (let at = 0; at < Math.max(wanted.length, seen.length); at += 1) {
    const [want, have] = [wanted[at], seen[at]];
    const source = client[want?.end ?? -1];
    const shown = units.slice((seen[at - 1]?.end ?? -1) + 1, (have?.end ?? -1) + 1).filter(isSpoken);
    const isThere =
      want !== undefined &&
      have !== undefined &&
      source !== undefined &&
      stands({ want: want.says, have: have.says, source, shown }, stream, units);
    if (isThere) continue;
    const what = `unit ${at}: wanted ${want?.says.slice(0, 200)}, found ${have?.says.slice(0, 200)}`;
    failLaw(`L4 complete (${purpose})`, what, shown.map(({ block }) => block).join("\n"));
  }
}

function isSpoken({ says, isOwn }: ShownUnit): boolean {
  return says !== null && !isOwn;
}

function stands(pair: Pair, stream: Stream, units: readonly ShownUnit[]): boolean {
  const { want, have, source, shown } = pair;
  const asked = isShownText(stream, want, have);
  if (asked !== null) return asked;
  if (startOf(want) !== startOf(have)) return false;
  const lowered = shown.filter(isLowered);
  // What the provider leaves out is sent as it was, and named elsewhere.
  for (const unit of lowered) if (unit.report?.cleared !== true) checkNamed(unit);
  if (lowered.length > 0) return true;
  const [unit] = shown;
  return unit !== undefined && want.startsWith("result ") && isWholeAs(unit, units, resultText(source));
}

/** Who says it, and to which call a result belongs: that is never changed. */
function startOf(says: string): string {
  return /^(?:result|call) \S+|^\S+/.exec(says)?.[0] ?? "";
}

/** Whether it is said as the user wants it; null: not in these words. */
function isShownText(stream: Stream, want: string, have: string): boolean | null {
  const { withheld, withheldCalls, onceWithheld, rewritten } = stream;
  for (const [start, instead] of withheldCalls) if (want.startsWith(start)) return have.includes(instead);
  for (const [words, instead] of withheld) if (want.includes(words)) return have.includes(instead);
  for (const [start, instead] of onceWithheld)
    if (want.startsWith(start) && have === `${start}${instead}`) return true;
  return want === have || rewritten.get(want)?.has(have) === true ? true : null;
}
