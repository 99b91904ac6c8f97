import type { CallFacts } from "./calls.ts";
import type { Carried } from "./walk.ts";

/** A call that was made more than once, with the tokens of all results but the first. */
export type SeenAgain = { readonly label: string; readonly times: number; readonly tokens: number };

export type Repeats = {
  readonly resultTokens: number;
  /** Of them in lines that stood in an earlier result. */
  readonly seenTokens: number;
  readonly calls: readonly SeenAgain[];
};

/** Shorter lines are brackets and blanks, which stand everywhere. */
const lineCharsMin = 10;

/** What is shown again is told by its lines: whole results are hardly ever the same to the letter. */
export function repeatsIn(
  streams: readonly (readonly Carried[])[],
  calls: ReadonlyMap<string, CallFacts>,
  rowsMax: number,
): Repeats {
  const again = new Map<string, { label: string; times: number; tokens: number }>();
  let [resultTokens, seenTokens] = [0, 0];
  for (const stream of streams) {
    const seen = new Set<string>();
    for (const { unit } of stream) {
      if (unit.run !== "result") continue;
      resultTokens += unit.tokens;
      seenTokens += unit.tokens * seenShare(unit.text, seen);
      const facts = calls.get(unit.callId ?? "");
      if (facts !== undefined) noteCall(again, facts, unit.tokens);
    }
  }
  const rows = [...again.values()].filter(({ times }) => times > 1);
  rows.sort((a, b) => b.tokens - a.tokens || b.times - a.times);
  return { resultTokens, seenTokens: Math.round(seenTokens), calls: rows.slice(0, rowsMax) };
}

function noteCall(
  again: Map<string, { label: string; times: number; tokens: number }>,
  { key, label }: CallFacts,
  tokens: number,
): void {
  const known = again.get(key);
  if (known === undefined) again.set(key, { label, times: 1, tokens: 0 });
  else again.set(key, { label, times: known.times + 1, tokens: known.tokens + tokens });
}

/** How much of a text stands in lines that were there before. From then on its own lines were, too. */
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
