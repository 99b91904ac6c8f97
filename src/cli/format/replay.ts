import type { ReplayAnswer } from "../../control/index.ts";
import { tokensText } from "./numbers.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";

const wordsMax = 2_000;

/** What the strict model says, and what was in its cache. */
export function replayLines({ exchange, verdict, behind }: ReplayAnswer, paint: Paint): readonly string[] {
  const head = `request ${exchange}, replayed against the strict model inside: nothing was sent`;
  const { accepted, status } = verdict;
  const word = accepted ? paint("green", "accepted") : paint("red", "refused");
  if (!accepted) return [head, `${word}: ${status} ${verdict.type}`, printable(verdict.message, wordsMax)];
  if (verdict.prompt === null) return [head, `${word}: ${status}`];
  const { tokens, cacheRead } = verdict.prompt;
  const read = cacheRead === 0 ? "none" : `~${tokensText(cacheRead)}`;
  const cache =
    behind?.accepted === true
      ? `${read} of it from the cache behind request ${behind.exchange}`
      : "with nothing in the cache";
  return [head, `${word}: ${status}, a prompt of ~${tokensText(tokens)}, ${cache}`];
}
