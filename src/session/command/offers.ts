import type { BlockId } from "../../base/index.ts";
import { latestUserMessage } from "../../commands/index.ts";
import {
  blocksOf,
  factValue,
  isWithheld,
  type Moment,
  notesOf,
  placeOf,
  shownOf,
  streamOf,
  turnNow,
  type View,
} from "../../engine/index.ts";
import type { Offer } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "../read/stored-words.ts";
import type { StreamRecall } from "./stream-recall.ts";

export type OffersPlace = {
  readonly moment: Moment;
  readonly view: View;
  readonly store: Pick<Store, "content">;
  readonly recall: StreamRecall;
};

/** So many blocks are read anew for a hint at most: nobody has asked for it. */
const readsMax = 400;
const [hitsMax, offersMax, wordsMax, askedCharsMax] = [12, 3, 12, 2_000] as const;
/** So many of the user's words a block has to have. */
const sharedMin = 2;

/**
 * Archived blocks that the last words of the user seem to ask for. Each is called by the words it shares with
 * them: what somebody else wrote must not stand in a line of ours.
 */
export async function offersFor(place: OffersPlace): Promise<readonly Offer[]> {
  const { moment, view, store, recall } = place;
  const said = await lastWords(place);
  const asked = distinctWords(said);
  if (asked.length < sharedMin) return [];
  await recall.ready({ moment, view, store, max: readsMax });
  const stream = streamOf(moment, view.stream);
  if (stream === null) return [];
  const hits = recall.find(said, { max: hitsMax, now: turnNow(moment, stream) });
  return hits
    .flatMap(({ block, excerpt }) => offerOf(place, block, shared(asked, excerpt.text)))
    .slice(0, offersMax);
}

function offerOf({ moment, view }: OffersPlace, block: BlockId, words: readonly string[]): readonly Offer[] {
  const found = placeOf(moment, view, block);
  if (found === null || words.length < sharedMin) return [];
  const isSeen = shownOf(moment, view, block) !== "placeholder";
  if (factValue(found, "archive") === null || isSeen || isWithheld(found)) return [];
  const tokens = notesOf(moment, block)?.tokens ?? null;
  return [
    { block, name: words.slice(0, 3).join(" "), tokens: tokens?.count ?? 0, exact: tokens?.exact ?? false },
  ];
}

async function lastWords({ moment, view, store }: OffersPlace): Promise<string> {
  const latest = latestUserMessage(moment, view);
  const texts: string[] = [];
  for (const { kind, message, content } of blocksOf(moment, view)) {
    if (kind !== "user" || message !== latest) continue;
    const stored = await store.content(content);
    texts.push((stored.ok ? storedWords(stored.value, kind) : null) ?? "");
  }
  return texts.join("\n").slice(0, askedCharsMax);
}

/** Words that say what is meant: names, or words that are not short. */
function distinctWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_./-]{5,40}/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/[./-]+$/, "")))].slice(0, wordsMax);
}

function shared(asked: readonly string[], text: string): readonly string[] {
  const known = text.toLowerCase();
  return asked.filter((word) => known.includes(word));
}
