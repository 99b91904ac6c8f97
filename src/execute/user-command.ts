import { type BlockId, fail, must, ok, type Result, type SessionId } from "../base/index.ts";
import {
  type CommandPlan,
  isModelSpeech,
  noCommands,
  planOfProposal,
  printCommand,
  printTarget,
  resolveTarget,
} from "../commands/index.ts";
import { nextStepId, type Stream, type View } from "../engine/index.ts";
import { blockViewOf, type Moment, now, turnNow } from "../engine/moment/index.ts";
import { type Durability, modelIn, viewIn, withDurabilityNote } from "../log/index.ts";
import { chooseStream, maskNonce, openSessionState, shortNonce, streamModeOf } from "../queries/index.ts";
import { blockCopies, type LiveSession, type RecordedStream } from "../recorder/index.ts";
import type { CommandAnswer } from "./act-answers.ts";
import type { ActDeps, UserCommandAct } from "./acts.ts";
import { commandLogOf } from "./command-log.ts";
import { estimatePlanCut, fitShareOf } from "./estimate-cut.ts";
import {
  type CommandOutcome,
  changedBlocks,
  type ExecutionContext,
  executeCommand,
  permitContext,
} from "./execute-command.ts";
import { purgeBlocks } from "./purge-blocks.ts";
import {
  isUserOnlyCommand,
  parseUserCommand,
  proposeUserOnly,
  type UserCommand,
  type UserOnlyCommand,
} from "./user-only-command.ts";

/** Executes a user's command in the same way as a model's. A dry run stops before the log. */
export async function executeUserCommand(
  deps: ActDeps,
  { session, stream: requested, command: source, dryRun, when }: UserCommandAct,
): Promise<Result<CommandAnswer & Durability>> {
  const command = parseUserCommand(source);
  if (!command.ok) return command;
  const located = await locateStream(deps, session, requested);
  if (!located.ok) return located;
  const { id, stream } = located.value;
  const done = await deps.inSession(id, async (live) => {
    const moment = now(live.state());
    const context = userContext(live, stream, dryRun);
    if (!context.ok) return context;
    const isInPlace = typeof source === "object" && source["inPlace"] === true;
    const executed = await executeAny(deps, { ...context.value, isInPlace }, command.value);
    if (!executed.ok) return executed;
    const { refused } = executed.value.plan.proposal;
    if (refused !== null) return { ok: false, error: refused };
    if (when === "now" && executed.value.step !== null) context.value.stream.isUrgent = true;
    return ok(commandAnswer({ live, moment, stream, command: command.value, dryRun }, executed.value));
  });
  return done.ok ? ok({ ...done.value, text: withDurabilityNote(done.value.text, done.value) }) : done;
}

type LocatedStream = { readonly id: SessionId; readonly stream: Stream };

async function locateStream(
  deps: ActDeps,
  session: string,
  requested: number | undefined,
): Promise<Result<LocatedStream>> {
  const state = await openSessionState(deps, session);
  if (!state.ok) return state;
  const stream = chooseStream(now(state.value), requested);
  if (!stream.ok) return stream;
  if (stream.value === null) return fail("AP_STREAM_UNKNOWN", { stream: "main" });
  return ok({ id: state.value.session, stream: stream.value });
}

type UserExecutionContext = ExecutionContext & { readonly stream: RecordedStream };

function userContext(live: LiveSession, stream: Stream, isDry: boolean): Result<UserExecutionContext> {
  const recordedStream = live.stream(stream.name);
  if (recordedStream === null) return fail("AP_STREAM_UNKNOWN", { stream: stream.name });
  const model = modelIn(now(live.state()), stream);
  const defaults = {
    actor: "user",
    mode: "auto",
    isTainted: false,
    nonce: shortNonce,
    requestId: null,
  } as const;
  const log = commandLogOf(live, recordedStream);
  return ok({ log, stream: recordedStream, model, isDry, ...defaults });
}

function executeAny(
  deps: ActDeps,
  context: ExecutionContext,
  command: UserCommand,
): Promise<Result<CommandOutcome>> {
  return isUserOnlyCommand(command)
    ? executeUserOnly(deps, context, command)
    : executeCommand(deps, context, command);
}

