// The rules about who may know whom, as data. Each carries its reason, which the failing test prints.

export type Layer = {
  readonly folder: string;
  /** Folders, with every door they have; or one door inside a folder, such as `engine/frames`. */
  readonly mayImport: readonly string[];
  /** Pure: same arguments, same answer. No I/O, clock, randomness, environment or promises. */
  readonly pure: boolean;
  readonly thirdParty: boolean;
  readonly why: string;
};

const core = ["base", "engine/frames", "content", "awareness", "notes", "commands"] as const;
const codecs = [...core, "protocols", "levels", "tokens"] as const;
const planning = [...codecs, "exchange", "policy", "ledger"] as const;
const storage = [...codecs, "store", "recall", "sidecar", "transcripts"] as const;
const recording = ["engine", ...planning, "store", "recall", "sidecar", "transcripts", "log"] as const;
const serving = [...recording, "recorder", "queries", "execute"] as const;

const pure = { pure: true, thirdParty: false } as const;
const effectful = { pure: false, thirdParty: true } as const;

export const layers: readonly Layer[] = [
  { folder: "base", mayImport: [], ...pure, why: "everything stands on it, so it stands on nothing" },
  {
    folder: "engine",
    mayImport: ["base"],
    ...pure,
    why: "the truth is a fold over the log and nothing else",
  },
  {
    folder: "content",
    mayImport: ["base", "engine/frames"],
    ...pure,
    why: "reads stored content, and only that",
  },
  { folder: "awareness", mayImport: ["base", "engine"], ...pure, why: "what is true of a context, as data" },
  {
    folder: "notes",
    mayImport: ["base", "engine/frames", "awareness"],
    ...pure,
    why: "what the model is told follows from facts, and is read back by the same file",
  },
  {
    folder: "commands",
    mayImport: ["base", "engine"],
    ...pure,
    why: "a request becomes deltas, never an act",
  },
  {
    folder: "protocols",
    mayImport: core,
    pure: true,
    thirdParty: true,
    why: "bytes become values and back; sockets live elsewhere",
  },
  {
    folder: "levels",
    mayImport: core,
    ...effectful,
    why: "texts of blocks; results enter as inputs",
  },
  {
    folder: "tokens",
    mayImport: [...core, "protocols"],
    ...effectful,
    why: "counts; results enter as inputs. The codec tells which bytes of a unit are text",
  },
  {
    folder: "exchange",
    mayImport: codecs,
    ...effectful,
    why: "the values that relay, planner and recorder pass to each other, so that none needs another",
  },
  {
    folder: "policy",
    mayImport: ["engine", ...codecs, "exchange"],
    ...pure,
    why: "decides what should be shown; it neither sends nor stores",
  },
  {
    folder: "ledger",
    mayImport: [...codecs, "exchange", "policy"],
    ...pure,
    why: "plans what is sent upstream from what was sent before; it waits for nothing",
  },
  { folder: "store", mayImport: codecs, ...effectful, why: "keeps what it is given and decides nothing" },
  { folder: "recall", mayImport: codecs, ...effectful, why: "finds what is stored and decides nothing" },
  { folder: "sidecar", mayImport: codecs, ...effectful, why: "works in the background, through a port" },
  {
    folder: "transcripts",
    mayImport: ["base", "content"],
    ...pure,
    why: "reads and writes what clients write down; of our types it knows only the parts it writes",
  },
  {
    folder: "log",
    mayImport: ["engine", ...storage, "exchange"],
    ...effectful,
    why: "the session log: appends frames and reads them back; it does not know why",
  },
  {
    folder: "recorder",
    mayImport: recording,
    ...effectful,
    why: "turns exchanges into frames; it answers no question of a user",
  },
  {
    folder: "queries",
    mayImport: [...recording, "recorder"],
    ...effectful,
    why: "answers questions about sessions; it never writes",
  },
  {
    folder: "execute",
    mayImport: [...recording, "recorder", "queries"],
    ...effectful,
    why: "carries out commands of models and users, through the log",
  },
  {
    folder: "host",
    mayImport: serving,
    ...effectful,
    why: "the shell around ledger and log: threads, live streams, memory",
  },
  {
    folder: "proxy",
    mayImport: ["base", "protocols", "exchange", "config", "testing"],
    ...effectful,
    why: "one of two ways in; it relays and knows neither log nor store. It serves the demo model of testing",
  },
  {
    folder: "runtime",
    mayImport: [...serving, "config"],
    ...effectful,
    why: "one of two ways in; it never knows the other. It reads prices itself: no program passes them in",
  },
  {
    folder: "analysis",
    mayImport: [...serving, "host"],
    ...effectful,
    why: "plays recordings through the real planner and log to price them, for the benchmark and a verb",
  },
  {
    folder: "control",
    mayImport: [...serving, "host", "proxy", "runtime", "config"],
    ...effectful,
    why: "what panel and command line talk to",
  },
  {
    folder: "cli",
    mayImport: [...serving, "host", "analysis", "proxy", "runtime", "control", "config", "testing"],
    ...effectful,
    why: "the outermost layer: nothing may import it. Its demo has the scripted model of testing",
  },
  {
    folder: "config",
    mayImport: ["base"],
    ...effectful,
    why: "stands beside base; its data is passed in, so only the outermost layers read it",
  },
  {
    folder: "testing",
    mayImport: ["base"],
    ...effectful,
    why: "its strict upstreams must not share our parsers, or they would share our mistakes",
  },
];

