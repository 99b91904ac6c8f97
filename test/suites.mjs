// Every test suite, in the order of the report: cheap and likely to fail first, slow last.
// The runner, the vitest configuration and CONTRIBUTING.md (checked by test/docs) all follow this one list.

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} about one line for `npm test -- --help`
 * @property {readonly string[]} files globs; empty only for `check`, which runs tools instead of test files
 * @property {boolean} parallel whether its files may run side by side in one process
 * @property {readonly string[]} [covers] folders of src that the suite tests across files
 * @property {number} [weight] about how many seconds it takes; long suites start first
 * @property {string} [long] what `--long` adds
 */

/** @type {readonly Suite[]} */
export const suites = [
  {
    name: "check",
    weight: 20,
    about: "formatting, lint and types, each counted as one test",
    files: [],
    parallel: false,
  },
  {
    name: "unit",
    weight: 30,
    about: "tests beside the code they test",
    files: ["src/**/*.test.ts", "panel/src/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "arch",
    weight: 4,
    about: "layers, doors, purity, sizes and tidiness of the source",
    files: ["test/arch/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "docs",
    weight: 4,
    about: "every code, setting, suite, delta and word is documented; links resolve",
    files: ["test/docs/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "properties",
    covers: ["engine"],
    weight: 12,
    about: "laws of the engine over random logs",
    files: ["test/properties/**/*.test.ts"],
    parallel: true,
    long: "many more random runs",
  },
  {
    name: "simulate",
    covers: ["ledger", "host", "recorder"],
    weight: 55,
    about: "random clients, models, faults and users against the planner; every law after every request",
    files: ["test/simulate/**/*.test.ts"],
    parallel: true,
    long: "thousands of seeds",
  },
  {
    name: "store",
    weight: 22,
    about: "the store contract, run on every store",
    files: ["test/store/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "record",
    covers: ["recorder", "exchange"],
    weight: 14,
    about:
      "requests and answers become frames; identity, byte identity and recognition over recorded sessions",
    files: ["test/record/**/*.test.ts"],
    parallel: true,
    long: "every recorded session, in every form a client may write it",
  },
  {
    name: "queries",
    weight: 5,
    about: "what panel, command line and API are answered about recorded sessions",
    files: ["test/queries/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "tokens",
    weight: 4,
    about:
      "estimates, calibration and exact counts; predicted prompts against the usage of recorded sessions",
    files: ["test/tokens/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "levels",
    weight: 20,
    about:
      "renditions of blocks over recorded sessions: size, errors and names that are kept, time on hostile texts",
    files: ["test/levels/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "recall",
    weight: 8,
    about: "blocks found again by names over recorded sessions, and beside hostile texts",
    files: ["test/recall/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "runtime",
    weight: 28,
    about: "agents of the runtime: focus, window, tools, crashes, providers, cost",
    files: ["test/runtime/**/*.test.ts"],
    parallel: true,
    long: "longer conversations",
  },
  {
    name: "golden",
    covers: ["ledger", "notes", "awareness", "host"],
    weight: 20,
    about: "what the ledger sends, to the byte: tolerated forms, edits, whole sessions to be read by people",
    files: ["test/golden/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "control",
    weight: 18,
    about: "the control API on a real socket over a real database: routes, logins, events",
    files: ["test/control/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "observe",
    covers: ["proxy", "recorder"],
    weight: 40,
    about:
      "relay, record and API together: recorded sessions over HTTP, damage on the way, dead storage, keys",
    files: ["test/observe/**/*.test.ts"],
    parallel: true,
    long: "every turn of every recorded session, more faults",
  },
  {
    name: "managed",
    covers: ["host", "proxy", "ledger", "policy"],
    weight: 45,
    about: "managed sessions over real sockets: restarts, stuck threads, dead storage, modes, kills",
    files: ["test/managed/**/*.test.ts"],
    parallel: true,
    long: "longer runs, more kills",
  },
  {
    name: "hands",
    covers: ["commands", "execute", "host"],
    weight: 100,
    about: "the model and the user act through the real proxy, and no client notices",
    files: ["test/hands/**/*.test.ts"],
    parallel: true,
    long: "more random commands, every model in text mode",
  },
  {
    name: "analysis",
    covers: ["transcripts"],
    weight: 24,
    about: "transcripts of clients are read, analysed and imported; totals are those of the cost benchmark",
    files: ["test/analysis/**/*.test.ts"],
    parallel: true,
    long: "all recorded sessions",
  },
  {
    name: "faults",
    covers: ["store", "log", "host"],
    weight: 90,
    about: "killed processes, full disks, locked databases, stuck threads, power cuts",
    files: ["test/faults/**/*.test.ts"],
    parallel: true,
    long: "more kill points, more replaced threads",
  },
  {
    name: "relay",
    covers: ["proxy"],
    weight: 18,
    about: "the relay between clients and upstreams that misbehave: byte identity, resets, aborts, smuggling",
    files: ["test/relay/**/*.test.ts"],
    parallel: true,
    long: "more resets, aborts and random messages",
  },
  {
    name: "compat",
    covers: ["store", "engine"],
    weight: 4,
    about: "logs and databases of every released format open and agree",
    files: ["test/compat/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "bench",
    weight: 110,
    about: "benchmarks run; those that count keep their bounds, `npm run bench` judges those of time",
    files: ["test/bench/**/*.test.ts"],
    parallel: false,
    long: "every session in every column",
  },
  {
    name: "clients",
    covers: ["protocols", "proxy"],
    weight: 150,
    about: "real client programs, straight to the strict upstream and through Aperture",
    files: ["test/clients/**/*.test.ts"],
    parallel: false,
    long: "an older version of Claude Code, more models, more kills, each SDK in every style",
  },
  {
    name: "cli",
    covers: ["config"],
    weight: 200,
    about: "every verb of the command line as a user meets it, against a running proxy",
    files: ["test/cli/**/*.test.ts"],
    parallel: true,
  },
  {
    name: "browser",
    weight: 270,
    about: "the panel in a real Chromium, over the built program, a real client and the strict upstream",
    files: ["test/browser/*.test.ts"],
    parallel: true,
    long: "a thousand checkpoints instead of some",
  },
  {
    name: "budgets",
    weight: 22,
    about: "the work of the panel with 5,000 blocks, counted: bytes, rows, function calls, layouts",
    files: ["test/browser/budgets/*.test.ts"],
    parallel: false,
  },
  {
    name: "start",
    weight: 70,
    about: "`npm start` on a fresh copy, the command line, and the scripts behind every task",
    files: ["test/start/**/*.test.ts"],
    parallel: false,
  },
];