/** Executes a command that only users have: plans it, appends its deltas, and for a purge erases data. */
async function executeUserOnly(
  deps: ActDeps,
  execution: ExecutionContext,
  command: UserOnlyCommand,
): Promise<Result<CommandOutcome>> {
  const { log, isDry = false } = execution;
  const { change, context } = await permitContext(deps, execution);
  const { moment, view } = change;
  const blocks = resolveTarget({ moment, view, findByTopic: context.findByTopic }, command.target);
  if (!blocks.ok) return blocks;
  const refused = observedProblem(command, moment, view);
  if (refused !== null) return refused;
  const isPurge = command.verb === "purge";
  // The copies in results of ours cannot be found once the block is erased.
  const copies = isPurge ? await blockCopies(log.state(), blocks.value, deps.store) : [];
  const proposal = proposeUserOnly(change, command, [...blocks.value, ...copies.map(({ id }) => id)]);
  if (!proposal.ok) return proposal;
  const noEffects = {
    approvals: [],
    refused: null,
    lookups: [],
    memories: [],
    history: noCommands,
    reminder: null,
  };
  const plan = planOfProposal(change, { ...proposal.value, ...noEffects });
  const changed = blocksChangedByUser(plan, isPurge);
  const isDone = !isDry && changed.length > 0;
  const step = isDone && !isPurge ? nextStepId(log.state()) : null;
  if (isDone) {
    const cause = { type: "command", step, reason: printUserCommand(command).slice(0, 200) } as const;
    const done = log.append({ deltas: plan.proposal.deltas, actor: "user", cause });
    if (!done.ok) return done;
    // The planner is told first: once content is erased, nothing can recognise it in a client's request.
    if (isPurge) await deps.publishWithheld?.(log.state());
    const erased = isPurge ? await purgeBlocks(deps.store, log.state(), changed) : ok(null);
    if (!erased.ok) return erased;
  }
  const text = userOnlyText(command, changed, plan);
  return ok({ text, isError: changed.length === 0 && plan.proposal.skipped.length > 0, plan, changed, step });
}

/** Nothing can be withheld in an observed session, because its requests are sent unchanged. */
function observedProblem({ verb }: UserOnlyCommand, moment: Moment, view: View): Result<never> | null {
  const stream = moment.state.streams.get(view.stream) ?? null;
  if (verb !== "withhold" || streamModeOf(moment, stream) !== "observe") return null;
  const why = "this session is only observed, so what its client sends goes up as it is";
  return fail("AP_COMMAND_REFUSED", { verb, what: "this", why });
}

/** A purge also withholds the paired blocks, but erases only those named. */
function blocksChangedByUser({ proposal }: CommandPlan, isPurge: boolean): readonly BlockId[] {
  const deltas = proposal.deltas.filter(({ type }) => !isPurge || type === "block-purged");
  const blocks = deltas.flatMap((delta) =>
    "block" in delta && typeof delta.block === "number" ? [delta.block] : [],
  );
  return [...new Set(blocks)];
}

const doneByVerb = {
  restore: "restored",
  withhold: "withheld",
  release: "released",
  purge: "purged for good",
  scope: "given that scope",
} as const;

function userOnlyText(
  { verb }: UserOnlyCommand,
  changed: readonly BlockId[],
  { proposal }: CommandPlan,
): string {
  const done =
    changed.length === 0 ? [] : [`${changed.map((id) => `#${id}`).join(", ")} ${doneByVerb[verb]}.`];
  const reasons = new Set(proposal.skipped.map(({ error }) => error.message));
  const lines = [...done, ...reasons];
  return lines.length === 0 ? "Nothing changed: it is so already." : lines.join("\n");
}

function printUserCommand(command: UserCommand): string {
  if (!isUserOnlyCommand(command)) return printCommand(command);
  const scope = command.verb === "scope" ? [command.scope] : [];
  return `@${command.verb}(${[...scope, printTarget(command.target)].join(", ")})`;
}

type CommandAnswerInput = {
  readonly live: LiveSession;
  /** The moment before the command. */
  readonly moment: Moment;
  readonly stream: Stream;
  readonly command: UserCommand;
  readonly dryRun: boolean;
};

/** The blocks that are sent as the model said them, at any wanted level. */
function modelSpeechAmong(moment: Moment, view: View, blocks: readonly BlockId[]): readonly BlockId[] {
  return blocks.filter((id) => {
    const blockView = blockViewOf(moment, view, id);
    return blockView !== null && isModelSpeech(blockView);
  });
}

function commandAnswer(
  { live, moment, stream, command, dryRun }: CommandAnswerInput,
  executed: CommandOutcome,
): CommandAnswer {
  const { plan, step, text } = executed;
  const view = must(viewIn(moment, stream), "a stream that was acted in has a view");
  const { session, seq } = live.state();
  const blocks = isUserOnlyCommand(command)
    ? blocksChangedByUser(plan, command.verb === "purge")
    : changedBlocks(plan);
  return {
    session,
    seq,
    stream: stream.id,
    turn: turnNow(moment, stream),
    mode: streamModeOf(moment, stream),
    model: modelIn(moment, stream),
    dryRun,
    verb: command.verb,
    command: printUserCommand(command),
    step,
    blocks,
    text: maskNonce(text, shortNonce),
    skipped: plan.proposal.skipped.map(({ block, error }) => ({
      block,
      code: error.code,
      message: error.message,
    })),
    locks: plan.locks.map(({ block }) => block),
    conflicts: plan.conflicts,
    freed: Math.floor(plan.freedTokens * fitShareOf(moment, view)),
    unsized: plan.unsized,
    stays: modelSpeechAmong(moment, view, blocks),
    cut: estimatePlanCut(moment, view, plan),
  };
}
