import type { RewriteReason } from "../../engine/index.ts";
import type { Rewriting } from "./choosing.ts";
import { editBehind, hasCleared } from "./clearing.ts";
import type { Item } from "./draft.ts";
import { bytesOf, clearedShowing, isBlock, type Place } from "./place.ts";
import { asPlaceholder } from "./pruning.ts";
import { type Reworded, type Rewrite, type Rewritten, replacedWords, rewritePath } from "./rewrite.ts";
import { wordsAs } from "./wanted.ts";
import { placeWords, type Withheld } from "./withheld.ts";

export type RewriteAsked = {
  readonly withheld: Withheld;
  /** Words somebody has chosen. */
  readonly asked: Rewrite | null;
  /** Levels that are wanted, at a moment that is right for them. */
  readonly chosen: Rewriting | null;
  /** What comes behind the path in any case. */
  readonly items: readonly Item[];
  /** Whether the provider may be asked to leave results out, and why it is not where it was before. */
  readonly mayEdit: boolean;
  readonly otherwise: RewriteReason;
  readonly nonce: string;
};

/** A path with all that is to be shown otherwise; what is withheld comes before anything else. */
export function rewrittenFor(end: Place, rewrite: RewriteAsked): Rewritten | null {
  const rewritten = rewrittenAs(end, { ...rewrite, lapsed: null });
  const from = rewritten?.cut ?? end;
  const behind = [...(rewritten?.items ?? []), ...rewrite.items];
  const isPossible = rewrite.mayEdit && editBehind(from, behind) !== null;
  if (!hasCleared(from, behind) || isPossible) return rewritten;
  // The provider cannot be asked any more for what it has left out: we prune it ourselves.
  return rewrittenAs(end, { ...rewrite, lapsed: rewrite.otherwise });
}

type Lapsing = RewriteAsked & { readonly lapsed: RewriteReason | null };

function rewrittenAs(end: Place, rewrite: Lapsing): Rewritten | null {
  const { withheld, asked, chosen, lapsed } = rewrite;
  if (asked === null && chosen === null && lapsed === null && withheld.size === 0) return null;
  const isEdit = chosen?.means === "provider" && lapsed === null;
  const edited = isEdit ? rewrittenBy(end, rewrite, "provider") : null;
  // Where something is said in other words besides, reasoning is lost anyway, and ours say more.
  return edited?.items.every(isUnchanged) === true ? edited : rewrittenBy(end, rewrite, "own");
}

function isUnchanged({ from, bytes }: Rewritten["items"][number]): boolean {
  return from !== null && Buffer.compare(bytes, bytesOf(from)) === 0;
}

function rewrittenBy(end: Place, rewrite: Lapsing, means: Rewritten["means"]): Rewritten | null {
  const { withheld, asked, chosen, lapsed, nonce } = rewrite;
  const wordsFor = (place: Place): Reworded | undefined => {
    const hidden = placeWords(withheld, place);
    // Of our own lines nothing else is said otherwise.
    if (hidden !== undefined || !isBlock(place)) return hidden;
    const isLapsed = lapsed !== null && place.showing.isCleared === true;
    const wanted = chosen?.wanted.get(place) ?? (isLapsed ? asPlaceholder(place) : null);
    return (
      replacedWords(asked?.replacements, place.facts) ??
      (wanted === null ? undefined : wordsBy(means, place, { wanted, nonce }))
    );
  };
  const reason = asked?.reason ?? chosen?.reason ?? lapsed ?? "user";
  const { bill = null, freed = 0 } = chosen ?? {};
  return rewritePath(end, { wordsFor, reason, means, bill, freed });
}

type Wished = { readonly wanted: Parameters<typeof wordsAs>[1]; readonly nonce: string };

/** The provider takes away what stays as it was sent. */
function wordsBy(means: Rewritten["means"], place: Place, { wanted, nonce }: Wished): Reworded | undefined {
  const bytes = bytesOf(place);
  if (means === "provider") return { bytes: Uint8Array.from(bytes), showing: clearedShowing };
  return wordsAs({ ...place, bytes }, wanted, nonce);
}
