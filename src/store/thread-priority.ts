import { setPriority } from "node:os";

const lowestPriority = 19;

/**
 * For a thread whose work can wait: other threads get the processor first. Linux lowers only the calling
 * thread; elsewhere this would lower the whole process.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, lowestPriority);
  } catch {
    // A system that does not allow it gives all threads the same share.
  }
}
