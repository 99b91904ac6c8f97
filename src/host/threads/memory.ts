import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { type ApertureError, apertureError } from "../../base/index.ts";

/**
 * The degree to which work is reduced as memory runs out. `lean`: requests are managed, but their bodies are
 * not recorded. `pass`: requests are only relayed.
 */
export type MemoryLevel = "ok" | "lean" | "pass";

export const leanShare = 0.85;
const passShare = 0.95;
/**
 * The share must fall this far below a threshold before its level ends, or the level would flip back and
 * forth.
 */
const easeShare = 0.05;

export function memoryLevel(before: MemoryLevel, share: number): MemoryLevel {
  const isAtLeast = (level: MemoryLevel, least: number): boolean =>
    share >= least - (before === "pass" || before === level ? easeShare : 0);
  if (isAtLeast("pass", passShare)) return "pass";
  return isAtLeast("lean", leanShare) ? "lean" : "ok";
}

/** V8 keeps this much of its limit for young values; long-lived values cannot use it. */
const youngBytes = 48 * 1024 * 1024;

/** The used share of this thread's JavaScript heap. At 1 the thread ends. */
export function heapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / Math.max(limit - youngBytes, limit / 2);
}

/** The used share of the memory limit of the process; 0 if none is set. */
export function processShare(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 && limit < totalmem() ? process.memoryUsage.rss() / limit : 0;
}

const CHECK_EVERY_MS = 100;
const consequences = {
  lean: "bodies are not recorded and no new session is managed",
  pass: "requests are relayed and nothing else",
} as const;

/**
 * Checks the memory of this thread, the process and the engine's thread, and reports when the level changes.
 */
export class MemoryWatch {
  /** The heap share that the engine's thread last reported. */
  engineShare = 0;
  readonly #onChange: () => void;
  readonly #timer: NodeJS.Timeout;
  #level: MemoryLevel = "ok";
  #problem: ApertureError | null = null;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
  }

  get level(): MemoryLevel {
    return this.#level;
  }

  /** Null while there is enough memory. */
  get problem(): ApertureError | null {
    return this.#problem;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const share = Math.max(heapShare(), processShare(), this.engineShare);
    const level = memoryLevel(this.#level, share);
    if (level === this.#level) return;
    this.#level = level;
    const percent = Math.min(100, Math.round(share * 100));
    this.#problem =
      level === "ok" ? null : apertureError("AP_MEMORY_LOW", { percent, what: consequences[level] });
    this.#onChange();
  }
}
