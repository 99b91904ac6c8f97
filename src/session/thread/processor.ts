import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** What the system calls the thread that asks; null where it does not say. */
export function threadName(): string | null {
  try {
    return basename(readlinkSync("/proc/thread-self"));
  } catch {
    return null;
  }
}

/**
 * Milliseconds a thread of this process could have worked and got no processor, since it began. Zero where
 * the system does not say.
 */
export function waitedMs(thread: string | null): number {
  if (thread === null) return 0;
  try {
    const [, waitedNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(waitedNs) / 1e6 || 0;
  } catch {
    return 0;
  }
}
