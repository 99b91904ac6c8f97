import { withLock } from "../../scripts/lock.mjs";
import { capture } from "../../scripts/process.mjs";

/** What went wrong while a Debian package was installed; empty: nothing. Only root can do it. */
export async function aptInstall(name: string): Promise<string> {
  if (process.getuid?.() !== 0) return "It is installed for you only where root runs the tests.";
  const said: string[] = [];
  await withLock(".cache/apt.lock", async () => {
    for (const args of [["update"], ["install", "-y", "--no-install-recommends", name]]) {
      const { code, output } = await capture("apt-get", args);
      if (code !== 0)
        said.push(`apt-get ${args.join(" ")} ended with ${code}: ${output.trim().slice(-2_000)}`);
    }
  });
  return said.join("\n");
}
