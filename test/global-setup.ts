import { ensureBuilt } from "../scripts/build.mjs";

// Threads started by the code under test load dist/*.js: Node 20 cannot run TypeScript inside a thread.
export async function setup(): Promise<void> {
  await ensureBuilt({ onTypeErrors: "report" });
}
