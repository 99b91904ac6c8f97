import { acting } from "./verb-acts.ts";
import { type Flag, json, limit, session, stream, type VerbShape } from "./verb-shape.ts";

export type { Flag } from "./verb-shape.ts";

/** Known to every verb. */
export const globalFlags: readonly Flag[] = [
  { name: "port", value: "PORT", about: "stands above APERTURE_PORT" },
  { name: "host", value: "HOST", about: "stands above APERTURE_HOST" },
  { name: "data-dir", value: "DIR", about: "stands above APERTURE_DATA_DIR" },
  { name: "quiet", short: "q", about: "no headings and no remarks, only what was asked for" },
  { name: "no-color", about: "no colours; NO_COLOR does the same" },
  { name: "help", short: "h", about: "what a verb does, with examples" },
  { name: "version", about: "the version" },
];

const reading = [
  {
    name: "status",
    about: "whether Aperture runs, what it records and what passed through it",
    operands: [],
    flags: [json],
    examples: ["aperture status", "aperture status --json"],
  },
  {
    name: "sessions",
    about: "all sessions, the last one used first",
    operands: [],
    flags: [limit, json],
    examples: ["aperture sessions", "aperture sessions --limit 5"],
  },
  {
    name: "context",
    about: "what is in the context window of a session",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [
      session,
      { name: "at", value: "SEQ", isCount: true, about: "as it was at this seq" },
      stream,
      json,
    ],
    examples: ["aperture context", "aperture context 3f9a --at 120"],
  },
  {
    name: "manifest",
    about: "what the model of a session is told of its context now",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [
      {
        name: "detailed",
        about: "the long form, as at the start of an epoch; without it, that of every turn",
      },
      session,
      stream,
      json,
    ],
    examples: ["aperture manifest", "aperture manifest 3f9a --detailed"],
  },
  {
    name: "select",
    about: "point the model at blocks: its next turn says which; without blocks, say which are selected",
    operands: [{ name: "BLOCK", isRequired: false, isRepeated: true }],
    flags: [{ name: "clear", about: "select nothing any more" }, session, stream, json],
    examples: ["aperture select 12 27", "aperture select '#12' 14..18", "aperture select --clear"],
  },
  {
    name: "show",
    about: "one block: how it is shown and wanted, its size at every level, and what was done to it",
    operands: [{ name: "BLOCK", isRequired: true }],
    flags: [
      session,
      { name: "at", value: "SEQ", isCount: true, about: "as it was at this seq" },
      stream,
      json,
    ],
    examples: ["aperture show 18", "aperture show '#18' --at 120"],
  },
  {
    name: "undo",
    about:
      "take back what was done to blocks, by you, the model or policy: the last step, or the one you name",
    operands: [
      { name: "SESSION", isRequired: false },
      { name: "STEP", isRequired: false },
    ],
    flags: [{ name: "turn", about: "all steps of the last turn in which something was done" }, session, json],
    examples: ["aperture undo", "aperture undo 12", "aperture undo 3f9a 12", "aperture undo --turn"],
  },
  {
    name: "redo",
    about: "do again what was taken back: the last such step, or the one you name",
    operands: [
      { name: "SESSION", isRequired: false },
      { name: "STEP", isRequired: false },
    ],
    flags: [session, json],
    examples: ["aperture redo", "aperture redo 12"],
  },
  {
    name: "expand",
    about:
      "what is stored of a block or of messages, as a model would get it; it only reads, nothing sent changes",
    operands: [{ name: "TARGET", isRequired: true }],
    flags: [session, stream, json],
    examples: ["aperture expand 27", "aperture expand message-10..25"],
  },
  {
    name: "requests",
    about: "the requests of a session, the newest last",
    operands: [],
    flags: [session, limit, json],
    examples: ["aperture requests", "aperture requests --session 3f9a --limit 5"],
  },
  {
    name: "request",
    about: "one request, or the exact bytes of one of its bodies",
    operands: [{ name: "N", isRequired: true }],
    flags: [
      { name: "client", about: "the request as the client sent it" },
      { name: "upstream", about: "the request as it went upstream" },
      { name: "response", about: "the response as it came from upstream" },
      session,
      json,
    ],
    examples: ["aperture request 7", "aperture request 7 --upstream > body.json"],
  },
  {
    name: "log",
    about: "the frames of a session in words, the newest last",
    operands: [],
    flags: [
      session,
      limit,
      {
        name: "steps",
        about: "only what was done to blocks, with the numbers that undo takes, and whether it holds",
      },
      { name: "all", about: "also the frames that only keep books: references and renditions" },
      { name: "watch", about: "go on with what happens next; with --json, one event per line" },
      json,
    ],
    examples: ["aperture log", "aperture log --steps", "aperture log --limit 5 --watch"],
  },
] as const satisfies readonly VerbShape[];

const running = [
  {
    name: "up",
    about: "start Aperture in the foreground (the default)",
    operands: [],
    flags: [],
    examples: ["aperture up", "aperture up --port 4410"],
  },
  {
    name: "run",
    about: "start a client that talks through Aperture, which is started for it if none runs",
    operands: [{ name: "CLIENT", isRequired: true }],
    passesOn: true,
    flags: [],
    examples: ["aperture run claude", "aperture run claude -- --continue", "aperture run python agent.py"],
  },
  {
    name: "doctor",
    about: "check that everything fits together, with a way out for each finding",
    operands: [],
    flags: [{ name: "json", about: "print the findings, one JSON value" }],
    examples: ["aperture doctor"],
  },
  {
    name: "help",
    about: "this text, or what a verb does",
    operands: [{ name: "VERB", isRequired: false }],
    flags: [],
    examples: ["aperture help context"],
  },
  {
    name: "version",
    about: "the version",
    operands: [],
    flags: [],
    examples: ["aperture version"],
  },
] as const satisfies readonly VerbShape[];

export type VerbName = (typeof reading | typeof running | typeof acting)[number]["name"];
export type Verb = VerbShape & { readonly name: VerbName };
export const verbTable: readonly Verb[] = [
  ...running.slice(0, 3),
  ...reading,
  ...acting,
  ...running.slice(3),
];

export function verbNamed(name: string): Verb | null {
  return verbTable.find((verb) => verb.name === name) ?? null;
}

/** As it is written: `--limit N`, `-q, --quiet`. */
export function flagText({ name, short, value }: Flag): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
}
