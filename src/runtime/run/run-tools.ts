import { fail, type Json, must, ok, type Result } from "../../base/index.ts";
import { isCommandTool } from "../../commands/index.ts";
import type { AddedBlock } from "../../engine/frames/index.ts";
import { blockOf, viewOf } from "../../engine/moment/index.ts";
import { executeCalls } from "../../execute/index.ts";
import { readEditable } from "../../protocols/index.ts";
import { activationAnchor, activationOf } from "../activation.ts";
import { agentDefaults } from "../agent.ts";
import { viewOfRun } from "../prompt/plan-prompt.ts";
import { raceAbort, timerMsMax } from "../race-abort.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import { runStatusOf, startedCalls } from "../run-status.ts";
import { problemText } from "../sendable.ts";
import { SpaceDraft } from "../space-draft.ts";
import type { EventOf } from "../space-events.ts";
import { inputProblem, type Tool } from "../tool.ts";
import { runOptimistically } from "./run-optimistically.ts";
import { isTaintedRun } from "./run-taint.ts";
import { addResult, failedOutcome, readToolAnswer, stripNonce, type ToolOutcome } from "./tool-outcome.ts";

type OpenCall = {
  readonly block: AddedBlock;
  readonly id: string;
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
  /** The activation block of the call. Null if it was not started; otherwise it may have been carried out. */
  readonly started: AddedBlock | null;
};

/**
 * Makes the calls of one answer: first Aperture's commands one after the other, because each may change what
 * the next one means, then the agent's tools all at once. The start of a call is on the disk before the tool
 * runs, and its result before the agent reads it.
 */
export async function runTools(
  deps: RunDeps,
  run: AgentRun,
  blocks: readonly AddedBlock[],
): Promise<Result<void>> {
  const calls = await readCalls(deps, run, blocks);
  if (!calls.ok) return calls;
  const commands = calls.value.filter((call) => isCommand(run, call));
  const toolCalls = calls.value.filter((call) => !isCommand(run, call));
  for (const call of commands) {
    const done = await carryOutOnce(deps, run, call);
    if (!done.ok) return done;
  }
  const started = await startCalls(deps, run, toolCalls);
  if (!started.ok) return started;
  return await waitForAll(started.value.map((call) => makeCall(deps, run, call)));
}

/**
 * Waits for all calls even if one fails: the end of a run gives a result to every call that is still open.
 */
async function waitForAll(calls: readonly Promise<Result<void>>[]): Promise<Result<void>> {
  const settled = await Promise.allSettled(calls);
  for (const one of settled) if (one.status === "rejected") throw one.reason;
  const results = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  return results.find((one) => !one.ok) ?? ok(undefined);
}

/** An agent that may not manage its context has no command tools, whatever it calls. */
function isCommand({ agent }: AgentRun, { name }: OpenCall): boolean {
  return agent.memory !== false && isCommandTool(name);
}

async function readCalls(
  { log, index }: RunDeps,
  run: AgentRun,
  blocks: readonly AddedBlock[],
): Promise<Result<readonly OpenCall[]>> {
  const read = await log.contents.load(blocks.map(({ content }) => content));
  if (!read.ok) return read;
  const startedBlocks = startedCalls(log.moment(), viewOfRun(log.moment(), run), index);
  const calls = blocks.map((block): OpenCall => {
    const unit = readEditable(read.value(block.content), block);
    const { name, input } = unit?.type === "call" ? unit : { name: "", input: {} };
    const started = startedBlocks.find((one) => {
      const activation = activationOf(one);
      return activation !== null && "call" in activation && activation.call === block.anchor;
    });
    return { block, id: block.anchor, name, input, started: started ?? null };
  });
  return ok(calls);
}

/**
 * Records the start of all calls that are new. A call that was started before a crash is not started again.
 */
async function startCalls(
  deps: RunDeps,
  run: AgentRun,
  calls: readonly OpenCall[],
): Promise<Result<readonly StartedCall[]>> {
  const { log } = deps;
  const { agent, agentStream } = run;
  const draft = new SpaceDraft(log);
  const fresh = calls.filter(({ started }) => started === null);
  const added = fresh.map(({ id }) => {
    const anchor = activationAnchor({ agent: agent.name, call: id });
    return draft.addText({
      kind: "activation",
      stream: agentStream.stream,
      speaker: agent.name,
      taint: "model",
      anchor,
      text: "",
    }).id;
  });
  if (added.length === 0) return ok(calls);
  const { deltas, contents } = draft;
  const frame = { stream: agentStream.stream, actor: "client", cause: "response", deltas, contents } as const;
  const appended = await log.appendDurably(frame);
  if (!appended.ok) return appended;
  const blockAt = (at: number): AddedBlock =>
    must(log.state().blocks.get(must(added[at], "one each")), "it was added").block;
  return ok(
    calls.map((call) =>
      call.started === null ? { ...call, started: blockAt(fresh.indexOf(call)), isFresh: true } : call,
    ),
  );
}

/** Makes a call. The event that it is done follows only when its result is on the disk. */
async function makeCall(deps: RunDeps, run: AgentRun, call: StartedCall): Promise<Result<void>> {
  const outcome = await outcomeOf(deps, run, call);
  const recorded = await recordOutcome(deps, run, { call, outcome });
  if (recorded.ok && outcome.hasRun) toolEmitter(deps, run)(call, outcome.isError ? "failed" : "done");
  return recorded;
}

