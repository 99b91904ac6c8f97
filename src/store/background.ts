import { setPriority } from "node:os";

const lowestPriority = 19;

/**
 * For a thread whose work can wait while others' cannot: where both want a processor the others get it. Linux
 * lets a thread lower itself; elsewhere it would lower the whole process.
 */
export function stepBack(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, lowestPriority);
  } catch {
    // A system that does not allow it gives all the same share.
  }
}
