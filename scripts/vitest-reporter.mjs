// Writes the result of one suite for the runner, independent of vitest's output format.
import { writeFileSync } from "node:fs";

/**
 * @typedef {object} SuiteResult
 * @property {number} passed
 * @property {number} failed
 * @property {string[]} failures the name and the first line of each test that failed
 * @property {{ name: string, reason?: string | undefined }[]} skipped
 * @property {number} errors problems outside any test: a file that does not load, an unhandled rejection
 */

export class SuiteReporter {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} unhandled
   */
  onTestRunEnd(modules, unhandled) {
    const cases = modules.flatMap((module) => [...module.children.allTests()]);
    /** @param {string} state */
    const inState = (state) => cases.filter((test) => test.result().state === state);
    /** @type {SuiteResult} */
    const result = {
      passed: inState("passed").length,
      failed: inState("failed").length,
      failures: inState("failed").map(failureOf),
      // "pending" is a test that never ran, for example after a failed hook; it must be counted.
      skipped: [...inState("skipped"), ...inState("pending")].map((test) => ({
        name: `${test.module.relativeModuleId}: ${test.fullName}`,
        reason: noteOf(test),
      })),
      errors: unhandled.length + modules.reduce((sum, module) => sum + errorsOutsideTests(module), 0),
    };
    const path = process.env["APERTURE_TEST_RESULT"];
    if (path !== undefined) writeFileSync(path, JSON.stringify(result));
  }
}

/** @param {import("vitest/node").TestCase} test */
function failureOf(test) {
  const [error] = test.result().errors ?? [];
  const said = (error?.message ?? "").split("\n")[0] ?? "";
  return `${test.module.relativeModuleId}: ${test.fullName}: ${said}`;
}

/** @param {import("vitest/node").TestCase} test */
function noteOf(test) {
  const result = test.result();
  return result.state === "skipped" ? result.note : undefined;
}

/** @param {import("vitest/node").TestModule} module */
function errorsOutsideTests(module) {
  const inSuites = [...module.children.allSuites()].reduce((sum, suite) => sum + suite.errors().length, 0);
  return module.errors().length + inSuites;
}

// vitest finds a reporter by its default export; besides its configuration this is the only module with one.
export default SuiteReporter;
