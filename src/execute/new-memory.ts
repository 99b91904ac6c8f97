import { blockId, hashContent, messageId, must } from "../base/index.ts";
import type { NewMemory } from "../commands/index.ts";
import { textContent } from "../content/index.ts";
import type { AddedBlock, Delta } from "../engine/frames/index.ts";
import { type ChangeContext, changes } from "../engine/index.ts";
import { blockViewOf, viewBlocks } from "../engine/moment/index.ts";
import { covers } from "../levels/index.ts";
import type { IdPool } from "../log/index.ts";
import { isMemoryKept, mayModelChangeMemory } from "../policy/index.ts";
import { contentText } from "../protocols/index.ts";
import type { HashedContent, Store } from "../store/index.ts";
import { estimateText } from "../tokens/index.ts";

/** The deltas and contents that add a memory. */
export type MemoryChange = {
  /** Appended before `deltas`, without a step: a reserved id is never given back. */
  readonly reserved: readonly Delta[];
  readonly deltas: readonly Delta[];
  /** Appended after `deltas`, without a step. */
  readonly counted: readonly Delta[];
  readonly contents: readonly HashedContent[];
  /** The report about it. */
  readonly lines: readonly string[];
};

export type MemoryDeps = {
  readonly change: ChangeContext;
  readonly ids: IdPool;
  readonly isTainted: boolean;
  /** Texts of older blocks that the memory may replace, by block. */
  readonly olderTexts: ReadonlyMap<number, string>;
};

/** Adds a memory and archives older ones that it covers. One it does not cover completely is kept. */
export function createMemory(
  { change, ids, isTainted, olderTexts }: MemoryDeps,
  memory: NewMemory,
): MemoryChange {
  const bytes = textContent(memory.text);
  const content = hashContent(bytes);
  const reserved = ids.reserve(change.moment.state, { block: 1, message: 1 });
  const [id, message] = [blockId(ids.take("block")), messageId(ids.take("message"))];
  const tokens = { count: Math.ceil(estimateText(memory.text, null)), exact: false };
  const { topic, supersedes } = memory;
  const added = changes.addMemory(change, { id, message, content, tokens, topic, supersedes, isTainted });
  if (!added.ok) return { ...noMemory, reserved, lines: [added.error.message] };
  const { covered: candidates, warnings } = compareWithOlder(memory, olderTexts);
  const covered = candidates.filter((block) => block === supersedes || mayArchive(change, block));
  const archived = changes.archive(change, covered.map(blockId), `superseded by #${id}`);
  return {
    reserved,
    deltas: [
      ...withoutUncoveredSupersessions(added.value.deltas, covered),
      ...(archived.ok ? archived.value.deltas : []),
    ],
    counted: [added.value.counted],
    contents: [{ hash: content, bytes }],
    lines: [
      `Noted as #${id}${covered.length === 0 ? "" : `; ${covered.map((block) => `#${block}`).join(", ")} archived`}.`,
      ...warnings,
    ],
  };
}

/** A model may archive only memories that it may change; the others are the user's. */
function mayArchive({ moment, view, actor }: ChangeContext, block: number): boolean {
  const blockView = blockViewOf(moment, view, blockId(block));
  return blockView !== null && (actor === "user" || mayModelChangeMemory(blockView));
}

const noMemory: Omit<MemoryChange, "reserved" | "lines"> = { deltas: [], counted: [], contents: [] };

/** An older block that is not covered completely stays, so it is not superseded. */
function withoutUncoveredSupersessions(
  deltas: readonly Delta[],
  covered: readonly number[],
): readonly Delta[] {
  return deltas.filter((delta) => delta.type !== "supersession-set" || covered.includes(delta.block));
}

function compareWithOlder({ text, supersedes }: NewMemory, olderTexts: ReadonlyMap<number, string>) {
  const covered: number[] = [];
  const warnings: string[] = [];
  for (const [block, older] of olderTexts) {
    const { covers: isCovered, reasons } = covers(text, older);
    if (isCovered) covered.push(block);
    else if (block === supersedes) {
      const [reason] = reasons;
      warnings.push(
        `#${block} stays as well: the note does not say all of it (${reason?.text.replace(/\.$/, "") ?? "something is missing"}).`,
      );
    }
  }
  return { covered, warnings };
}

/** The texts of all kept memories, and of the blocks that the new memories name as replaced. */
export async function olderTexts(
  { moment, view }: ChangeContext,
  memories: readonly NewMemory[],
  store: Pick<Store, "content">,
): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  if (memories.length === 0) return texts;
  const replaced = new Set(memories.map(({ supersedes }) => supersedes));
  const isOlder = ({ id, kind }: AddedBlock): boolean =>
    replaced.has(id) ||
    (kind === "memory" && isMemoryKept(must(blockViewOf(moment, view, id), "it is in the view")));
  for (const block of [...viewBlocks(moment, view)].filter(isOlder)) {
    const stored = await store.content(block.content);
    const text = stored.ok ? contentText(stored.value, block) : null;
    if (text !== null) texts.set(block.id, text);
  }
  return texts;
}
