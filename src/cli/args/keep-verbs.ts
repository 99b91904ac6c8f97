import { type Flag, json, type Operand, stream, type VerbSpec } from "./verb-spec.ts";

const session: readonly Operand[] = [{ name: "SESSION", isRequired: false }];
const transcripts: readonly Operand[] = [{ name: "FILE", isRequired: false, isRepeated: true }];
const continuing: Flag = {
  name: "to",
  choices: ["claude", "codex", "pi"],
  about: "the client that continues (default: the session's own)",
};
const transcriptFlags = [
  { name: "dir", value: "DIR", about: "folder of the project (default: the current one)" },
  { name: "out", value: "FILE", about: "write this file instead of the one where the client looks" },
  stream,
  json,
] as const;

export const moveVerbs = [
  {
    name: "analyze",
    about: "show what your own transcripts contain and cost, and what Aperture would have saved",
    operands: transcripts,
    flags: [
      { name: "html", value: "FILE", about: "also write a page with charts that loads nothing" },
      { name: "limit", value: "N", isCount: true, about: "number of sessions, newest first (default: 50)" },
      { name: "json", about: "print all figures as one JSON value" },
    ],
    examples: [
      "aperture analyze",
      "aperture analyze --html report.html",
      "aperture analyze ~/.codex/sessions",
    ],
  },
  {
    name: "import",
    about: "import your transcripts as sessions; importing again adds only what is new",
    operands: transcripts,
    flags: [
      { name: "limit", value: "N", isCount: true, about: "number of sessions, newest first (default: all)" },
      { name: "json", about: "print the result as one JSON value" },
    ],
    examples: ["aperture import", "aperture import ~/.claude/projects", "aperture import talk.jsonl"],
  },
  {
    name: "export",
    about: "write a whole session to a file: everything (jsonl), to read (md, html), or for HTTP tools (har)",
    operands: session,
    flags: [
      { name: "format", choices: ["jsonl", "html", "md", "har"], about: "file format (default: jsonl)" },
      { name: "out", value: "FILE", about: "write a new file instead of standard output" },
      { name: "with-secrets", about: "mask nothing; asks twice, at a terminal only" },
    ],
    examples: [
      "aperture export last > session.jsonl",
      "aperture export last --format html --out session.html",
      "aperture export --format md",
    ],
  },
  {
    name: "replay",
    about: "replay a session frame by frame, and compare all stored bodies byte by byte",
    operands: session,
    flags: [
      { name: "verify", about: "exit with 1 if anything differs" },
      { name: "to", value: "SEQ", isCount: true, about: "stop after this seq" },
      json,
    ],
    examples: ["aperture replay last --verify", "aperture replay session.jsonl --verify"],
  },
  {
    name: "fork",
    about: "write a session as a transcript that another client can continue",
    operands: session,
    flags: [
      { name: "at", value: "SEQ", isCount: true, about: "as of this seq (default: now)" },
      continuing,
      ...transcriptFlags,
    ],
    examples: ["aperture fork 3f9a --at 120 --to claude", "aperture fork --to pi --out talk.jsonl"],
  },
  {
    name: "leave",
    about: "write a session as it is now as a transcript that its client can continue without Aperture",
    operands: session,
    flags: [continuing, ...transcriptFlags],
    examples: ["aperture leave", "aperture leave 3f9a --dir ~/project"],
  },
] as const satisfies readonly VerbSpec[];

export const keepVerbs = [
  {
    name: "config",
    about:
      "show the settings and their sources (get), change the config file (set, unset), show paths (path)",
    operands: [
      { name: "ACTION", isRequired: false, choices: ["get", "set", "unset", "path"] },
      { name: "NAME", isRequired: false },
      { name: "VALUE", isRequired: false },
    ],
    flags: [json],
    examples: [
      "aperture config",
      "aperture config get mode",
      "aperture config set mode observe",
      "aperture config unset mode",
      "aperture config path",
    ],
  },
  {
    name: "backup",
    about: "copy the database to a new file, whether Aperture runs or not",
    operands: [{ name: "FILE", isRequired: false }],
    flags: [json],
    examples: ["aperture backup", "aperture backup before-the-update.db"],
  },
  {
    name: "verify",
    about: "check every stored frame, content and body against its hash",
    operands: [],
    flags: [{ name: "tail", about: "check only the newest frames of every session" }, json],
    examples: ["aperture verify", "aperture verify --tail"],
  },
  {
    name: "gc",
    about: "delete stored data that nothing refers to, and free its disk space",
    operands: [],
    flags: [json],
    examples: ["aperture gc"],
  },
  {
    name: "purge",
    about: "erase the stored content of blocks permanently; undo cannot bring it back",
    operands: [{ name: "TARGET", isRequired: true, isRepeated: true }],
    flags: [{ name: "dry-run", about: "show the effect and the cost, and change nothing" }, stream, json],
    examples: ["aperture purge 12 --dry-run", "aperture purge 12 --yes"],
  },
] as const satisfies readonly VerbSpec[];

export const helpVerbs = [
  {
    name: "help",
    about: "show the first steps; help on a verb or a group of verbs; the global options; or everything",
    operands: [{ name: "TOPIC", isRequired: false }],
    flags: [],
    examples: [
      "aperture help",
      "aperture help context",
      "aperture help look",
      "aperture help options",
      "aperture help all",
    ],
  },
  {
    name: "version",
    about: "print the version",
    operands: [],
    flags: [],
    examples: ["aperture version"],
  },
] as const satisfies readonly VerbSpec[];
