import type { CallFacts } from "./call-facts.ts";
import type { CarriedUnit } from "./carried-units.ts";

/** A call that was made more than once, with the tokens of all results but the first. */
export type RepeatedCall = { readonly label: string; readonly times: number; readonly tokens: number };

export type RepeatedResults = {
  readonly resultTokens: number;
  /** Tokens of lines that stood in an earlier result. */
  readonly seenTokens: number;
  readonly calls: readonly RepeatedCall[];
};

/** Shorter lines are brackets and blanks, which occur everywhere. */
const lineCharsMin = 10;

/** Finds repeated content by its lines, because whole results are hardly ever exactly the same. */
export function repeatsIn(
  streams: readonly (readonly CarriedUnit[])[],
  calls: ReadonlyMap<string, CallFacts>,
  rowsMax: number,
): RepeatedResults {
  const calledBefore = new Map<string, { label: string; times: number; tokens: number }>();
  let [resultTokens, seenTokens] = [0, 0];
  for (const stream of streams) {
    const seen = new Set<string>();
    for (const { unit } of stream) {
      if (unit.run !== "result") continue;
      resultTokens += unit.tokens;
      seenTokens += unit.tokens * seenShare(unit.text, seen);
      const facts = calls.get(unit.callId ?? "");
      if (facts !== undefined) addCall(calledBefore, facts, unit.tokens);
    }
  }
  const rows = [...calledBefore.values()].filter(({ times }) => times > 1);
  rows.sort((a, b) => b.tokens - a.tokens || b.times - a.times);
  return { resultTokens, seenTokens: Math.round(seenTokens), calls: rows.slice(0, rowsMax) };
}

function addCall(
  calledBefore: Map<string, { label: string; times: number; tokens: number }>,
  { key, label }: CallFacts,
  tokens: number,
): void {
  const known = calledBefore.get(key);
  if (known === undefined) calledBefore.set(key, { label, times: 1, tokens: 0 });
  else calledBefore.set(key, { label, times: known.times + 1, tokens: known.tokens + tokens });
}

/** The share of a text that stands in lines seen before. Adds its lines to those seen. */
function seenShare(text: string, seen: Set<string>): number {
  const lines = text.split("\n").map((line) => line.trim());
  const fresh: string[] = [];
  let [chars, known] = [0, 0];
  for (const line of lines) {
    chars += line.length;
    if (line.length < lineCharsMin) continue;
    if (seen.has(line)) known += line.length;
    else fresh.push(line);
  }
  for (const line of fresh) seen.add(line);
  return chars === 0 ? 0 : known / chars;
}
