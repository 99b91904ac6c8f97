import {
  type ApertureError,
  apertureError,
  type BlockId,
  type MessageId,
  must,
  ok,
  type Result,
} from "../base/index.ts";
import type { Delta, Mode } from "../engine/frames/index.ts";
import type { ChangeContext, Proposal } from "../engine/index.ts";
import { attributesOf, blockViewOf, streamOf, turnNow } from "../engine/moment/index.ts";
import { type Command, isReadVerb, type Target } from "./command.ts";
import { type CommandEffect, effectOf, type Lookup, type NewMemory } from "./effect.ts";
import {
  type CommandHistory,
  type CommandLoad,
  commandsExcess,
  dampedBlocks,
  loadExcess,
  noCommands,
  withCommand,
  withFailure,
} from "./limit.ts";
import type { CommandPermission } from "./permission.ts";
import { latestUserMessage, type Permit, type PermitQuery, permitFor } from "./permit.ts";
import { resolveTarget } from "./resolve.ts";
import { blocksChangedBy, memoryTokens, pinnedTokens, wantedTokens } from "./sizes.ts";

/** Everything a command is judged by, besides the state. */
export type CommandContext = {
  readonly findByTopic: (words: string) => readonly BlockId[];
  readonly mode: Mode;
  readonly isTainted: boolean;
  /** The permissions in force, the latest last. */
  readonly permissions: readonly CommandPermission[];
  readonly history: CommandHistory;
  readonly windowTokens: number;
  readonly countTokens: (text: string) => number;
  /** The user wants blocks back at their old position, not at the tail. It is ignored for other actors. */
  readonly isInPlace: boolean;
  /** The user has approved this very command. It never lifts a prohibition. */
  readonly isApproved?: boolean;
};

/** A part of a command that waits for the user; no blocks if the command is about none. */
export type ApprovalRequest = {
  readonly blocks: readonly BlockId[];
  readonly why: string;
  /** The tokens the blocks take now, or a new memory would take. */
  readonly tokens: number;
};

/** The changes a command proposes. Nothing is done yet: the caller appends the deltas, or drops them. */
export type CommandProposal = {
  readonly deltas: readonly Delta[];
  readonly skipped: readonly Proposal["skipped"][number][];
  readonly approvals: readonly ApprovalRequest[];
  readonly refused: ApertureError | null;
  readonly lookups: readonly Lookup[];
  readonly memories: readonly NewMemory[];
  readonly history: CommandHistory;
  /** Set once after several failures in a row. */
  readonly reminder: string | null;
};

export function proposeCommand(
  change: ChangeContext,
  command: Command,
  context: CommandContext,
): CommandProposal {
  const input = inputFor(change, command, context);
  const spent = input.isLimited ? commandsExcess(context.history, input.turn) : null;
  if (spent !== null) return refuseAll(input, limitError(input, spent));
  const subjects = subjectsOf(input);
  return subjects.ok ? proposeJudged(input, judge(input, subjects.value)) : refuseAll(input, subjects.error);
}

type ProposeInput = {
  readonly change: ChangeContext;
  readonly command: Command;
  readonly context: CommandContext;
  readonly query: PermitQuery;
  readonly turn: number;
  /** False for commands of the user, and for those the user has approved. */
  readonly isLimited: boolean;
};

function inputFor(change: ChangeContext, command: Command, context: CommandContext): ProposeInput {
  const { moment, view, actor } = change;
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  const { mode, isTainted, permissions, isApproved = false } = context;
  const latestUser = latestUserMessage(moment, view);
  const query = { actor, command, mode, isTainted, permissions, latestUser, isApproved };
  return { change, command, context, query, turn, isLimited: actor !== "user" && !isApproved };
}

/** A block, or null for the part of a command that is about no block: a new memory, a search, a list. */
type Subject = BlockId | null;

