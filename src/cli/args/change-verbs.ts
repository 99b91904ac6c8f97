import { type Flag, json, type Operand, stream, type VerbSpec } from "./verb-spec.ts";

const targets: readonly Operand[] = [{ name: "TARGET", isRequired: true, isRepeated: true }];
const dryRun: Flag = { name: "dry-run", about: "show the effect and the cost, and change nothing" };
const reason: Flag = { name: "reason", value: "WORDS", about: "why, in a few words; the model reads it" };
const common = [dryRun, stream, json] as const;
const when: Flag = {
  name: "when",
  choices: ["now", "cache-break"],
  about: "with the next request at any cost, or when it costs least (default: cache-break)",
};
/** For verbs whose effect reaches the model with a rewrite. */
const applied = [when, ...common] as const;
const memoryFlags = [
  { name: "topic", value: "WORDS", about: "words that find the memory" },
  { name: "supersedes", value: "BLOCK", isCount: true, about: "the block that the memory replaces" },
  ...common,
] as const;

export const changeVerbs = [
  {
    name: "pin",
    about: "protect blocks, so that only you can compress or archive them",
    operands: targets,
    flags: [
      {
        name: "position",
        choices: ["top", "bottom"],
        about: "top or bottom of the window (default: top)",
      },
      ...applied,
    ],
    examples: ["aperture pin 31", "aperture pin 12..18 --dry-run", "aperture pin '#31' --position bottom"],
  },
  {
    name: "unpin",
    about: "remove the protection of pinned blocks",
    operands: targets,
    flags: applied,
    examples: ["aperture unpin 31"],
  },
  {
    name: "focus",
    about: "protect blocks until the end of the run",
    operands: targets,
    flags: common,
    examples: ["aperture focus 12 27"],
  },
  {
    name: "select",
    about: "point the model at blocks in its next turn; without blocks, show the selection",
    operands: [{ name: "BLOCK", isRequired: false, isRepeated: true }],
    flags: [{ name: "clear", about: "clear the selection" }, stream, json],
    examples: ["aperture select 12 27", "aperture select '#12' 14..18", "aperture select --clear"],
  },
  {
    name: "compress",
    about: "send blocks shortened from the next rewrite on; the originals are kept",
    operands: targets,
    flags: [
      {
        name: "level",
        choices: ["trimmed", "summarized", "minimal"],
        about: "how short (default: trimmed)",
      },
      ...applied,
    ],
    examples: ["aperture compress 12..18", "aperture compress zone:middle --level minimal --dry-run"],
  },
  {
    name: "archive",
    about: "remove blocks from the window at the next rewrite; a placeholder stays, and recall finds them",
    operands: targets,
    flags: [reason, ...applied],
    examples: [
      "aperture archive 1..10 --dry-run",
      "aperture archive stale --reason 'not needed any more'",
      "aperture archive 'auth flow' --when now",
    ],
  },
  {
    name: "restore",
    about: "send archived blocks again; with --whole, also blocks that are sent shortened",
    operands: targets,
    flags: [{ name: "whole", about: "send the whole block, at its old position" }, ...applied],
    examples: ["aperture restore 12", "aperture restore 12..18 --whole --dry-run"],
  },
  {
    name: "create",
    about: "give the model a memory that stays in its window",
    operands: [{ name: "TEXT", isRequired: true }],
    flags: memoryFlags,
    examples: ["aperture create 'The API is frozen until May' --topic api"],
  },
  {
    name: "note",
    about: "same as create",
    operands: [{ name: "TEXT", isRequired: true }],
    flags: memoryFlags,
    examples: ["aperture note 'Tests run with npm test'"],
  },
  {
    name: "update",
    about: "replace what a block says with a memory; the original is kept",
    operands: [
      { name: "BLOCK", isRequired: true },
      { name: "TEXT", isRequired: true },
    ],
    flags: common,
    examples: ["aperture update 12 'The port is 4410 now'"],
  },
  {
    name: "scope",
    about: "share a memory with the whole project, or limit it to this session",
    operands: [{ name: "SCOPE", isRequired: true, choices: ["project", "session"] }, ...targets],
    flags: common,
    examples: ["aperture scope project 58", "aperture scope session 58"],
  },
  {
    name: "withhold",
    about: "never send blocks again, from the next request on",
    operands: targets,
    flags: [{ name: "release", about: "send them again" }, ...common],
    examples: ["aperture withhold 12", "aperture withhold 12 --release"],
  },
] as const satisfies readonly VerbSpec[];

const stepOperands: readonly Operand[] = [
  { name: "SESSION", isRequired: false },
  { name: "STEP", isRequired: false },
];
const approval: readonly Operand[] = [{ name: "N", isRequired: false }];
const decisionFlags = [
  { name: "all", about: "decide all that wait" },
  reason,
  {
    name: "scope",
    choices: ["once", "turn", "session", "always"],
    about: "how long the decision holds for this verb (default: once)",
  },
  json,
] as const;

export const decideVerbs = [
  {
    name: "undo",
    about: "undo the last step, or the given one: a change to blocks by you, the model or policy",
    operands: stepOperands,
    flags: [{ name: "turn", about: "undo all steps of the last turn that has any" }, json],
    examples: ["aperture undo", "aperture undo 12", "aperture undo 3f9a 12", "aperture undo --turn"],
  },
  {
    name: "redo",
    about: "redo the step that was undone last, or the given one",
    operands: stepOperands,
    flags: [json],
    examples: ["aperture redo", "aperture redo 12"],
  },
  {
    name: "approvals",
    about: "list the commands of the model that wait for your decision",
    operands: [],
    flags: [{ name: "all", about: "include decided commands" }, stream, json],
    examples: ["aperture approvals", "aperture approvals --all"],
  },
  {
    name: "approve",
    about: "approve a command of the model",
    operands: approval,
    flags: decisionFlags,
    examples: ["aperture approve 3", "aperture approve 3 --scope always", "aperture approve --all"],
  },
  {
    name: "deny",
    about: "deny a command of the model",
    operands: approval,
    flags: decisionFlags,
    examples: ["aperture deny 3 --reason 'I still need that'", "aperture deny --all"],
  },
  {
    name: "mode",
    about: "set how much is done in a session without asking; without a mode, show it",
    operands: [{ name: "MODE", isRequired: false, choices: ["observe", "ask", "auto", "default"] }],
    flags: [json],
    examples: ["aperture mode", "aperture mode ask", "aperture mode default"],
  },
  {
    name: "permissions",
    about: "set what models may do in every session; without a rule, list the rules",
    operands: [
      { name: "RULE", isRequired: false, choices: ["allow", "ask", "deny", "forget"] },
      { name: "VERB", isRequired: false },
    ],
    flags: [
      {
        name: "zone",
        choices: ["primacy", "middle", "recency", "cold", "all"],
        about: "only for blocks in this zone (default: all)",
      },
      json,
    ],
    examples: [
      "aperture permissions",
      "aperture permissions allow archive --zone middle",
      "aperture permissions deny create",
      "aperture permissions forget create",
    ],
  },
] as const satisfies readonly VerbSpec[];
