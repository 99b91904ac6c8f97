// `npm test`: runs the suites of test/suites.mjs, two at a time, and prints the totals.
// Nothing may pass by being absent: an empty suite, a skip without a reason and an error outside any test
// each count as a failure.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { suites } from "../test/suites.mjs";
import { ensureBuilt } from "./build.mjs";
import { capture } from "./process.mjs";
import { printReport } from "./report.mjs";

/** @typedef {import("../test/suites.mjs").Suite} Suite */
/** @typedef {import("./vitest-reporter.mjs").SuiteResult} SuiteResult */
/**
 * @typedef {object} Outcome
 * @property {string} name
 * @property {number} passed
 * @property {number} failed
 * @property {number} seconds
 * @property {string[]} problems why it failed, repeated at the end of a long log
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
 * @typedef {object} Job
 * @property {Suite} suite
 * @property {string[]} filters parts of paths; empty means every file of the suite
 */

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
  const unknown = names.filter((name) => jobsFor(name).length === 0);
  if (unknown.length > 0) {
    console.error(`unknown suite: ${unknown.join(", ")}\n\n${usage()}`);
    return 2;
  }
  if (args.includes("--long")) process.env["APERTURE_TEST_LONG"] = "1";
  await ensureBuilt({ onTypeErrors: "report" });
  const jobs = names.length === 0 ? suites.map((suite) => ({ suite, filters: [] })) : namedJobs(names);
  return printReport(await runJobs(jobs));
}

/**
 * A suite by its name, and for a folder of src its unit tests and the suites that cover it.
 * @param {string} name
 * @returns {Job[]}
 */
export function jobsFor(name) {
  const chosen = suites.filter((suite) => suite.name === name || suite.covers?.includes(name));
  const jobs = chosen.map((suite) => ({ suite, filters: /** @type {string[]} */ ([]) }));
  const unit = suites.find((suite) => suite.name === "unit");
  const hasTests = unit !== undefined && existsSync(`src/${name}`) && hasUnitTests(`src/${name}`);
  return hasTests ? [{ suite: unit, filters: [`src/${name}/`] }, ...jobs] : jobs;
}

/** @param {string} folder */
function hasUnitTests(folder) {
  return readdirSync(folder, { recursive: true }).some((path) => String(path).endsWith(".test.ts"));
}

/**
 * Each suite once, in the order of the list.
 * @param {string[]} names
 * @returns {Job[]}
 */
function namedJobs(names) {
  const all = names.flatMap(jobsFor);
  return suites.flatMap((suite) => {
    const jobs = all.filter((job) => job.suite === suite);
    const isWhole = jobs.some(({ filters }) => filters.length === 0);
    return jobs.length === 0
      ? []
      : [{ suite, filters: isWhole ? [] : jobs.flatMap(({ filters }) => filters) }];
  });
}

/**
 * Two suites run side by side, since most of them wait for processes and sockets. The longest start first, so
 * that no long one is left alone at the end; the outcomes come in the order of the list.
 * @param {Job[]} jobs
 * @returns {Promise<Outcome[]>}
 */
async function runJobs(jobs) {
  const queue = [...jobs].sort((a, b) => (b.suite.weight ?? 0) - (a.suite.weight ?? 0));
  /** @type {Map<string, Outcome>} */
  const outcomes = new Map();
  const lane = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const outcome = await runJob(job);
      outcomes.set(job.suite.name, outcome);
      console.log(progressLine(outcome, outcomes.size, jobs.length));
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, jobs.length) }, lane));
  return jobs.flatMap(({ suite }) => outcomes.get(suite.name) ?? []);
}

const lanes = 2;

/**
 * @param {Job} job
 * @returns {Promise<Outcome>}
 */
async function runJob({ suite, filters }) {
  const startedMs = performance.now();
  const { judged, output } = suite.files.length === 0 ? await runChecks() : await runVitest(suite, filters);
  if (judged.failed > 0) console.log(`\n=== ${suite.name}\n${output}`);
  return { ...judged, name: suite.name, seconds: (performance.now() - startedMs) / 1000 };
}

/**
 * @param {Outcome} outcome
 * @param {number} done
 * @param {number} total
 */
function progressLine({ name, passed, failed, seconds }, done, total) {
  const verdict = failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} FAILED`;
  return `[${String(done).padStart(2)}/${total}] ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${verdict}`;
}

async function runChecks() {
  const problems = [];
  let output = "";
  for (const { name, args } of checks) {
    const run = await capture(process.execPath, args);
    if (run.code === 0) continue;
    problems.push(`${name} failed`);
    output += `--- ${name}\n${run.output}`;
  }
  const passed = checks.length - problems.length;
  return { judged: { passed, failed: problems.length, problems, skipped: [] }, output };
}

/**
 * @param {Suite} suite
 * @param {string[]} filters
 */
async function runVitest(suite, filters) {
  const path = `.cache/test/${suite.name}.json`;
  mkdirSync(".cache/test", { recursive: true });
  rmSync(path, { force: true });
  const args = ["node_modules/vitest/vitest.mjs", "run", ...filters];
  const reporters = ["--reporter=default", "--reporter=./scripts/vitest-reporter.mjs"];
  const { code, output } = await capture(process.execPath, [...args, ...reporters], {
    ...process.env,
    APERTURE_TEST_SUITE: suite.name,
    APERTURE_TEST_RESULT: path,
  });
  writeFileSync(`.cache/test/${suite.name}.log`, output);
  return {
    judged: judge(existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined, code),
    output,
  };
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
  const lines = suites.map(({ name, about, covers = [], long }) => {
    const folders = covers.length === 0 ? "" : ` [${covers.join(", ")}]`;
    const extra = long === undefined ? "" : ` (--long: ${long})`;
    return `  ${name.padEnd(width)}  ${about}${folders}${extra}`;
  });
  return [
    "usage: npm test -- [suite or folder of src ...] [--long]",
    "",
    "A suite runs by its name. A folder of src runs its unit tests and the suites that cover it,",
    "which stand in brackets: npm test -- ledger. What each suite printed is kept in .cache/test.",
    "",
    ...lines,
  ].join("\n");
}
