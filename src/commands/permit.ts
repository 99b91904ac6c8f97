import type { MessageId } from "../base/index.ts";
import type { Actor, Mode } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  factOf,
  factValue,
  isWithheld,
  type Moment,
  pairOf,
  viewBlocks,
  zoneOf,
} from "../engine/moment/index.ts";
import { type Command, isReadVerb, type Verb } from "./command.ts";
import { type CommandPermission, isAllowedBy, permissionFor } from "./permission.ts";

/** Says if a command may touch a block: at once, after the user has agreed, or never. */
export type Permit = "free" | { readonly ask: string } | { readonly never: string };

export type PermitQuery = {
  readonly actor: Actor;
  readonly command: Command;
  readonly mode: Mode;
  /** New content of this turn comes from outside and looks like commands. */
  readonly isTainted: boolean;
  readonly permissions: readonly CommandPermission[];
  readonly latestUser: MessageId | null;
  /** The user has approved this very command. */
  readonly isApproved?: boolean;
};

type PermitRule = {
  readonly verbs: readonly Verb[];
  /** True if `applies` looks at the whole pair itself; other rules are tried on every member of the pair. */
  readonly isPairRule?: true;
  readonly applies: (blockView: BlockView, query: PermitQuery) => boolean;
  readonly answer: "never" | "ask";
  readonly why: string;
};

const contentVerbs = ["expand", "recall"] as const satisfies readonly Verb[];
const loweringVerbs = ["compress", "archive", "update", "create"] as const satisfies readonly Verb[];
const memoryVerbs = ["update", "create"] as const satisfies readonly Verb[];
const writeVerbs = [...loweringVerbs, "pin", "unpin", "focus"] as const satisfies readonly Verb[];

/**
 * The limits of every actor but the user; everything else is free. A model may still pin what the user wrote
 * or selected.
 */
export const permitRules: readonly PermitRule[] = [
  {
    verbs: [...writeVerbs, ...contentVerbs],
    isPairRule: true,
    applies: isWithheld,
    answer: "never",
    why: "the user withheld it",
  },
  {
    verbs: writeVerbs,
    applies: ({ block }) => block.kind === "system",
    answer: "never",
    why: "it belongs to the system prompt",
  },
  {
    verbs: [...loweringVerbs, "pin", "unpin"],
    applies: isPinnedByUser,
    answer: "never",
    why: "the user pinned it",
  },
  {
    verbs: [...loweringVerbs, "unpin"],
    applies: (blockView) => factValue(blockView, "selection"),
    answer: "never",
    why: "the user has selected it",
  },
  {
    verbs: loweringVerbs,
    applies: ({ block }, { latestUser }) => block.kind === "user" && block.message === latestUser,
    answer: "never",
    why: "it is the latest message of the user",
  },
  {
    verbs: ["compress", "archive"],
    applies: (blockView, { command }) => isByUser(blockView) && !isGentle(command),
    answer: "ask",
    why: "the user wrote it, and only trimmed is free",
  },
  {
    verbs: memoryVerbs,
    applies: isByUser,
    answer: "ask",
    why: "it would replace what the user wrote",
  },
  {
    verbs: writeVerbs,
    applies: ({ moment, block }) => attributesOf(moment, block.id)?.scope === "project",
    answer: "ask",
    why: "it belongs to the whole project",
  },
];

/** The reason a tainted turn gives for asking the user. */
export const taintedReason = "new content in this turn contains words that look like commands";

/**
 * The permit for one block, or for a command about no block. A pair changes together and is judged as one.
 */
export function permitFor(query: PermitQuery, blockView: BlockView | null): Permit {
  const { verb } = query.command;
  if (query.actor === "user") return isFixed(verb, blockView) ? { never: fixedReason } : "free";
  if (query.mode === "observe") return { never: "this session is only observed" };
  const rules = blockView === null ? [] : rulesFor(query, blockView);
  const forbidden = rules.find(({ answer }) => answer === "never");
  if (forbidden !== undefined) return { never: forbidden.why };
  if (query.isApproved === true) return "free";
  const zone = blockView === null || query.permissions.length === 0 ? null : zoneOf(blockView);
  const permission = permissionFor(query.permissions, { ...query, zone });
  if (permission?.answer === "deny") return { never: "the user has forbidden it" };
  if (isReadVerb(verb)) return "free";
  return permission !== null && isAllowedBy(permission, query) ? "free" : askOrFree(query, rules, permission);
}

/** A client sends its system prompt in front of every request, so not even the user can replace it. */
const fixedReason = "the client sends it in front of every request, and nothing can stand in its place";

function isFixed(verb: Verb, blockView: BlockView | null): boolean {
  return (verb === "compress" || verb === "archive") && blockView?.block.kind === "system";
}

function rulesFor(query: PermitQuery, blockView: BlockView): readonly PermitRule[] {
  const { verb } = query.command;
  const members = memoryVerbs.some((each) => each === verb) ? [blockView] : pairOf(blockView);
  return permitRules.filter(({ verbs, isPairRule, applies }) => {
    const candidates = isPairRule ? [blockView] : members;
    return verbs.includes(verb) && candidates.some((member) => applies(member, query));
  });
}

/** The user message that the model is answering. */
export function latestUserMessage(moment: Moment, view: View): MessageId | null {
  let latest: MessageId | null = null;
  for (const { kind, message } of viewBlocks(moment, view)) if (kind === "user") latest = message;
  return latest;
}

function askOrFree(
  { mode, isTainted }: PermitQuery,
  rules: readonly PermitRule[],
  permission: CommandPermission | null,
): Permit {
  if (isTainted) return { ask: taintedReason };
  const rule = rules.find(({ answer }) => answer === "ask");
  if (rule !== undefined) return { ask: rule.why };
  if (permission?.answer === "ask") return { ask: "a rule of the user's asks about it" };
  return mode === "ask" ? { ask: "in mode ask, changes wait for the user" } : "free";
}

function isPinnedByUser(blockView: BlockView): boolean {
  const { value, by } = factOf(blockView, "pin");
  return value !== "none" && by === "user";
}

/** Text or memories of the user. Text that a client adds to the user's message counts as the user's. */
function isByUser({ block }: BlockView): boolean {
  return block.taint === "user" && (block.kind === "user" || block.kind === "memory");
}

function isGentle(command: Command): boolean {
  return command.verb === "compress" && command.level === "trimmed";
}