/** The only built-in modules that pure files may import, by name. */
export const pureBuiltins: readonly {
  readonly file: string;
  readonly module: string;
  readonly names: string[];
}[] = [{ file: "src/base/hash.ts", module: "node:crypto", names: ["hash"] }];

/** Unit tests may import these besides what their folder may. */
export const testOnlyImports = { thirdParty: ["vitest", "fast-check"], folders: ["testing"] } as const;

const clock = "time enters as an input; a fold that reads the clock cannot be replayed";
const chance = "randomness enters as an input; replay must give the same bytes";
const world = "a pure folder touches nothing outside its arguments";
const wait = "pure code is synchronous: waiting belongs to the layers that do I/O";

/** Words that betray an impure act. Applied to code without comments and strings. */
export const impureWords: readonly {
  readonly name: string;
  readonly pattern: RegExp;
  readonly why: string;
}[] = [
  { name: "Date.now", pattern: /\bDate\s*\.\s*now\b/, why: clock },
  { name: "new Date(", pattern: /\bnew\s+Date\b/, why: clock },
  { name: "performance.", pattern: /(?<![.\w$])performance\s*\./, why: clock },
  { name: "Math.random", pattern: /\bMath\s*\.\s*random\b/, why: chance },
  {
    name: "crypto",
    pattern: /\bglobalThis\s*\.\s*crypto\b|(?<![.\w$])crypto\s*\.\s*(?:random|getRandom|subtle)/,
    why: chance,
  },
  { name: "process.", pattern: /(?<![.\w$])process\s*[.[]/, why: world },
  { name: "import.meta", pattern: /\bimport\s*\.\s*meta\b/, why: world },
  { name: "console.", pattern: /(?<![.\w$])console\s*\./, why: world },
  { name: "fetch(", pattern: /(?<![.\w$])fetch\s*\(/, why: world },
  { name: "setTimeout", pattern: /(?<![.\w$])setTimeout\b/, why: wait },
  { name: "setInterval", pattern: /(?<![.\w$])setInterval\b/, why: wait },
  { name: "setImmediate", pattern: /(?<![.\w$])setImmediate\b/, why: wait },
  { name: "queueMicrotask", pattern: /(?<![.\w$])queueMicrotask\b/, why: wait },
  { name: "async", pattern: /(?<![.\w$])async\b(?!\s*[:?=,;)])/, why: wait },
  { name: "await", pattern: /(?<![.\w$])await\b(?!\s*[:?=,;)])/, why: wait },
  { name: "Promise", pattern: /(?<![.\w$])Promise(?:Like)?\b/, why: wait },
];
