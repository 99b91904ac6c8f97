import {
  type ApertureError,
  apertureError,
  type BlockId,
  type MessageId,
  must,
  ok,
  type Result,
} from "../base/index.ts";
import {
  type Change,
  type Delta,
  notesOf,
  placeOf,
  type Skipped,
  streamOf,
  turnNow,
} from "../engine/index.ts";
import { type Command, isReading, type Target } from "./command.ts";
import { type Effect, effectOf, type Note, type Reading } from "./effect.ts";
import {
  type Acts,
  commandsExcess,
  dampedBlocks,
  excessOf,
  type Load,
  noActs,
  withAct,
  withFailure,
} from "./limit.ts";
import type { Permission } from "./permission.ts";
import { type Asked, latestUserMessage, type Mode, type Permit, permitFor } from "./permit.ts";
import { resolveTarget } from "./resolve.ts";
import { changedPlaces, memoryTokens, pinnedTokens, tokensWanted } from "./sizes.ts";

/** What a command is judged by, besides the state. */
export type CommandContext = {
  readonly topic: (words: string) => readonly BlockId[];
  readonly mode: Mode;
  readonly tainted: boolean;
  /** Those in force, the latest last. */
  readonly permissions: readonly Permission[];
  readonly acts: Acts;
  readonly windowTokens: number;
  readonly countTokens: (text: string) => number;
  /** The user wants blocks back where they stood, not at the tail. Nobody else can. */
  readonly inPlace: boolean;
  /** The user has said yes to this very command. It never lifts what is never allowed. */
  readonly isApproved?: boolean;
};

/** What waits for the user; no blocks means that the command is about none. */
export type Waiting = {
  readonly blocks: readonly BlockId[];
  readonly why: string;
  /** What the blocks take now; of a new note, what it would take. */
  readonly tokens: number;
};

/** What a command comes to. Nothing has happened yet: whoever asked appends the deltas, or does not. */
export type Proposed = {
  readonly deltas: readonly Delta[];
  readonly skipped: readonly Skipped[];
  readonly asks: readonly Waiting[];
  readonly refused: ApertureError | null;
  readonly reads: readonly Reading[];
  readonly notes: readonly Note[];
  readonly acts: Acts;
  /** Said once after several failures in a row. */
  readonly reminder: string | null;
};

export function proposeCommand(change: Change, command: Command, context: CommandContext): Proposed {
  const work = workFor(change, command, context);
  const spent = work.isLimited ? commandsExcess(context.acts, work.turn) : null;
  if (spent !== null) return refused(work, limited(work, spent));
  const subjects = subjectsOf(work);
  return subjects.ok ? settled(work, judge(work, subjects.value)) : refused(work, subjects.error);
}

type Work = {
  readonly change: Change;
  readonly command: Command;
  readonly context: CommandContext;
  readonly asked: Asked;
  readonly turn: number;
  /** Only the user is not held to limits, nor what the user has agreed to. */
  readonly isLimited: boolean;
};

function workFor(change: Change, command: Command, context: CommandContext): Work {
  const { moment, view, actor } = change;
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  const { mode, tainted, permissions, isApproved = false } = context;
  const latestUser = latestUserMessage(moment, view);
  const asked = { actor, command, mode, tainted, permissions, latestUser, isApproved };
  return { change, command, context, asked, turn, isLimited: actor !== "user" && !isApproved };
}

/** A block, or null for what a command does that is about no block: a new note, a search, a list. */
type Subject = BlockId | null;

function subjectsOf({ change, command, context }: Work): Result<readonly Subject[]> {
  const { moment, view } = change;
  const target = pointedAt(command);
  const blocks = resolveTarget({ moment, view, topic: context.topic }, target);
  if (!blocks.ok) return blocks;
  const isMore = target.length === 0 || (command.verb === "recall" && target.length < command.target.length);
  return ok(isMore ? [...blocks.value, null] : blocks.value);
}

