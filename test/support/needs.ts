import { spawnSync } from "node:child_process";
import type { TestContext } from "vitest";
import { aptInstall } from "./apt.ts";

/** Skips, by name, where no program can be given a terminal. */
export function needsTerminals(context: TestContext): void {
  const { status } = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" });
  if (status !== 0) context.skip("needs script(1) of util-linux, which gives a program a terminal");
}

/** Installs a missing program from Debian; skips, with what was tried, where that cannot be. */
export async function needsProgram(context: TestContext, name: string): Promise<void> {
  const isThere = (): boolean => spawnSync(name, ["-c", "true"], { stdio: "ignore" }).error === undefined;
  if (isThere()) return;
  const problem = await aptInstall(name);
  if (!isThere()) context.skip(`needs ${name}: ${problem}`);
}
