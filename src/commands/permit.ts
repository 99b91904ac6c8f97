import type { MessageId } from "../base/index.ts";
import {
  type Actor,
  blocksOf,
  factOf,
  factValue,
  isWithheld,
  type Moment,
  notesOf,
  type Place,
  pairOf,
  type View,
  zoneOf,
} from "../engine/index.ts";
import { type Command, isReading, type Verb } from "./command.ts";
import { allows, type Permission, permissionFor } from "./permission.ts";

/** What a session lets a model do: nothing, only what the user has agreed to, or what can be undone. */
export type Mode = "observe" | "ask" | "auto";

/** Whether a command may touch a block: at once, after the user has agreed, or not at all. */
export type Permit = "free" | { readonly ask: string } | { readonly never: string };

export type Asked = {
  readonly actor: Actor;
  readonly command: Command;
  readonly mode: Mode;
  /** New content of this turn that nobody vouches for speaks the language of commands. */
  readonly tainted: boolean;
  readonly permissions: readonly Permission[];
  readonly latestUser: MessageId | null;
  /** The user has said yes to this very command. */
  readonly isApproved?: boolean;
};

type Row = {
  readonly verbs: readonly Verb[];
  /** Asked of every block that changes along; a row that looks at the whole pair itself is asked once. */
  readonly isOfPair?: true;
  readonly applies: (place: Place, asked: Asked) => boolean;
  readonly answer: "never" | "ask";
  readonly why: string;
};

const giving = ["expand", "recall"] as const satisfies readonly Verb[];
const lowering = ["compress", "archive", "update", "create"] as const satisfies readonly Verb[];
const noting = ["update", "create"] as const satisfies readonly Verb[];
const writing = [...lowering, "pin", "unpin", "focus"] as const satisfies readonly Verb[];

/** Who is not the user may do everything but this. A model may still pin what the user said or selected. */
export const permitTable: readonly Row[] = [
  {
    verbs: [...writing, ...giving],
    isOfPair: true,
    applies: isWithheld,
    answer: "never",
    why: "the user withheld it",
  },
  {
    verbs: writing,
    applies: ({ block }) => block.kind === "system",
    answer: "never",
    why: "it belongs to the system prompt",
  },
  {
    verbs: [...lowering, "pin", "unpin"],
    applies: isPinnedByUser,
    answer: "never",
    why: "the user pinned it",
  },
  {
    verbs: [...lowering, "unpin"],
    applies: (place) => factValue(place, "selection"),
    answer: "never",
    why: "the user has selected it",
  },
  {
    verbs: lowering,
    applies: ({ block }, { latestUser }) => block.kind === "user" && block.message === latestUser,
    answer: "never",
    why: "it is the latest message of the user",
  },
  {
    verbs: ["compress", "archive"],
    applies: (place, { command }) => isByUser(place) && !isGentle(command),
    answer: "ask",
    why: "the user wrote it, and only trimmed is free",
  },
  {
    verbs: noting,
    applies: isByUser,
    answer: "ask",
    why: "it would replace what the user wrote",
  },
  {
    verbs: writing,
    applies: ({ moment, block }) => notesOf(moment, block.id)?.scope === "project",
    answer: "ask",
    why: "it belongs to the whole project",
  },
];

/** Why a turn asks that has heard what nobody vouches for. */
export const taintedWhy = "new content in this turn contains words that look like commands";

/** The answer for one block, or for a command that touches none. What changes together is judged together. */
export function permitFor(asked: Asked, place: Place | null): Permit {
  const { verb } = asked.command;
  if (asked.actor === "user") return isFixed(verb, place) ? { never: fixedWhy } : "free";
  if (asked.mode === "observe") return { never: "this session is only observed" };
  const rows = place === null ? [] : rowsFor(asked, place);
  const forbidden = rows.find(({ answer }) => answer === "never");
  if (forbidden !== undefined) return { never: forbidden.why };
  if (asked.isApproved === true) return "free";
  const zone = place === null || asked.permissions.length === 0 ? null : zoneOf(place);
  const permission = permissionFor(asked.permissions, { ...asked, zone });
  if (permission?.answer === "deny") return { never: "the user has forbidden it" };
  if (isReading(verb)) return "free";
  return permission !== null && allows(permission, asked) ? "free" : asking(asked, rows, permission);
}

/** Nothing can be shown in place of what a client sends in front of every request, whoever wishes it. */
const fixedWhy = "the client sends it in front of every request, and nothing can stand in its place";

function isFixed(verb: Verb, place: Place | null): boolean {
  return (verb === "compress" || verb === "archive") && place?.block.kind === "system";
}

function rowsFor(asked: Asked, place: Place): readonly Row[] {
  const { verb } = asked.command;
  const members = noting.some((each) => each === verb) ? [place] : pairOf(place);
  return permitTable.filter(({ verbs, isOfPair, applies }) => {
    const looked = isOfPair ? [place] : members;
    return verbs.includes(verb) && looked.some((member) => applies(member, asked));
  });
}

/** The message the user is waiting for an answer to. */
export function latestUserMessage(moment: Moment, view: View): MessageId | null {
  let latest: MessageId | null = null;
  for (const { kind, message } of blocksOf(moment, view)) if (kind === "user") latest = message;
  return latest;
}

function asking({ mode, tainted }: Asked, rows: readonly Row[], permission: Permission | null): Permit {
  if (tainted) return { ask: taintedWhy };
  const row = rows.find(({ answer }) => answer === "ask");
  if (row !== undefined) return { ask: row.why };
  if (permission?.answer === "ask") return { ask: "a rule of the user's asks about it" };
  return mode === "ask" ? { ask: "in mode ask, changes wait for the user" } : "free";
}

function isPinnedByUser(place: Place): boolean {
  const { value, by } = factOf(place, "pin");
  return value !== "none" && by === "user";
}

/** Their words, or a note of theirs. What a client adds to their message in its own text counts as theirs. */
function isByUser({ block }: Place): boolean {
  return block.taint === "user" && (block.kind === "user" || block.kind === "memory");
}

function isGentle(command: Command): boolean {
  return command.verb === "compress" && command.level === "trimmed";
}