/** Words to recall are searched for by whoever answers, in what is archived too. */
function pointedAt(command: Command): Target {
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

/** What becomes of one subject. */
type Answer =
  | { readonly is: "free" }
  | { readonly is: "ask"; readonly why: string }
  | { readonly is: "refused"; readonly error: ApertureError };

type Judged = { readonly subject: Subject; readonly answer: Answer };

function judge(work: Work, subjects: readonly Subject[]): readonly Judged[] {
  const { context, command, turn, isLimited } = work;
  const blocks = subjects.filter((subject) => subject !== null);
  const acts = isLimited ? context.acts : noActs;
  const damped = dampedBlocks(acts, { turn, verb: command.verb, blocks });
  const permits = new Map<MessageId, Permit>();
  return subjects.map((subject) => ({
    subject,
    answer: answerFor(work, subject, {
      permit: permitIn(work, subject, permits),
      damping: subject === null ? undefined : damped.get(subject),
    }),
  }));
}

/** A pair is judged as one, and may be large: its answer is found once. */
function permitIn({ change, asked }: Work, subject: Subject, known: Map<MessageId, Permit>): Permit {
  const place = subject === null ? null : placeOf(change.moment, change.view, subject);
  const pair = place?.block.pair ?? null;
  const permit = (pair === null ? undefined : known.get(pair)) ?? permitFor(asked, place);
  if (pair !== null) known.set(pair, permit);
  return permit;
}

type Said = { readonly permit: Permit; readonly damping: string | undefined };

function answerFor(work: Work, subject: Subject, { permit, damping }: Said): Answer {
  const { change, command } = work;
  const { verb } = command;
  const what = subject === null ? "this" : `#${subject}`;
  if (typeof permit === "object" && "never" in permit) {
    return { is: "refused", error: apertureError("AP_COMMAND_REFUSED", { verb, what, why: permit.never }) };
  }
  if (subject !== null && isReading(verb) && notesOf(change.moment, subject)?.purged) {
    return { is: "refused", error: apertureError("AP_BLOCK_PURGED", { block: subject }) };
  }
  if (damping !== undefined) {
    return { is: "refused", error: apertureError("AP_COMMAND_LIMIT", { verb, what, problem: damping }) };
  }
  return permit === "free" ? { is: "free" } : { is: "ask", why: permit.ask };
}

function settled(work: Work, judged: readonly Judged[]): Proposed {
  const { change, command, context } = work;
  const denied = refusedAmong(judged);
  const whole = denied.find(({ subject }) => subject === null);
  if (whole !== undefined) return refused(work, whole.error);
  const free = judged.flatMap(({ subject, answer }) => (answer.is === "free" ? [subject] : []));
  const blocks = free.filter((subject) => subject !== null);
  const inPlace = context.inPlace && change.actor === "user";
  const effect = effectOf(change, command, { blocks, whole: free.includes(null), inPlace });
  const load = loadOf(work, effect);
  const excess = work.isLimited ? excessOf(context.acts, load) : null;
  if (excess !== null) return refused(work, limited(work, excess));
  const own = denied.flatMap(({ subject, error }) => (subject === null ? [] : [{ block: subject, error }]));
  const asks = waitingAmong(work, judged);
  const { deltas, reads, notes } = effect;
  const skipped = [...own, ...effect.skipped];
  const hasDone = [deltas, reads, notes, asks].some(({ length }) => length > 0);
  const outcome = hasDone || skipped.length === 0 ? done(work, load, blocks) : failed(work);
  return { deltas, skipped, asks, refused: null, reads, notes, ...outcome };
}

type Outcome = Pick<Proposed, "acts" | "reminder">;

function done({ context, isLimited }: Work, load: Load, blocks: readonly BlockId[]): Outcome {
  return { acts: isLimited ? withAct(context.acts, load, blocks) : context.acts, reminder: null };
}

function failed({ context, turn, isLimited }: Work): Outcome {
  return isLimited ? withFailure(context.acts, turn) : { acts: context.acts, reminder: null };
}

function refused(work: Work, error: ApertureError): Proposed {
  return { deltas: [], skipped: [], asks: [], refused: error, reads: [], notes: [], ...failed(work) };
}

function limited({ command: { verb } }: Work, problem: string): ApertureError {
  return apertureError("AP_COMMAND_LIMIT", { verb, what: "this", problem });
}

function refusedAmong(judged: readonly Judged[]): readonly { subject: Subject; error: ApertureError }[] {
  return judged.flatMap(({ subject, answer }) =>
    answer.is === "refused" ? [{ subject, error: answer.error }] : [],
  );
}

/** Blocks that wait for the same reason wait together. */
function waitingAmong(work: Work, judged: readonly Judged[]): readonly Waiting[] {
  const waiting = new Map<string, Subject[]>();
  for (const { subject, answer } of judged) {
    if (answer.is !== "ask") continue;
    const alike = waiting.get(answer.why) ?? [];
    alike.push(subject);
    waiting.set(answer.why, alike);
  }
  return [...waiting].map(([why, subjects]) => ({
    blocks: subjects.filter((subject) => subject !== null),
    why,
    tokens: subjects.reduce((sum, subject) => sum + tokensOf(work, subject), 0),
  }));
}

function tokensOf({ change, command, context }: Work, subject: Subject): number {
  if (subject === null) return "text" in command ? context.countTokens(command.text) : 0;
  const place = placeOf(change.moment, change.view, subject);
  return place === null ? 0 : tokensWanted(place);
}

/** Counting what is pinned or remembered walks through the view, so it is done only where it matters. */
function loadOf({ change, command, context, turn }: Work, effect: Effect): Load {
  const pinned = effect.deltas.flatMap((delta) => (delta.type === "pin-set" ? [delta.block] : []));
  const [note] = effect.notes;
  return {
    turn,
    command,
    changed: changedPlaces(change, effect.deltas).map((place) => ({
      block: place.block.id,
      tokens: tokensWanted(place),
    })),
    pinnedTokens: command.verb === "pin" ? pinnedTokens(change, pinned) : 0,
    memoryTokens:
      note === undefined ? 0 : memoryTokens(change, note.supersedes) + context.countTokens(note.text),
    windowTokens: context.windowTokens,
  };
}
