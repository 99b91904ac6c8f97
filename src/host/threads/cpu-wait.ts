import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** The system's id of the calling thread; null if the system does not tell. */
export function systemThreadId(): string | null {
  try {
    return basename(readlinkSync("/proc/thread-self"));
  } catch {
    return null;
  }
}

/**
 * Milliseconds a thread of this process was ready to run and got no CPU; zero if the system does not tell.
 */
export function cpuWaitMs(thread: string | null): number {
  if (thread === null) return 0;
  try {
    const [, waitedNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(waitedNs) / 1e6 || 0;
  } catch {
    return 0;
  }
}
