import { spawnSync } from "node:child_process";
import type { TestContext } from "vitest";
import { aptInstall } from "./apt.ts";

/** Skips, by name, where no program can be given a terminal. */
export function needsTerminals(context: TestContext): void {
  const { status } = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" });
  if (status !== 0) context.skip("needs script(1) of util-linux, which gives a program a terminal");
}

/** Skips, by name, where a program is missing that no package of Debian has. */
export function needsPresent(context: TestContext, name: string): void {
  if (!isPresent(name))
    context.skip(`needs ${name}, which is not installed and which Debian has no package of`);
}

/**
 * Installs a missing program from Debian. Who may install, as the gate may, fails where that does not work;
 * others skip, by name, with what was tried.
 */
export async function needsProgram(context: TestContext, name: string): Promise<void> {
  if (isPresent(name)) return;
  const problem = await aptInstall(name);
  if (isPresent(name)) return;
  if (process.getuid?.() === 0) throw new Error(`needs ${name}: ${problem}`);
  context.skip(`needs ${name}: ${problem}`);
}

function isPresent(name: string): boolean {
  return spawnSync(name, ["-c", "true"], { stdio: "ignore" }).error === undefined;
}
