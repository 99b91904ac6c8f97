import { attributesOf, type BlockView, blockViewOf, factValue, isPinned } from "../engine/moment/index.ts";

/**
 * Whether a memory is in force: neither archived nor replaced by another memory. An answer that repeats or
 * contradicts it only makes it stale, because the text does not tell whether the answer is true.
 */
export function isMemoryKept(memory: BlockView): boolean {
  return factValue(memory, "archive") === null && !isReplaced(memory);
}

function isReplaced(memory: BlockView): boolean {
  const { moment, view } = memory;
  const newer = factValue(memory, "supersession");
  return newer !== null && blockViewOf(moment, view, newer)?.block.kind === "memory";
}

/** Whether a model may change a memory on its own: it is not the user's, nor shared, selected or pinned. */
export function mayModelChangeMemory(memory: BlockView): boolean {
  const isShared = attributesOf(memory.moment, memory.block.id)?.scope === "project";
  return memory.block.taint !== "user" && !isShared && !factValue(memory, "selection") && !isPinned(memory);
}
