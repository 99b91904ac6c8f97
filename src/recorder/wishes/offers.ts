import type { BlockId } from "../../base/index.ts";
import { latestUserMessage } from "../../commands/index.ts";
import type { View } from "../../engine/index.ts";
import {
  attributesOf,
  blockViewOf,
  factValue,
  isWithheld,
  type Moment,
  shownOf,
  streamOf,
  turnNow,
  viewBlocks,
} from "../../engine/moment/index.ts";
import type { Offer } from "../../notes/index.ts";
import { contentText } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";
import type { StreamRecall } from "../stream-recall.ts";

export type OffersInput = {
  readonly moment: Moment;
  readonly view: View;
  readonly store: Pick<Store, "content">;
  readonly recall: StreamRecall;
};

/** Few blocks are read for an offer, because it is a guess. */
const readsMax = 400;
const [hitsMax, offersMax, wordsMax, userCharsMax] = [12, 3, 12, 2_000] as const;
/** Number of the user's words that a block must contain. */
const sharedMin = 2;

/**
 * Archived blocks that the user's last message seems to need. Each is named by the words it shares with that
 * message: a line of ours must not contain text that the user did not write.
 */
export async function offersFor(input: OffersInput): Promise<readonly Offer[]> {
  const { moment, view, store, recall } = input;
  const text = await lastUserText(input);
  const userWords = distinctWords(text);
  if (userWords.length < sharedMin) return [];
  await recall.update({ moment, view, store, max: readsMax });
  const stream = streamOf(moment, view.stream);
  if (stream === null) return [];
  const hits = recall.find(text, { max: hitsMax, now: turnNow(moment, stream) });
  return hits
    .flatMap(({ block, excerpt }) => offerOf(input, block, sharedWords(userWords, excerpt.text)))
    .slice(0, offersMax);
}

function offerOf({ moment, view }: OffersInput, block: BlockId, words: readonly string[]): readonly Offer[] {
  const blockView = blockViewOf(moment, view, block);
  if (blockView === null || words.length < sharedMin) return [];
  const isShown = shownOf(moment, view, block) !== "placeholder";
  if (factValue(blockView, "archive") === null || isShown || isWithheld(blockView)) return [];
  const tokens = attributesOf(moment, block)?.tokens ?? null;
  return [
    { block, name: words.slice(0, 3).join(" "), tokens: tokens?.count ?? 0, exact: tokens?.exact ?? false },
  ];
}

async function lastUserText({ moment, view, store }: OffersInput): Promise<string> {
  const latest = latestUserMessage(moment, view);
  const texts: string[] = [];
  for (const block of viewBlocks(moment, view)) {
    if (block.kind !== "user" || block.message !== latest) continue;
    const stored = await store.content(block.content);
    texts.push((stored.ok ? contentText(stored.value, block) : null) ?? "");
  }
  return texts.join("\n").slice(0, userCharsMax);
}

/** Words that are long enough to identify a topic. */
function distinctWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_./-]{5,40}/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/[./-]+$/, "")))].slice(0, wordsMax);
}

function sharedWords(userWords: readonly string[], text: string): readonly string[] {
  const lowerCase = text.toLowerCase();
  return userWords.filter((word) => lowerCase.includes(word));
}
