import type { Rewriting } from "./choosing.ts";
import { bytesOf, type Place } from "./place.ts";
import { type Reworded, type Rewrite, type Rewritten, replacedWords, rewritePath } from "./rewrite.ts";
import { wordsAs } from "./wanted.ts";
import { type Withheld, withheldWords } from "./withheld.ts";

export type RewriteAsked = {
  readonly withheld: Withheld;
  /** Words somebody has chosen. */
  readonly asked: Rewrite | null;
  /** Levels that are wanted, at a moment that is right for them. */
  readonly chosen: Rewriting | null;
  readonly nonce: string;
};

/** A path with all that is to be shown otherwise; what is withheld comes before anything else. */
export function rewrittenFor(end: Place, { withheld, asked, chosen, nonce }: RewriteAsked): Rewritten | null {
  if (asked === null && chosen === null && withheld.size === 0) return null;
  const wordsFor = (place: Place): Reworded | undefined => {
    const wanted = chosen?.wanted.get(place);
    return (
      withheldWords(withheld, place.facts) ??
      replacedWords(asked?.replacements, place.facts) ??
      (wanted === undefined ? undefined : wordsAs({ ...place, bytes: bytesOf(place) }, wanted, nonce))
    );
  };
  const reason = asked?.reason ?? chosen?.reason ?? "user";
  const { bill = null, freed = 0 } = chosen ?? {};
  return rewritePath(end, { wordsFor, reason, bill, freed });
}
