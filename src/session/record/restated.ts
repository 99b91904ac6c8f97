import type { BlockId } from "../../base/index.ts";
import { blocksOf, type Change, type Delta, factValue, placeOf, supersede } from "../../engine/index.ts";
import { contradictions, restates } from "../../levels/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "../read/stored-words.ts";
import { isKept, isOfModel } from "./kept-memory.ts";

/** More than this of an answer, and more memories than these, are not compared. */
const [answerCharsMax, memoriesMax] = [8_000, 40] as const;

export type Restated = { readonly reason: string; readonly deltas: readonly Delta[] };

/**
 * Memories that an answer says again or otherwise. They are marked as outdated by it, and stay in sight:
 * whether what was said is true, words do not tell. What is the user's is not marked: a model's word does
 * not make it outdated.
 */
export async function restatedMemories(
  change: Change,
  said: string,
  store: Pick<Store, "content">,
): Promise<readonly Restated[]> {
  const { moment, view } = change;
  const blocks = [...blocksOf(moment, view)];
  const newer = blocks.findLast(({ kind }) => kind === "assistant")?.id;
  const memories = blocks
    .filter(({ id, kind }) => kind === "memory" && mayBeMarked(change, id))
    .slice(-memoriesMax);
  const answer = said.slice(0, answerCharsMax);
  if (newer === undefined || answer.trim() === "") return [];
  const found: Restated[] = [];
  for (const { id, kind, content } of memories) {
    const stored = await store.content(content);
    const memory = stored.ok ? storedWords(stored.value, kind) : null;
    const reason = memory === null ? null : reasonFor(answer, memory);
    if (reason !== null) found.push({ reason, deltas: supersede(change, id, newer).deltas });
  }
  return found;
}

function mayBeMarked({ moment, view }: Change, id: BlockId): boolean {
  const place = placeOf(moment, view, id);
  if (place === null || factValue(place, "supersession") !== null) return false;
  return isKept(place) && isOfModel(place);
}

function reasonFor(answer: string, memory: string): string | null {
  const [first] = contradictions(answer, memory);
  if (first !== undefined) return `the model says otherwise: ${first.piece}`;
  return restates(answer, memory) ? "the model says it again" : null;
}
