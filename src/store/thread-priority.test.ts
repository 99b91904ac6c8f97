import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** The priority of a process after its thread was lowered; the process is a child, because it stays low. */
function loweredPriority(): number {
  const code = `
    import { getPriority } from "node:os";
    import { lowerThreadPriority } from "${new URL("../../dist/store/thread-priority.js", import.meta.url)}";
    lowerThreadPriority();
    console.log(getPriority());
  `;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }));
}

test("background work comes after the relay and is not starved by other programs", () => {
  const priority = loweredPriority();
  if (process.platform !== "linux") expect(priority).toBe(0);
  // Each step takes a fifth of the share: 5 leaves a third of it, 19 about one percent.
  else expect([priority > 0, priority <= 5]).toEqual([true, true]);
});
