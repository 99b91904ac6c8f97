import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { suites } from "./test/suites.mjs";

// `npm test` runs one suite per vitest process and names it here; a bare `npx vitest` sees all of them.
const name = process.env["APERTURE_TEST_SUITE"];
const chosen = suites.filter((suite) => name === undefined || suite.name === name);
const parallel = chosen.every((suite) => suite.parallel);
const guardMs = process.env["APERTURE_TEST_LONG"] === "1" ? 3_600_000 : 300_000;

export default defineConfig({
  test: {
    include: chosen.flatMap((suite) => [...suite.files]),
    globalSetup: ["test/global-setup.ts"],
    setupFiles: ["test/setup.ts"],
    pool: "threads",
    // Sharing one module graph is seven times quicker. Suites that start processes and measure time do not.
    isolate: !parallel,
    fileParallelism: parallel,
    // By default one processor is left for vitest itself, which needs hardly any: of two, half would idle.
    maxWorkers: parallel ? availableParallelism() : 1,
    // Guards against tests that hang, however busy the machine is: no test is about time.
    testTimeout: guardMs,
    hookTimeout: guardMs,
    expect: { poll: { timeout: guardMs / 3 } },
    passWithNoTests: false,
  },
});