function subjectsOf({ change, command, context }: ProposeInput): Result<readonly Subject[]> {
  const { moment, view } = change;
  const target = blockTarget(command);
  const blocks = resolveTarget({ moment, view, findByTopic: context.findByTopic }, target);
  if (!blocks.ok) return blocks;
  const hasBlocklessPart =
    target.length === 0 || (command.verb === "recall" && target.length < command.target.length);
  return ok(hasBlocklessPart ? [...blocks.value, null] : blocks.value);
}

/** Without the topics of a recall: the executor searches for those, in archived blocks too. */
function blockTarget(command: Command): Target {
  const block = (id: number): Target => [{ by: "block", first: id, last: id }];
  switch (command.verb) {
    case "diff":
    case "manifest":
      return [];
    case "update":
      return block(command.block);
    case "create":
      return command.supersedes === null ? [] : block(command.supersedes);
    case "recall":
      return command.target.filter(({ by }) => by !== "topic");
    default:
      return command.target;
  }
}

type CommandVerdict =
  | { readonly is: "free" }
  | { readonly is: "ask"; readonly why: string }
  | { readonly is: "refused"; readonly error: ApertureError };

type SubjectVerdict = { readonly subject: Subject; readonly verdict: CommandVerdict };

function judge(input: ProposeInput, subjects: readonly Subject[]): readonly SubjectVerdict[] {
  const { context, command, turn, isLimited } = input;
  const blocks = subjects.filter((subject) => subject !== null);
  const history = isLimited ? context.history : noCommands;
  const damped = dampedBlocks(history, { turn, verb: command.verb, blocks });
  const permits = new Map<MessageId, Permit>();
  return subjects.map((subject) => ({
    subject,
    verdict: verdictFor(input, subject, {
      permit: permitIn(input, subject, permits),
      damping: subject === null ? undefined : damped.get(subject),
    }),
  }));
}

/** A pair is judged as one, and may be large: `known` keeps the permit of each pair. */
function permitIn({ change, query }: ProposeInput, subject: Subject, known: Map<MessageId, Permit>): Permit {
  const blockView = subject === null ? null : blockViewOf(change.moment, change.view, subject);
  const pair = blockView?.block.pair ?? null;
  const permit = (pair === null ? undefined : known.get(pair)) ?? permitFor(query, blockView);
  if (pair !== null) known.set(pair, permit);
  return permit;
}

function verdictFor(
  input: ProposeInput,
  subject: Subject,
  { permit, damping }: { readonly permit: Permit; readonly damping: string | undefined },
): CommandVerdict {
  const { change, command } = input;
  const { verb } = command;
  const what = subject === null ? "this" : `#${subject}`;
  if (typeof permit === "object" && "never" in permit) {
    return { is: "refused", error: apertureError("AP_COMMAND_REFUSED", { verb, what, why: permit.never }) };
  }
  if (subject !== null && isReadVerb(verb) && attributesOf(change.moment, subject)?.purged) {
    return { is: "refused", error: apertureError("AP_BLOCK_PURGED", { block: subject }) };
  }
  if (damping !== undefined) {
    return { is: "refused", error: apertureError("AP_COMMAND_LIMIT", { verb, what, problem: damping }) };
  }
  return permit === "free" ? { is: "free" } : { is: "ask", why: permit.ask };
}

