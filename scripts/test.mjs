// `npm test`: runs the suites of test/suites.mjs one after the other and sums them up.
// Nothing may pass by being absent: an empty suite, a skip without a reason and an error outside any test
// each count as a failure.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { suites } from "../test/suites.mjs";
import { ensureBuilt } from "./build.mjs";
import { runNode } from "./process.mjs";
import { printReport } from "./report.mjs";

/** @typedef {import("../test/suites.mjs").Suite} Suite */
/** @typedef {import("./vitest-reporter.mjs").SuiteResult} SuiteResult */
/**
 * @typedef {object} Outcome
 * @property {string} name
 * @property {number} passed
 * @property {number} failed
 * @property {number} seconds
 * @property {string[]} problems why it failed, so that the end of a long log tells it
 * @property {string[]} skipped each with its reason
 */

const biome = "node_modules/@biomejs/biome/bin/biome";
const checks = [
  { name: "format", args: [biome, "check", "--linter-enabled=false", "."] },
  { name: "lint", args: [biome, "lint", "--error-on-warnings", "."] },
  { name: "types", args: ["node_modules/typescript/bin/tsc", "-p", "tsconfig.check.json"] },
  { name: "types of the panel", args: ["node_modules/typescript/bin/tsc", "-p", "panel/tsconfig.json"] },
];

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
export async function runSuites(args) {
  if (args.includes("--help")) {
    console.log(usage());
    return 0;
  }
  const names = args.filter((arg) => arg !== "--long");
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    console.error(`unknown suite: ${unknown.join(", ")}\n\n${usage()}`);
    return 2;
  }
  if (args.includes("--long")) process.env["APERTURE_TEST_LONG"] = "1";
  await ensureBuilt({ onTypeErrors: "report" });
  const outcomes = [];
  for (const suite of suites.filter(({ name }) => names.length === 0 || names.includes(name))) {
    console.log(`\n=== ${suite.name}: ${suite.about}`);
    const startedMs = performance.now();
    const outcome = suite.files.length === 0 ? await runChecks() : await runVitest(suite);
    outcomes.push({ ...outcome, name: suite.name, seconds: (performance.now() - startedMs) / 1000 });
  }
  return printReport(outcomes);
}

async function runChecks() {
  const problems = [];
  for (const { name, args } of checks) {
    console.log(`--- ${name}`);
    if ((await runNode(args)) !== 0) problems.push(`${name} failed`);
  }
  return { passed: checks.length - problems.length, failed: problems.length, problems, skipped: [] };
}

/** @param {Suite} suite */
async function runVitest(suite) {
  const path = `.cache/test/${suite.name}.json`;
  mkdirSync(".cache/test", { recursive: true });
  rmSync(path, { force: true });
  const args = ["node_modules/vitest/vitest.mjs", "run"];
  const reporters = ["--reporter=default", "--reporter=./scripts/vitest-reporter.mjs"];
  const code = await runNode([...args, ...reporters], {
    ...process.env,
    APERTURE_TEST_SUITE: suite.name,
    APERTURE_TEST_RESULT: path,
  });
  return judge(existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined, code);
}

/**
 * @param {SuiteResult | undefined} result
 * @param {number} code
 */
export function judge(result, code) {
  if (result === undefined) {
    return { passed: 0, failed: 1, problems: [`vitest ended with ${code} and no result`], skipped: [] };
  }
  const withoutReason = result.skipped.filter(({ reason }) => !reason);
  const problems = withoutReason.map(({ name }) => `skipped without a reason: ${name}`);
  if (result.errors > 0) problems.push(`${result.errors} error(s) outside any test`);
  if (result.passed + result.failed + result.skipped.length === 0) problems.push("no tests found");
  else if (code !== 0 && result.failed === 0 && problems.length === 0)
    problems.push(`vitest ended with ${code}`);
  const skipped = result.skipped
    .filter(({ reason }) => reason)
    .map(({ name, reason }) => `${name}: ${reason}`);
  const failed = result.failed + problems.length;
  return { passed: result.passed, failed, problems: [...result.failures, ...problems], skipped };
}

function usage() {
  const width = Math.max(...suites.map(({ name }) => name.length));
  const lines = suites.map(({ name, about, long }) => {
    const extra = long === undefined ? "" : ` (--long: ${long})`;
    return `  ${name.padEnd(width)}  ${about}${extra}`;
  });
  return ["usage: npm test -- [suite...] [--long]", "", ...lines].join("\n");
}
