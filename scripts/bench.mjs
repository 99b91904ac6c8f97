// `npm run bench -- NAME [--data DIR] [--json]`: compiles bench/ together with src, since Node 20 cannot run
// TypeScript, and passes the arguments to bench/main.ts. Benchmarks run compiled code, as users do.
import { existsSync } from "node:fs";
import { capture, runNode, TaskError } from "./process.mjs";

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
export async function runBench(args) {
  if (!existsSync("bench/main.ts")) throw new TaskError("There are no benchmarks yet (bench/main.ts).");
  const compiler = "node_modules/typescript/bin/tsc";
  const { code, output } = await capture(process.execPath, [compiler, "-p", "tsconfig.bench.json"]);
  if (code !== 0) throw new TaskError(`${output.trimEnd()}\n\nThe benchmarks do not compile.`);
  return await runNode(["--expose-gc", ".cache/bench/bench/main.js", ...args]);
}