function toolEmitter({ emit, streamName }: RunDeps, { agent, agentStream }: AgentRun) {
  const common = { type: "tool", stream: streamName(agentStream.stream), agent: agent.name } as const;
  return ({ name: tool }: OpenCall, is: EventOf<"tool">["is"]): void => emit({ ...common, tool, is });
}

type StartedCall = OpenCall & {
  /** True if the call was started by this process, not before a crash. */
  readonly isFresh?: boolean;
};

/** The outcome of a call. Nothing is thrown: the agent reads what went wrong. */
async function outcomeOf(deps: RunDeps, run: AgentRun, call: StartedCall): Promise<ToolOutcome> {
  const tool = run.agent.tools?.find(({ name }) => name === call.name);
  if (tool === undefined) return failedOutcome(`There is no tool ${call.name}.`);
  if (call.isFresh !== true && tool.repeatable !== true) {
    return failedOutcome(
      "This call was cut off, and nobody knows how far it came. Look before you make it again.",
    );
  }
  const problem = inputProblem(tool.input, call.input);
  if (problem !== null) return failedOutcome(`This call cannot be made: ${problem}.`);
  const stream = deps.streamName(run.agentStream.stream);
  toolEmitter(deps, run)(call, "started");
  // A provider may use its own call ids again; a block id is never used again.
  const callId = `${deps.log.state().session}-${call.block.id}`;
  const { content, isError } = await runTool(tool, run, { call, stream, callId });
  const nonce = deps.nonceOf(viewOfRun(deps.log.moment(), run));
  return { content: stripNonce(content, nonce), isError, hasRun: true };
}

async function runTool(
  tool: Tool,
  { signal, agent }: AgentRun,
  { call, stream, callId }: { readonly call: OpenCall; readonly stream: string; readonly callId: string },
): Promise<ToolOutcome> {
  const timeoutMs = tool.timeoutMs ?? agentDefaults.toolTimeoutMs;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(timeoutMs, timerMsMax));
  const eitherSignal = AbortSignal.any([signal, late.signal]);
  const runToEnd = async (): Promise<ToolOutcome> => {
    try {
      const toolRun = { signal: eitherSignal, agent: agent.name, stream, callId };
      return { content: readToolAnswer(await tool.run(call.input as never, toolRun)), isError: false };
    } catch (error) {
      return failedOutcome(problemText(error));
    }
  };
  const abortText = (): string =>
    signal.aborted ? "This call was cancelled." : `This call took more than ${timeoutMs} ms.`;
  const outcome = await raceAbort(eitherSignal, runToEnd(), () => failedOutcome(abortText()));
  clearTimeout(timer);
  return outcome;
}

/** Records the effect of a command and its result in one batch, so that no crash can come between the two. */
async function carryOutOnce(deps: RunDeps, run: AgentRun, call: OpenCall): Promise<Result<void>> {
  const isTainted = await isTaintedRun(deps, run);
  if (!isTainted.ok) return isTainted;
  const recorded = await deps.log.runExclusively(async () => {
    const release = deps.log.store.hold();
    try {
      const outcome = await carryOut(deps, run, { ...call, isTainted: isTainted.value });
      return { durable: recordOutcome(deps, run, { call, outcome }) };
    } finally {
      release();
    }
  });
  return await recorded.durable;
}

/** Carries out a command of the agent the way every command goes. */
async function carryOut(
  { log, nonceOf, index }: RunDeps,
  { agent, agentStream }: AgentRun,
  { id, name, input, isTainted }: OpenCall & { readonly isTainted: boolean },
): Promise<ToolOutcome> {
  const view = must(viewOf(log.moment(), agentStream.view), "a view that is remembered is open");
  // All commands of a run are one step, which is undone as a whole.
  const request = `run-${runStatusOf(log.moment(), view, index).startSeq}`;
  const nonce = nonceOf(view);
  const mode = agent.mode ?? "auto";
  const windowOf = (): number => agent.budgetTokens ?? agentDefaults.budgetTokens;
  const [result] = await runOptimistically(log, agentStream, (live, attempt) => {
    const target = {
      index: { view: agentStream.view },
      ids: agentStream.ids,
      actions: agentStream.recorder.actions,
    };
    return executeCalls(
      { store: log.store, windowOf },
      {
        log: live,
        stream: target,
        actor: "model",
        mode,
        isTainted,
        nonce,
        model: agent.model,
        requestId: request,
      },
      { requestId: request, calls: [{ id: `${id} ${attempt}`, name, input }], nonce, mode, isTainted },
    );
  });
  const { text, isError } = must(result, "one call has one result");
  return { content: text, isError };
}

/** Records the result of a call, and in the same frame removes its activation. */
async function recordOutcome(
  { log }: RunDeps,
  run: AgentRun,
  { call, outcome }: { readonly call: OpenCall; readonly outcome: ToolOutcome },
): Promise<Result<void>> {
  // A suspended tool call may have done part of its work; the run that continues it tells the agent. A
  // command is recorded whole, so its outcome is certain.
  if (run.isSuspended() && !isCommand(run, call)) return fail("AP_SPACE_CLOSED");
  const draft = new SpaceDraft(log);
  const moment = log.moment();
  addResult(draft, moment, { ...outcome, call: call.block });
  if (call.started !== null && blockOf(moment, call.started.id) !== null) draft.removeBlock(call.started.id);
  const { deltas, contents } = draft;
  if (deltas.length === 0) return ok(undefined);
  const frame = {
    stream: run.agentStream.stream,
    actor: "client",
    cause: "response",
    deltas,
    contents,
  } as const;
  const appended = await log.appendDurably(frame);
  return appended.ok ? ok(undefined) : appended;
}
