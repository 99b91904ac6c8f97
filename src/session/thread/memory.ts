import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

/**
 * What there is still memory for. Lean: requests are managed, and their bodies are not recorded. Pass: they
 * are relayed, and nothing else.
 */
export type MemoryLevel = "ok" | "lean" | "pass";

export const leanShare = 0.85;
const passShare = 0.95;
/** It must be this much better before more is done again, or it would begin and end by turns. */
const easeShare = 0.05;

export function memoryLevel(before: MemoryLevel, share: number): MemoryLevel {
  const isAtLeast = (level: MemoryLevel, least: number): boolean =>
    share >= least - (before === "pass" || before === level ? easeShare : 0);
  if (isAtLeast("pass", passShare)) return "pass";
  return isAtLeast("lean", leanShare) ? "lean" : "ok";
}

/** V8 sets this much of its limit aside for values that are young; those that stay cannot have it. */
const youngBytes = 48 * 1024 * 1024;

/** How much of what this thread may have of JavaScript values it has. Beyond all of it, the thread ends. */
export function heapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / Math.max(limit - youngBytes, limit / 2);
}

/** How much of what the whole process may have it has, where somebody has set a limit; else 0. */
export function processShare(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 && limit < totalmem() ? process.memoryUsage.rss() / limit : 0;
}
