/** @typedef {import("./test.mjs").Outcome} Outcome */

/**
 * Prints the table, the reasons, and as the very last line `N passed, N failed` for people and scripts alike.
 * @param {Outcome[]} outcomes
 * @returns {number} the exit code
 */
export function printReport(outcomes) {
  console.log(`\n${table(outcomes)}`);
  for (const { name, skipped } of outcomes) {
    for (const line of skipped) console.log(`skipped  ${name}: ${line}`);
  }
  for (const { name, problems } of outcomes) {
    for (const line of problems) console.log(`FAILED   ${name}: ${line}`);
  }
  const passed = sum(outcomes, "passed");
  const failed = sum(outcomes, "failed");
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** @param {Outcome[]} outcomes */
function table(outcomes) {
  const rows = outcomes.map(({ name, passed, failed, seconds }) => [
    name,
    `${passed + failed}`,
    `${failed}`,
    seconds.toFixed(1),
  ]);
  const all = [["suite", "tests", "failed", "seconds"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}

/**
 * @param {Outcome[]} outcomes
 * @param {"passed" | "failed"} key
 */
function sum(outcomes, key) {
  return outcomes.reduce((total, outcome) => total + outcome[key], 0);
}
