import { type Flag, json, type Operand, stream, type VerbShape } from "./verb-shape.ts";

/** The verbs by which a user changes the context, or what a model may do with it. */

const targets: readonly Operand[] = [{ name: "TARGET", isRequired: true, isRepeated: true }];
const dryRun: Flag = { name: "dry-run", about: "only say what it would come to, and what that costs" };
const reason: Flag = { name: "reason", value: "WORDS", about: "why, in a few words; the model reads it" };
const common = [dryRun, stream, json] as const;
const when: Flag = {
  name: "when",
  value: "MOMENT",
  about: "now: with the next request, whatever it costs; cache-break (the default): when it costs least",
  choices: ["now", "cache-break"],
};
/** For what changes the look of blocks, which a rewrite shows. */
const shown = [when, ...common] as const;
const scope: Flag = {
  name: "scope",
  value: "SCOPE",
  about: "for how long it holds for this verb: once (the default), turn, session or always",
  choices: ["once", "turn", "session", "always"],
};
const decision = [{ name: "all", about: "all that wait" }, reason, scope, json] as const;
const waiting: readonly Operand[] = [{ name: "N", isRequired: false }];

export const acting = [
  {
    name: "pin",
    about: "keep blocks from being shortened or archived by anybody but you",
    operands: targets,
    flags: [
      { name: "position", value: "PLACE", about: "top (the default) or bottom of the window" },
      ...shown,
    ],
    examples: ["aperture pin 31", "aperture pin 12..18 --dry-run", "aperture pin '#31' --position bottom"],
  },
  {
    name: "unpin",
    about: "let pinned blocks go",
    operands: targets,
    flags: shown,
    examples: ["aperture unpin 31"],
  },
  {
    name: "focus",
    about: "keep blocks at hand until the end of the run",
    operands: targets,
    flags: common,
    examples: ["aperture focus 12 27"],
  },
  {
    name: "compress",
    about: "show blocks shorter from the next rewrite on; their originals stay",
    operands: targets,
    flags: [
      {
        name: "level",
        value: "LEVEL",
        choices: ["trimmed", "summarized", "minimal"],
        about: "trimmed (the default), summarized or minimal",
      },
      ...shown,
    ],
    examples: ["aperture compress 12..18", "aperture compress zone:middle --level minimal --dry-run"],
  },
  {
    name: "archive",
    about: "take blocks out of the window at the next rewrite; a placeholder stays, and they can be recalled",
    operands: targets,
    flags: [reason, ...shown],
    examples: [
      "aperture archive 1..10 --dry-run",
      "aperture archive stale --reason 'not needed any more'",
      "aperture archive 'auth flow' --when now",
    ],
  },
  {
    name: "restore",
    about: "bring back what was archived, or, with --whole, what is shown shorter",
    operands: targets,
    flags: [{ name: "whole", about: "and show it whole, where it stood" }, ...shown],
    examples: ["aperture restore 12", "aperture restore 12..18 --whole --dry-run"],
  },
  {
    name: "recall",
    about: "find what was said by its words, in what is archived too; it only reads",
    operands: [{ name: "WORDS", isRequired: true, isRepeated: true }],
    flags: [stream, json],
    examples: ["aperture recall database migration", "aperture recall 27"],
  },
  {
    name: "create",
    about: "give the model a note that stays; `note` is the same",
    operands: [{ name: "TEXT", isRequired: true }],
    flags: [
      { name: "topic", value: "WORDS", about: "what it is found by" },
      { name: "supersedes", value: "BLOCK", isCount: true, about: "the block it stands for from now on" },
      ...common,
    ],
    examples: ["aperture create 'The API is frozen until May' --topic api"],
  },
  {
    name: "note",
    about: "the same as create",
    operands: [{ name: "TEXT", isRequired: true }],
    flags: [
      { name: "topic", value: "WORDS", about: "what it is found by" },
      { name: "supersedes", value: "BLOCK", isCount: true, about: "the block it stands for from now on" },
      ...common,
    ],
    examples: ["aperture note 'Tests run with npm test'"],
  },
  {
    name: "update",
    about: "say anew what a block says: a note that stands for it; the original stays",
    operands: [
      { name: "BLOCK", isRequired: true },
      { name: "TEXT", isRequired: true },
    ],
    flags: common,
    examples: ["aperture update 12 'The port is 4410 now'"],
  },
  {
    name: "scope",
    about: "how far a note is known: in this session or in the whole project",
    operands: [{ name: "SCOPE", isRequired: true, choices: ["project", "session"] }, ...targets],
    flags: common,
    examples: ["aperture scope project 58", "aperture scope session 58"],
  },
  {
    name: "diff",
    about: "what has changed in the context since the last turn, since the one you name, or between two seqs",
    operands: [
      { name: "SEQ_A", isRequired: false },
      { name: "SEQ_B", isRequired: false },
    ],
    flags: [{ name: "since", value: "TURN", isCount: true, about: "since this turn" }, stream, json],
    examples: ["aperture diff", "aperture diff --since 1", "aperture diff 1 5"],
  },
  {
    name: "withhold",
    about: "send blocks no more, in no request, from the next one on",
    operands: targets,
    flags: [{ name: "release", about: "let them be sent again" }, ...common],
    examples: ["aperture withhold 12", "aperture withhold 12 --release"],
  },
  {
    name: "purge",
    about: "erase what is stored of blocks, for good; no undo brings it back",
    operands: targets,
    flags: common,
    examples: ["aperture purge 12 --dry-run", "aperture purge 12 --yes"],
  },
  {
    name: "mode",
    about: "how much is done without asking in a session; without a word, say what is set",
    operands: [{ name: "MODE", isRequired: false, choices: ["observe", "ask", "auto", "default"] }],
    flags: [json],
    examples: ["aperture mode", "aperture mode ask", "aperture mode default"],
  },
  {
    name: "permissions",
    about: "what models may do in every session without asking you, or may not; without a word, list it",
    operands: [
      { name: "RULE", isRequired: false },
      { name: "VERB", isRequired: false },
    ],
    flags: [
      { name: "zone", value: "ZONE", about: "only for blocks there: primacy, middle, recency or cold" },
      json,
    ],
    examples: [
      "aperture permissions",
      "aperture permissions allow archive --zone middle",
      "aperture permissions deny create",
      "aperture permissions forget create",
    ],
  },
  {
    name: "approvals",
    about: "what the model wants to do and waits for you to decide",
    operands: [],
    flags: [{ name: "all", about: "also what was decided" }, stream, json],
    examples: ["aperture approvals", "aperture approvals --all"],
  },
  {
    name: "approve",
    about: "let the model do what it asked for",
    operands: waiting,
    flags: decision,
    examples: ["aperture approve 3", "aperture approve 3 --scope always", "aperture approve --all"],
  },
  {
    name: "deny",
    about: "do not let the model do what it asked for",
    operands: waiting,
    flags: decision,
    examples: ["aperture deny 3 --reason 'I still need that'", "aperture deny --all"],
  },
] as const satisfies readonly VerbShape[];
