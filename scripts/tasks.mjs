// The tasks and what each needs before it runs. Other modules are loaded when a task needs them, so that
// `npm start` does not load what only tests use.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuilt } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { runNode } from "./process.mjs";

/** @typedef {{ about: string, run: (args: string[]) => Promise<void> }} Task */

/** @type {Readonly<Record<string, Task>>} */
export const tasks = {
  start: { about: "build if needed and start Aperture", run: start },
  test: { about: "run the test suites", run: test },
  check: { about: "format, lint, types, layers, sizes, docs", run: check },
  bench: { about: "run a benchmark", run: bench },
  build: { about: "compile src to dist", run: build },
  format: { about: "format every file in place", run: format },
};

/** @param {string[]} args */
async function start(args) {
  await ensureInstalled();
  await ensureBuilt({ onTypeErrors: "fail" });
  endWithNpm();
  // The same process, so that no second Node starts and signals reach the server directly.
  const main = join(process.cwd(), "dist", "cli", "main.js");
  process.argv = [process.execPath, main, "up", ...args];
  await import(pathToFileURL(main).href);
}

/**
 * npm runs scripts through a shell and passes signals only to that shell. A plain `sh` then dies and leaves
 * its child running on the port. So the child checks whether its parent is gone, and ends. This applies only
 * below npm: a process that was started by hand may outlive its terminal.
 */
function endWithNpm() {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    // Only once: a second signal would stop without waiting for open requests.
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, 500);
  timer.unref();
}

/** @param {string[]} args */
async function test(args) {
  await ensureInstalled();
  const { runSuites } = await import("./test.mjs");
  process.exitCode = await runSuites(args);
}

/** @param {string[]} args */
async function check(args) {
  await test(["check", "arch", "docs", ...args]);
}

/** @param {string[]} args */
async function bench(args) {
  await ensureInstalled();
  await ensureBuilt({ onTypeErrors: "fail" });
  const { runBench } = await import("./bench.mjs");
  process.exitCode = await runBench(args);
}

async function build() {
  await ensureInstalled();
  await ensureBuilt({ onTypeErrors: "fail" });
}

async function format() {
  await ensureInstalled();
  const args = ["node_modules/@biomejs/biome/bin/biome", "check", "--write", "--linter-enabled=false", "."];
  process.exitCode = await runNode(args);
}
