// Every test suite, in the order `npm test` runs them: cheap and likely to fail first, slow and timed last.
// The runner, the vitest configuration and CONTRIBUTING.md (checked by test/docs) all follow this one list.

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} about one line for `npm test -- --help`
 * @property {readonly string[]} files globs; empty only for `check`, which runs tools instead of test files
 * @property {boolean} parallel whether its files may run side by side; suites that measure time may not
 * @property {string} [long] what `--long` adds
 */

/** @type {readonly Suite[]} */
export const suites = [
  {
    name: "check",
    about: "formatting, lint and types, each counted as one test",
    files: [],
    parallel: false,
  },
  {
    name: "unit",
    about: "tests beside the code they test",
    files: ["src/**/*.test.ts", "panel/src/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "arch",
    about: "layers, doors, purity, sizes and tidiness of the source",
    files: ["test/arch/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "docs",
    about: "every code, setting, suite, delta and word is documented; links resolve",
    files: ["test/docs/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "properties",
    about: "laws of the engine over random logs",
    files: ["test/properties/**/*.test.ts"],
    parallel: true,
    long: "many more random runs",
  },
  {
    name: "simulate",
    about: "random clients, models, faults and users against the desk; every law after every request",
    files: ["test/simulate/**/*.test.ts"],
    parallel: true,
    long: "thousands of seeds",
  },
  {
    name: "store",
    about: "the store contract, run on every store",
    files: ["test/store/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "record",
    about:
      "requests and answers become frames; identity, byte identity and recognition over recorded sessions",
    files: ["test/record/**/*.test.ts"],
    parallel: true,
    long: "every recorded session, in every form a client may write it",
  },
  {
    name: "tokens",
    about:
      "estimates, calibration and exact counts; predicted prompts against the usage of recorded sessions",
    files: ["test/tokens/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "levels",
    about:
      "renditions of blocks over recorded sessions: size, errors and names that are kept, time on hostile texts",
    files: ["test/levels/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "recall",
    about: "blocks found again by names over recorded sessions; one file at a time because it measures time",
    files: ["test/recall/**/*.test.ts"],
    parallel: false,
  },
  {
    name: "runtime",
    about: "agents that live on the log: focus, window, tools, crashes, providers, and what it all costs",
    files: ["test/runtime/**/*.test.ts"],
    parallel: true,
    long: "longer talks",
  },
  {
    name: "golden",
    about: "what the ledger sends, to the byte: tolerated forms, edits, whole sessions to be read by people",
    files: ["test/golden/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "control",
    about: "the control API on a real socket over a real database: routes, logins, events",
    files: ["test/control/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "observe",
    about:
      "relay, record and API together: recorded sessions over HTTP, damage on the way, dead storage, keys",
    files: ["test/observe/**/*.test.ts"],
    parallel: true,
    long: "every turn of every recorded session, more faults",
  },
  {
    name: "managed",
    about: "sessions rendered by us over real sockets: restarts, stuck threads, dead storage, modes, kills",
    files: ["test/managed/**/*.test.ts"],
    parallel: true,
    long: "more kills",
  },
  {
    name: "hands",
    about: "the model and the user act through the real proxy, and no client notices",
    files: ["test/hands/**/*.test.ts"],
    parallel: true,
    long: "more random commands",
  },
  {
    name: "analysis",
    about: "transcripts of clients are read, analysed and imported; totals are those of the cost benchmark",
    files: ["test/analysis/**/*.test.ts"],
    parallel: true,
    long: "all recorded sessions",
  },
  {
    name: "faults",
    about: "killed processes, full disks, stuck threads; one file at a time because they measure time",
    files: ["test/faults/**/*.test.ts"],
    parallel: false,
    long: "more kill points",
  },
  {
    name: "relay",
    about:
      "the relay between clients and upstreams that misbehave; one file at a time because they measure time",
    files: ["test/relay/**/*.test.ts"],
    parallel: false,
    long: "more resets, aborts and random messages",
  },
  {
    name: "compat",
    about: "logs and databases of every released format open and agree",
    files: ["test/compat/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "bench",
    about: "benchmarks run, print what they promise, and stay inside their bounds",
    files: ["test/bench/**/*.test.ts"],
    parallel: false,
  },
  {
    name: "clients",
    about: "real client programs, straight to the strict upstream and through Aperture",
    files: ["test/clients/**/*.test.ts"],
    parallel: false,
    long: "more models",
  },
  {
    name: "cli",
    about: "every verb of the command line as a user meets it, against a running proxy",
    files: ["test/cli/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "browser",
    about: "the panel in a real Chromium, over the built program, a real client and the strict upstream",
    files: ["test/browser/*.test.ts"],
    parallel: true,
    long: "a thousand checkpoints instead of some",
  },
  {
    name: "budgets",
    about: "what the panel may cost with 5,000 blocks; alone, because it measures time",
    files: ["test/browser/budgets/*.test.ts"],
    parallel: false,
  },
  {
    name: "start",
    about: "`npm start` on a fresh copy, the command line, and the scripts behind every task",
    files: ["test/start/**/*.test.ts"],
    parallel: false,
  },
];