function proposeJudged(input: ProposeInput, verdicts: readonly SubjectVerdict[]): CommandProposal {
  const { change, command, context } = input;
  const refusals = refusalsIn(verdicts);
  const blocklessRefusal = refusals.find(({ subject }) => subject === null);
  if (blocklessRefusal !== undefined) return refuseAll(input, blocklessRefusal.error);
  const free = verdicts.flatMap(({ subject, verdict }) => (verdict.is === "free" ? [subject] : []));
  const blocks = free.filter((subject) => subject !== null);
  const isInPlace = context.isInPlace && change.actor === "user";
  const effect = effectOf(change, command, { blocks, mayActWithoutBlock: free.includes(null), isInPlace });
  const load = loadOf(input, effect);
  const excess = input.isLimited ? loadExcess(context.history, load) : null;
  if (excess !== null) return refuseAll(input, limitError(input, excess));
  const refusedBlocks = refusals.flatMap(({ subject, error }) =>
    subject === null ? [] : [{ block: subject, error }],
  );
  const approvals = approvalsIn(input, verdicts);
  const { deltas, lookups, memories } = effect;
  const skipped = [...refusedBlocks, ...effect.skipped];
  const hasDone = [deltas, lookups, memories, approvals].some(({ length }) => length > 0);
  const update =
    hasDone || skipped.length === 0 ? historyAfterSuccess(input, load, blocks) : historyAfterFailure(input);
  return { deltas, skipped, approvals, refused: null, lookups, memories, ...update };
}

type HistoryUpdate = Pick<CommandProposal, "history" | "reminder">;

function historyAfterSuccess(
  { context, isLimited }: ProposeInput,
  load: CommandLoad,
  blocks: readonly BlockId[],
): HistoryUpdate {
  const { history } = context;
  return { history: isLimited ? withCommand(history, load, blocks) : history, reminder: null };
}

function historyAfterFailure({ context, turn, isLimited }: ProposeInput): HistoryUpdate {
  return isLimited ? withFailure(context.history, turn) : { history: context.history, reminder: null };
}

function refuseAll(input: ProposeInput, error: ApertureError): CommandProposal {
  const nothing = { deltas: [], skipped: [], approvals: [], lookups: [], memories: [] };
  return { ...nothing, refused: error, ...historyAfterFailure(input) };
}

function limitError({ command: { verb } }: ProposeInput, problem: string): ApertureError {
  return apertureError("AP_COMMAND_LIMIT", { verb, what: "this", problem });
}

function refusalsIn(
  verdicts: readonly SubjectVerdict[],
): readonly { subject: Subject; error: ApertureError }[] {
  return verdicts.flatMap(({ subject, verdict }) =>
    verdict.is === "refused" ? [{ subject, error: verdict.error }] : [],
  );
}

/** Blocks that wait for the same reason share one approval. */
function approvalsIn(input: ProposeInput, verdicts: readonly SubjectVerdict[]): readonly ApprovalRequest[] {
  const byReason = new Map<string, Subject[]>();
  for (const { subject, verdict } of verdicts) {
    if (verdict.is !== "ask") continue;
    const group = byReason.get(verdict.why) ?? [];
    group.push(subject);
    byReason.set(verdict.why, group);
  }
  return [...byReason].map(([why, subjects]) => ({
    blocks: subjects.filter((subject) => subject !== null),
    why,
    tokens: subjects.reduce((sum, subject) => sum + tokensOf(input, subject), 0),
  }));
}

function tokensOf({ change, command, context }: ProposeInput, subject: Subject): number {
  if (subject === null) return "text" in command ? context.countTokens(command.text) : 0;
  const blockView = blockViewOf(change.moment, change.view, subject);
  return blockView === null ? 0 : wantedTokens(blockView);
}

/** Counting pins and memories walks through the whole view, so it is done only for commands it limits. */
function loadOf({ change, command, context, turn }: ProposeInput, effect: CommandEffect): CommandLoad {
  const pinned = effect.deltas.flatMap((delta) => (delta.type === "pin-set" ? [delta.block] : []));
  const [memory] = effect.memories;
  return {
    turn,
    command,
    changed: blocksChangedBy(change, effect.deltas).map((blockView) => ({
      block: blockView.block.id,
      tokens: wantedTokens(blockView),
    })),
    pinnedTokens: command.verb === "pin" ? pinnedTokens(change, pinned) : 0,
    memoryTokens:
      memory === undefined ? 0 : memoryTokens(change, memory.supersedes) + context.countTokens(memory.text),
    windowTokens: context.windowTokens,
  };
}
