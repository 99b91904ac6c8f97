import { type ApertureError, apertureError } from "../../base/index.ts";
import { heapShare, type MemoryLevel, memoryLevel, processShare } from "./memory.ts";

const LOOK_EVERY_MS = 100;
const words = {
  lean: "bodies are not recorded and no new session is managed",
  pass: "requests are relayed and nothing else",
} as const;

/** Looks at the memory of this thread, of the process and of the engine, and says when less can be done. */
export class MemoryWatch {
  /** As the engine's thread last told it. */
  engineShare = 0;
  readonly #changed: () => void;
  readonly #timer: NodeJS.Timeout;
  #level: MemoryLevel = "ok";
  #problem: ApertureError | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  get level(): MemoryLevel {
    return this.#level;
  }

  /** What those who look are told; null while there is enough. */
  get problem(): ApertureError | null {
    return this.#problem;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const share = Math.max(heapShare(), processShare(), this.engineShare);
    const level = memoryLevel(this.#level, share);
    if (level === this.#level) return;
    this.#level = level;
    const percent = Math.min(100, Math.round(share * 100));
    this.#problem = level === "ok" ? null : apertureError("AP_MEMORY_LOW", { percent, what: words[level] });
    this.#changed();
  }
}
