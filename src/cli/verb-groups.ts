import type { VerbName } from "./verb-table.ts";

/** What the verbs are for. Every verb stands in one group; a test keeps it so. */
export type VerbGroup = {
  readonly name: string;
  readonly about: string;
  readonly verbs: readonly VerbName[];
};

export const verbGroups: readonly VerbGroup[] = [
  {
    name: "start",
    about: "start Aperture, stop it, see that it works",
    verbs: ["demo", "run", "up", "down", "status", "open", "doctor"],
  },
  {
    name: "connect",
    about: "lead clients through it, for good or for one shell",
    verbs: ["env", "install", "uninstall", "statusline", "completion"],
  },
  {
    name: "look",
    about: "see what the model has before it, what was sent and what it cost",
    verbs: [
      "sessions",
      "context",
      "blocks",
      "show",
      "expand",
      "recall",
      "manifest",
      "requests",
      "request",
      "log",
      "diff",
      "cost",
    ],
  },
  {
    name: "change",
    about: "do to blocks what the model can do",
    verbs: [
      "pin",
      "unpin",
      "focus",
      "select",
      "compress",
      "archive",
      "restore",
      "create",
      "note",
      "update",
      "scope",
      "withhold",
    ],
  },
  {
    name: "decide",
    about: "take back what was done, and say what may be done",
    verbs: ["undo", "redo", "approvals", "approve", "deny", "mode", "permissions"],
  },
  {
    name: "move",
    about: "bring sessions in, take them out, leave",
    verbs: ["analyze", "import", "export", "replay", "fork", "leave"],
  },
  {
    name: "keep",
    about: "look after what is stored, and the settings",
    verbs: ["config", "backup", "verify", "gc", "purge"],
  },
  { name: "help", about: "say what can be said", verbs: ["help", "version"] },
];

export function groupNamed(name: string): VerbGroup | null {
  return verbGroups.find((group) => group.name === name) ?? null;
}

/** What somebody who has never heard of it types first, in this order. */
export const firstSteps: readonly (readonly [line: string, about: string])[] = [
  ["aperture demo", "watch it work on a scripted session: no key, no network"],
  ["aperture analyze", "what your own transcripts hold and cost, and what Aperture would have saved"],
  ["aperture run claude", "your own client, through Aperture; nothing of it changes"],
  ["aperture open", "the panel of the Aperture that runs: look, steer, undo"],
  ["aperture doctor", "what is wrong, and how to mend it"],
];
