import type { ReplayAnswer } from "../../control/index.ts";
import { tokensText } from "./number-text.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";

const messageColumnsMax = 2_000;

/** The verdict of the strict model, and how much of the prompt was in its cache. */
export function replayLines({ exchange, verdict, behind }: ReplayAnswer, paint: Paint): readonly string[] {
  const head = `request ${exchange}, checked with the built-in strict model; nothing was sent`;
  const { accepted, status } = verdict;
  const result = accepted ? paint("green", "accepted") : paint("red", "refused");
  if (!accepted)
    return [head, `${result}: ${status} ${verdict.type}`, printable(verdict.message, messageColumnsMax)];
  if (verdict.prompt === null) return [head, `${result}: ${status}`];
  const { tokens, cacheRead } = verdict.prompt;
  const read = cacheRead === 0 ? "none" : `~${tokensText(cacheRead)}`;
  const cache =
    behind?.accepted === true
      ? `${read} of it from the cache of request ${behind.exchange}`
      : "with an empty cache";
  return [head, `${result}: ${status}, a prompt of ~${tokensText(tokens)}, ${cache}`];
}
