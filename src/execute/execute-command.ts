import { type BlockId, must, ok, type Result, type StepId } from "../base/index.ts";
import {
  type Command,
  type CommandContext,
  type CommandPermission,
  type CommandPlan,
  commandFromCall,
  parseCommand,
  planCommand,
  printCommand,
  textCallName,
  type Verb,
  withFailure,
} from "../commands/index.ts";
import type { Actor } from "../engine/frames/index.ts";
import { type ChangeContext, nextStepId, ruleChanges, type View } from "../engine/index.ts";
import {
  type Moment,
  modeOf,
  now,
  permissionsOf,
  streamOf,
  turnNow,
  viewOf,
} from "../engine/moment/index.ts";
import type { CommandBatch, CommandCall, CommandResult } from "../exchange/index.ts";
import { withDurabilityNote } from "../log/index.ts";
import type { SessionRecorder } from "../recorder/index.ts";
import type { Store } from "../store/index.ts";
import { assumedWindow, estimateText } from "../tokens/index.ts";
import { answerLookup } from "./answer-lookup.ts";
import { findApprovalSource } from "./approval-source.ts";
import { type CommandLog, type CommandStream, commandLogOf } from "./command-log.ts";
import { commandReportText } from "./command-text.ts";
import { createMemory, olderTexts } from "./new-memory.ts";
import { lastingPermissions, noPermissions, type PermissionStore } from "./permission-store.ts";
import { requestApprovals } from "./request-approval.ts";

export type ExecuteDeps = {
  readonly store: Store;
  readonly windowOf: (model: string | null) => number | null;
  /** The user's lasting permissions; absent if there are none. */
  readonly permissions?: PermissionStore;
};

/** The actor and circumstances of a command, and where it is executed. */
export type ExecutionContext = {
  readonly log: CommandLog;
  /** The stream in whose view it is executed. */
  readonly stream: CommandStream;
  readonly actor: Actor;
  readonly mode: CommandContext["mode"];
  readonly isTainted: boolean;
  readonly nonce: string;
  readonly model: string | null;
  /** Commands of one request share a step; null makes each command a step of its own. */
  readonly requestId: string | null;
  /** The user has approved this very command: it needs no approval again, and limits do not apply. */
  readonly isApproved?: boolean;
  /** Only plans the command: nothing is appended or noted. */
  readonly isDry?: boolean;
  /** The user wants blocks back at their old position, not at the tail. */
  readonly isInPlace?: boolean;
};

export type CommandOutcome = {
  readonly text: string;
  readonly isError: boolean;
  readonly plan: CommandPlan;
  readonly changed: readonly BlockId[];
  /** Null if there is nothing to undo. */
  readonly step: StepId | null;
};

/** Executes the calls of an answer, one after the other. A call that was executed before keeps its result. */
export async function executeCalls(
  deps: ExecuteDeps,
  context: ExecutionContext,
  { calls }: CommandBatch,
): Promise<readonly CommandResult[]> {
  const results: CommandResult[] = [];
  const { stream, requestId } = context;
  for (const call of calls) {
    const result = stream.actions.resultOf(requestId, call.id) ?? (await executeCall(deps, context, call));
    stream.actions.noteResult(requestId, result);
    results.push(result);
  }
  return results;
}

async function executeCall(
  deps: ExecuteDeps,
  execution: ExecutionContext,
  { id, name, input }: CommandCall,
): Promise<CommandResult> {
  const command = name === textCallName ? parseCommand(`${input["text"]}`) : commandFromCall(name, input);
  if (!command.ok) {
    const { actions, context, turn } = await permitContext(deps, execution);
    const { history, reminder } = withFailure(context.history, turn);
    actions.noteHistory(execution.requestId, history);
    const text = [command.error.message, ...(reminder === null ? [] : [reminder])].join("\n");
    return { id, text, isError: true };
  }
  const executed = await executeCommand(deps, execution, command.value);
  if (!executed.ok) return { id, text: executed.error.message, isError: true };
  return { id, text: executed.value.text, isError: executed.value.isError };
}

/** Executes one command: plans it, appends its deltas, and reports the result. */
export async function executeCommand(
  deps: ExecuteDeps,
  execution: ExecutionContext,
  command: Command,
): Promise<Result<CommandOutcome>> {
  const { log, stream, actor, isTainted, requestId } = execution;
  const { actions, change, context } = await permitContext(deps, execution);
  const plan = planCommand(change, command, context);
  const { proposal } = plan;
  if (execution.isDry) return ok(dryRunOutcome(command, plan, await lookupTexts(deps, execution, plan)));
  const older = await olderTexts(change, proposal.memories, deps.store);
  const memories = proposal.memories.map((memory) =>
    createMemory({ change, ids: stream.ids, isTainted, olderTexts: older }, memory),
  );
  const deltas = [...proposal.deltas, ...memories.flatMap((memory) => memory.deltas)];
  const contents = memories.flatMap((memory) => memory.contents);
  const reserved = memories.flatMap((memory) => memory.reserved);
  const prepared = log.append({ deltas: reserved, actor, cause: causeWithoutStep });
  if (!prepared.ok) return prepared;
  // A reference to a block is nothing to undo.
  const step = deltas.every(({ type }) => type === "reference-set") ? null : stepFor(execution);
  const cause = { type: "command", step, reason: reasonOf(command) } as const;
  const done = log.append({ deltas, actor, cause, attached: { contents } });
  if (!done.ok) return done;
  if (memories.length > 0) actions.hasMemories = true;
  const counted = memories.flatMap((memory) => memory.counted);
  const source =
    proposal.approvals.length === 0 ? null : await findApprovalSource(deps.store, change, execution);
  const approvals = requestApprovals(change, command, { proposal, source });
  const spent = ruleChanges.spendPermission(change, { actor, verb: command.verb });
  const followUp = log.append({
    deltas: [...counted, ...approvals.deltas, ...spent],
    actor,
    cause: causeWithoutStep,
    attached: { contents: approvals.contents },
  });
  if (!followUp.ok) return followUp;
  if (actor !== "user" && !execution.isApproved) actions.noteHistory(requestId, proposal.history);
  const texts = await lookupTexts(deps, execution, plan);
  const memoryLines = memories.flatMap((memory) => memory.lines);
  const { freedTokens } = plan;
  const changed = changedBlocks(plan);
  const text = commandReportText({ command, proposal, changed, freedTokens, memories: memoryLines, texts });
  const hasEffect = changed.length + memoryLines.length + texts.length + proposal.approvals.length > 0;
  return ok({ text, isError: !hasEffect && hasFailed(plan), plan, changed, step });
}

