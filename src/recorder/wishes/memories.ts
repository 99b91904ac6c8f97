import type { BlockId } from "../../base/index.ts";
import type { Delta } from "../../engine/frames/index.ts";
import { type ChangeContext, changes, type State, type View } from "../../engine/index.ts";
import {
  attributesOf,
  blockViewOf,
  factValue,
  isWithheld,
  now,
  viewBlocks,
} from "../../engine/moment/index.ts";
import { contradictions, restates } from "../../levels/index.ts";
import type { ShownMemory } from "../../notes/index.ts";
import { isMemoryKept, mayModelChangeMemory } from "../../policy/index.ts";
import { contentText } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";

/** Limits of the comparison: characters of the answer, and newest memories. */
const [answerCharsMax, memoriesMax] = [8_000, 40] as const;

/** Marks one memory as outdated. */
export type MemoryMark = { readonly reason: string; readonly deltas: readonly Delta[] };

/**
 * Marks memories that an answer repeats or contradicts as outdated. They stay visible, because the text does
 * not prove that the answer is right. Memories of the user are not marked: an answer of the model does not
 * outdate them.
 */
export async function restatedMemories(
  change: ChangeContext,
  answer: string,
  store: Pick<Store, "content">,
): Promise<readonly MemoryMark[]> {
  const { moment, view } = change;
  const blocks = [...viewBlocks(moment, view)];
  const newer = blocks.findLast(({ kind }) => kind === "assistant")?.id;
  const memories = blocks
    .filter(({ id, kind }) => kind === "memory" && mayBeMarked(change, id))
    .slice(-memoriesMax);
  const compared = answer.slice(0, answerCharsMax);
  if (newer === undefined || compared.trim() === "") return [];
  const marks: MemoryMark[] = [];
  for (const block of memories) {
    const stored = await store.content(block.content);
    const memory = stored.ok ? contentText(stored.value, block) : null;
    const reason = memory === null ? null : reasonFor(compared, memory);
    if (reason !== null) marks.push({ reason, deltas: changes.supersede(change, block.id, newer).deltas });
  }
  return marks;
}

function mayBeMarked({ moment, view }: ChangeContext, id: BlockId): boolean {
  const blockView = blockViewOf(moment, view, id);
  if (blockView === null || factValue(blockView, "supersession") !== null) return false;
  return isMemoryKept(blockView) && mayModelChangeMemory(blockView);
}

function reasonFor(answer: string, memory: string): string | null {
  const [first] = contradictions(answer, memory);
  if (first !== undefined) return `the model says otherwise: ${first.piece}`;
  return restates(answer, memory) ? "the model says it again" : null;
}

/** The memories of a view that the model is shown: kept, and neither withheld nor purged. */
export async function shownMemories(
  state: State,
  view: View,
  store: Pick<Store, "content">,
): Promise<readonly ShownMemory[]> {
  const moment = now(state);
  const shown: ShownMemory[] = [];
  for (const block of viewBlocks(moment, view)) {
    const { id, kind, content, taint } = block;
    const blockView = kind === "memory" ? blockViewOf(moment, view, id) : null;
    if (blockView === null || !isMemoryKept(blockView) || isWithheld(blockView)) continue;
    if (attributesOf(moment, id)?.purged === true) continue;
    const stored = await store.content(content);
    const text = stored.ok ? contentText(stored.value, block) : null;
    if (text !== null) shown.push({ block: id, text, taint });
  }
  return shown;
}
