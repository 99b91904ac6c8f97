import { clientNames } from "./launch/wiring.ts";
import { acting } from "./verb-acts.ts";
import { looking } from "./verb-looks.ts";
import { serving } from "./verb-serves.ts";
import { at, type Flag, json, limit, session, stream, type VerbShape, watch } from "./verb-shape.ts";
import { transcripts } from "./verb-transcripts.ts";

export type { Flag } from "./verb-shape.ts";

/** Known to every verb. */
export const globalFlags: readonly Flag[] = [
  session,
  { name: "config", value: "FILE", about: "stands above APERTURE_CONFIG" },
  { name: "port", value: "PORT", about: "stands above APERTURE_PORT" },
  { name: "host", value: "HOST", about: "stands above APERTURE_HOST" },
  { name: "data-dir", value: "DIR", about: "stands above APERTURE_DATA_DIR" },
  { name: "quiet", short: "q", about: "no headings and no remarks, only what was asked for" },
  { name: "verbose", short: "v", about: "say what is asked of Aperture, and how long it took" },
  { name: "no-color", about: "no colours; NO_COLOR does the same" },
  { name: "plain", about: "no colours, and one tab between columns: for programs that read lines" },
  { name: "no-input", about: "never ask anything; what would have to be asked is refused" },
  { name: "yes", short: "y", about: "do what else would have to be confirmed" },
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
    flags: [limit, watch, json],
    examples: ["aperture sessions", "aperture sessions --limit 5"],
  },
  {
    name: "context",
    about: "what is in the context window of a session",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [at, stream, watch, json],
    examples: ["aperture context", "aperture context last --at 1", "aperture context --watch"],
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
      stream,
      watch,
      json,
    ],
    examples: ["aperture manifest", "aperture manifest 3f9a --detailed"],
  },
  {
    name: "select",
    about: "point the model at blocks: its next turn says which; without blocks, say which are selected",
    operands: [{ name: "BLOCK", isRequired: false, isRepeated: true }],
    flags: [{ name: "clear", about: "select nothing any more" }, stream, json],
    examples: ["aperture select 12 27", "aperture select '#12' 14..18", "aperture select --clear"],
  },
  {
    name: "show",
    about: "one block: how it is shown and wanted, its size at every level, and what was done to it",
    operands: [{ name: "BLOCK", isRequired: true }],
    flags: [at, stream, json],
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
    flags: [{ name: "turn", about: "all steps of the last turn in which something was done" }, json],
    examples: ["aperture undo", "aperture undo 12", "aperture undo 3f9a 12", "aperture undo --turn"],
  },
  {
    name: "redo",
    about: "do again what was taken back: the last such step, or the one you name",
    operands: [
      { name: "SESSION", isRequired: false },
      { name: "STEP", isRequired: false },
    ],
    flags: [json],
    examples: ["aperture redo", "aperture redo 12"],
  },
  {
    name: "expand",
    about:
      "what is stored of a block or of messages, as a model would get it; it only reads, nothing sent changes",
    operands: [{ name: "TARGET", isRequired: true }],
    flags: [stream, json],
    examples: ["aperture expand 27", "aperture expand message-10..25"],
  },
  {
    name: "requests",
    about: "the requests of a session, the newest last",
    operands: [],
    flags: [limit, json],
    examples: ["aperture requests", "aperture requests --session 3f9a --limit 5"],
  },
  {
    name: "request",
    about: "one request, how it differs from what the client sent, or the exact bytes of one of its bodies",
    operands: [{ name: "N", isRequired: true }],
    flags: [
      { name: "client", about: "the request as the client sent it" },
      { name: "upstream", about: "the request as it went upstream" },
      { name: "response", about: "the response as it came from upstream" },
      { name: "diff", about: "what the client sent against what went upstream, with the reasons" },
      { name: "previous", about: "what the request before sent upstream against what this one did" },
      { name: "replay", about: "what the strict model inside says to what went upstream; nothing is sent" },
      json,
    ],
    examples: [
      "aperture request 7",
      "aperture request 7 --diff",
      "aperture request 7 --upstream > body.json",
    ],
  },
  {
    name: "log",
    about: "the frames of a session in words, the newest last",
    operands: [],
    flags: [
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

const written = [
  { name: "dir", value: "DIR", about: "the project's folder; without it, this one" },
  { name: "out", value: "FILE", about: "write it there" },
  stream,
  json,
] as const;

const running = [
  {
    name: "up",
    about: "start Aperture in the foreground (the default)",
    operands: [],
    flags: [{ name: "detach", about: "in the background; returns when it is ready" }],
    examples: ["aperture up", "aperture up --port 4410", "aperture up --detach"],
  },
  {
    name: "run",
    about: "start a client that talks through Aperture, which is started for it if none runs",
    operands: [{ name: "CLIENT", isRequired: true, choices: clientNames }],
    passesOn: true,
    flags: [
      {
        name: "mode",
        value: "MODE",
        choices: ["observe", "ask", "auto"],
        about: "how much is done without asking; before the client's name",
      },
    ],
    examples: [
      "aperture run claude",
      "aperture run claude -- --continue",
      "aperture run --mode observe codex",
      "aperture run python agent.py",
    ],
  },
  {
    name: "demo",
    about: "a day's work of a scripted model to watch, with the panel; no key, no network, nothing is left",
    operands: [],
    flags: [
      {
        name: "pace",
        value: "MS",
        isCount: true,
        about: "how long to wait between two answers; without it, 1200",
      },
      { name: "once", about: "end with the last answer, rather than with Ctrl-C" },
    ],
    examples: ["aperture demo", "aperture demo --pace 1 --once"],
  },
  {
    name: "doctor",
    about: "check that everything fits together, with a way out for each finding",
    operands: [],
    flags: [{ name: "json", about: "print the findings, one JSON value" }],
    examples: ["aperture doctor"],
  },
  {
    name: "fork",
    about: "write what the model had before it as a transcript that another client can go on with",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [
      { name: "at", value: "SEQ", isCount: true, about: "as it was at this seq; without it, now" },
      { name: "to", value: "CLIENT", about: "claude, codex or pi: in its own form, where it looks for it" },
      ...written,
    ],
    examples: ["aperture fork 3f9a --at 120 --to claude", "aperture fork --to pi --out talk.jsonl"],
  },
  {
    name: "leave",
    about: "write the session as it is now for its client to go on with, without Aperture",
    operands: [{ name: "SESSION", isRequired: false }],
    flags: [
      { name: "to", value: "CLIENT", about: "for another client than its own: claude, codex or pi" },
      ...written,
    ],
    examples: ["aperture leave", "aperture leave 3f9a --dir ~/project"],
  },
  {
    name: "help",
    about: "what to type first; what a verb does, those of a group (look, change, ...), or all of them",
    operands: [{ name: "VERB", isRequired: false }],
    flags: [],
    examples: ["aperture help", "aperture help context", "aperture help look", "aperture help all"],
  },
  {
    name: "version",
    about: "the version",
    operands: [],
    flags: [],
    examples: ["aperture version"],
  },
] as const satisfies readonly VerbShape[];

type Own = typeof reading | typeof running;
type Shapes = Own | typeof acting | typeof looking | typeof serving | typeof transcripts;
export type VerbName = Shapes[number]["name"];
export type Verb = VerbShape & { readonly name: VerbName };
export const verbTable: readonly Verb[] = [
  ...running.slice(0, 4),
  ...serving,
  ...transcripts,
  ...reading,
  ...looking,
  ...acting,
  ...running.slice(4),
];

export function verbNamed(name: string): Verb | null {
  return verbTable.find((verb) => verb.name === name) ?? null;
}

/** As it is written: `--limit N`, `-q, --quiet`. */
export function flagText({ name, short, value }: Flag): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
}