/** For deltas that accompany a command and are not undone with it. */
const causeWithoutStep = { type: "command", step: null, reason: "" } as const;

function hasFailed({ proposal: { refused, skipped } }: CommandPlan): boolean {
  return refused !== null || skipped.length > 0;
}

/** Reports a plan without applying it; its lookups are still answered. */
function dryRunOutcome(command: Command, plan: CommandPlan, texts: readonly string[]): CommandOutcome {
  const { proposal, freedTokens } = plan;
  const changed = changedBlocks(plan);
  const text = commandReportText({ command, proposal, changed, freedTokens, memories: [], texts });
  const hasEffect = changed.length + proposal.memories.length + texts.length + proposal.approvals.length > 0;
  return { text, isError: !hasEffect && hasFailed(plan), plan, changed, step: null };
}

function stepFor({ log, stream, requestId }: ExecutionContext): StepId {
  return requestId === null ? nextStepId(log.state()) : stream.actions.stepOf(log.state(), requestId);
}

/** The context that permissions and limits of a command are judged in, as of now. */
export async function permitContext(deps: ExecuteDeps, execution: ExecutionContext) {
  const { store, windowOf, permissions = noPermissions } = deps;
  const { log, stream, actor, mode, isTainted, model } = execution;
  const { isApproved = false, isInPlace = false } = execution;
  const { actions } = stream;
  const moment = now(log.state());
  const view = viewIn(moment, stream);
  await actions.recall.update({ moment, view, store });
  const change: ChangeContext = { moment, view, actor };
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  const context: CommandContext = {
    findByTopic: (topic) => actions.recall.findTopic(topic),
    mode: modeOf(moment) ?? mode,
    isTainted,
    permissions: [...lastingPermissions(permissions), ...permissionsIn(change)],
    history: actions.historyFor(execution.requestId, turn),
    windowTokens: windowOf(model) ?? assumedWindow,
    countTokens: (text) => Math.ceil(estimateText(text, model)),
    isInPlace,
    isApproved,
  };
  return { actions, change, context, turn };
}

function viewIn(moment: Moment, { index }: CommandStream): View {
  return must(viewOf(moment, index.view), "an index belongs to a view");
}

function permissionsIn({ moment, view }: ChangeContext): readonly CommandPermission[] {
  return permissionsOf(moment, view).map(({ actor, verb, rule, scope }) => ({
    verb: verb as Verb | "all",
    actor,
    zone: "all",
    answer: rule,
    lasts: scope,
  }));
}

async function lookupTexts(
  { store, windowOf }: ExecuteDeps,
  { log, stream, nonce }: ExecutionContext,
  { proposal }: CommandPlan,
): Promise<readonly string[]> {
  const state = log.state();
  const moment = now(state);
  const { recall } = stream.actions;
  const needed = (turn: number) => stream.names?.forManifest(turn) ?? [];
  const lookupDeps = { state, moment, view: viewIn(moment, stream), store, windowOf, nonce, recall, needed };
  const texts: string[] = [];
  for (const lookup of proposal.lookups) texts.push(await answerLookup(lookupDeps, lookup));
  return texts;
}

/** The blocks that a plan changes; a mere reference is not reported as a change. */
export function changedBlocks({ proposal }: CommandPlan): readonly BlockId[] {
  const blocks = proposal.deltas.flatMap((delta) =>
    delta.type !== "reference-set" && "view" in delta && "block" in delta && typeof delta.block === "number"
      ? [delta.block]
      : [],
  );
  return [...new Set(blocks)];
}

function reasonOf(command: Command): string {
  return command.verb === "archive" ? command.reason : printCommand(command).slice(0, reasonCharsMax);
}

const reasonCharsMax = 200;

type RecordedCallsDeps = ExecuteDeps & { readonly recorder: Pick<SessionRecorder, "inRequest"> };

/** Executes the commands in an answer, once the answer itself is recorded. */
export async function executeRecordedCalls(
  deps: RecordedCallsDeps,
  batch: CommandBatch,
): Promise<Result<readonly CommandResult[]>> {
  const done = await deps.recorder.inRequest(batch.requestId, async ({ live, stream, model }) => {
    const context = { ...batch, log: commandLogOf(live, stream), stream, actor: "model", model } as const;
    return { results: await executeCalls(deps, context, batch) };
  });
  if (!done.ok) return done;
  const { results, ...durability } = done.value;
  return ok(results.map((result) => ({ ...result, text: withDurabilityNote(result.text, durability) })));
}
