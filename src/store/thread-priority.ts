import { setPriority } from "node:os";

/**
 * A third of the usual share. The lowest priority would leave a thread about one percent beside other busy
 * programs: the record would fall minutes behind, and requests would be planned without it.
 */
const backgroundPriority = 5;

/**
 * For a thread whose work can wait: other threads get the processor first. Linux lowers only the calling
 * thread; elsewhere this would lower the whole process.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, backgroundPriority);
  } catch {
    // A system that does not allow it gives all threads the same share.
  }
}
