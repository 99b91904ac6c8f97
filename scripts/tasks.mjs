// What each task needs before it runs, and how it runs. Sibling modules are loaded when a task needs them,
// so that `npm start` pays for nothing that only tests use.
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
  // Same process on purpose: no second Node to start, and signals reach the server without forwarding.
  const main = join(process.cwd(), "dist", "cli", "main.js");
  process.argv = [process.execPath, main, "up", ...args];
  await import(pathToFileURL(main).href);
}

/**
 * npm runs scripts through a shell and passes signals on to that shell only; a plain `sh` dies of them and
 * leaves its child running, unseen, on the port. So the child notices that it was left, and ends by itself.
 * Only below npm: started by hand, outliving the terminal is the user's choice.
 */
function endWithNpm() {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    // Once: a second signal would ask for an end without waiting for requests in flight.
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
