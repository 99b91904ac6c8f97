// The rules about who may know whom, as data. Each carries its reason, which the failing test prints.

export type Layer = {
  readonly folder: string;
  readonly mayImport: readonly string[];
  /** Pure: same arguments, same answer. No I/O, clock, randomness, environment or promises. */
  readonly pure: boolean;
  readonly thirdParty: boolean;
  readonly why: string;
};

const upToCommands = ["base", "engine", "render", "commands"] as const;
const upToTokens = [...upToCommands, "protocols", "levels", "tokens"] as const;
const upToSidecar = [...upToTokens, "store", "recall", "sidecar"] as const;
const upToSession = [...upToSidecar, "session"] as const;

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
  { folder: "render", mayImport: ["base", "engine"], ...pure, why: "what is shown follows from state alone" },
  {
    folder: "commands",
    mayImport: ["base", "engine"],
    ...pure,
    why: "a request becomes deltas, never an act",
  },
  {
    folder: "protocols",
    mayImport: upToCommands,
    pure: true,
    thirdParty: true,
    why: "bytes become values and back; sockets live elsewhere",
  },
  {
    folder: "levels",
    mayImport: upToCommands,
    ...effectful,
    why: "texts of blocks; results enter as inputs",
  },
  { folder: "tokens", mayImport: upToCommands, ...effectful, why: "counts; results enter as inputs" },
  { folder: "store", mayImport: upToTokens, ...effectful, why: "keeps what it is given and decides nothing" },
  { folder: "recall", mayImport: upToTokens, ...effectful, why: "finds what is stored and decides nothing" },
  { folder: "sidecar", mayImport: upToTokens, ...effectful, why: "works in the background, through a port" },
  {
    folder: "transcripts",
    mayImport: ["base"],
    ...pure,
    why: "what clients write down of their sessions becomes recordings; whose they are is nobody's business here",
  },
  {
    folder: "session",
    mayImport: [...upToSidecar, "transcripts"],
    ...effectful,
    why: "what proxy and runtime share, so that neither needs the other",
  },
  {
    folder: "proxy",
    mayImport: [...upToSession, "config", "testing"],
    ...effectful,
    why: "one of two ways in; it never knows the other. It serves the scripted demo model of testing",
  },
  {
    folder: "runtime",
    mayImport: [...upToSession, "config"],
    ...effectful,
    why: "one of two ways in; it never knows the other. Nobody stands around it who would pass prices in",
  },
  {
    folder: "analysis",
    mayImport: [...upToSession, "transcripts"],
    ...effectful,
    why: "plays recordings through the real desk and log to price them: what a benchmark and a verb share",
  },
  {
    folder: "control",
    mayImport: [...upToSession, "proxy", "runtime", "config"],
    ...effectful,
    why: "what panel and command line talk to",
  },
  {
    folder: "cli",
    mayImport: [
      ...upToSession,
      "transcripts",
      "analysis",
      "proxy",
      "runtime",
      "control",
      "config",
      "testing",
    ],
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
