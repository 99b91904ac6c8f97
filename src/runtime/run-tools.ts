import { fail, type Json, must, ok, type Result } from "../base/index.ts";
import { isCommandTool } from "../commands/index.ts";
import { type AddedBlock, blockOf, viewOf } from "../engine/index.ts";
import { spokenIn } from "../protocols/index.ts";
import { carryOutCalls } from "../session/index.ts";
import { activationOf, anchorOf } from "./activation.ts";
import { usual } from "./agent.ts";
import { askedOf, begunCalls } from "./asked.ts";
import { Draft } from "./draft.ts";
import type { EventOf } from "./events.ts";
import { inOneGo } from "./in-one-go.ts";
import { viewIn } from "./rendering.ts";
import { addResult, failed, type Outcome } from "./result.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { isTaintedRun } from "./taint.ts";
import { problemText } from "./takeable.ts";
import { inputProblem, type Tool } from "./tool.ts";
import { toolAnswer, withoutMark } from "./tool-answer.ts";
import { timerMsMax, unlessAborted } from "./unless-aborted.ts";

type Call = {
  readonly block: AddedBlock;
  readonly id: string;
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
  /** The block that says it was started, where somebody has; then it may have been carried out. */
  readonly started: AddedBlock | null;
};

/**
 * Makes the calls of one answer: our own one after the other, since each may change what the next one means,
 * then the agent's all at once. That a call begins is on the disk before it does, and what came of it before
 * the agent hears it.
 */
export async function runTools(
  place: RunPlace,
  run: Run,
  blocks: readonly AddedBlock[],
): Promise<Result<void>> {
  const calls = await readCalls(place, run, blocks);
  if (!calls.ok) return calls;
  const isCommand = (call: Call): boolean => isOurs(run, call);
  const [ours, theirs] = [calls.value.filter(isCommand), calls.value.filter((call) => !isCommand(call))];
  for (const call of ours) {
    const done = await carryOutOnce(place, run, call);
    if (!done.ok) return done;
  }
  const begun = await begin(place, run, theirs);
  if (!begun.ok) return begun;
  return await allMade(begun.value.map((call) => make(place, run, call)));
}

/** Whatever becomes of one, all are waited for: a run that ends answers the calls that are still open. */
async function allMade(making: readonly Promise<Result<void>>[]): Promise<Result<void>> {
  const made = await Promise.allSettled(making);
  for (const one of made) if (one.status === "rejected") throw one.reason;
  const results = made.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  return results.find((one) => !one.ok) ?? ok(undefined);
}

/** Whoever may not manage its memory has no such tool, whatever it calls. */
function isOurs({ agent }: Run, { name }: Call): boolean {
  return agent.memory !== false && isCommandTool(name);
}

async function readCalls(
  { log, standing }: RunPlace,
  run: Run,
  blocks: readonly AddedBlock[],
): Promise<Result<readonly Call[]>> {
  const read = await log.contents.reader(blocks.map(({ content }) => content));
  if (!read.ok) return read;
  const begun = begunCalls(log.moment(), viewIn(log.moment(), run), standing);
  const calls = blocks.map((block): Call => {
    const spoken = spokenIn(read.value(block.content));
    const { name, input } = spoken?.type === "call" ? spoken : { name: "", input: {} };
    const started = begun.find((one) => {
      const activation = activationOf(one);
      return activation !== null && "call" in activation && activation.call === block.anchor;
    });
    return { block, id: block.anchor, name, input, started: started ?? null };
  });
  return ok(calls);
}

/**
 * Says of all that begin now that they do. One that began before we were ended is not begun again by itself.
 */
async function begin(place: RunPlace, run: Run, calls: readonly Call[]): Promise<Result<readonly Call[]>> {
  const { log } = place;
  const { agent, memory } = run;
  const draft = new Draft(log);
  const fresh = calls.filter(({ started }) => started === null);
  const added = fresh.map(({ id }) => {
    const anchor = anchorOf({ agent: agent.name, call: id });
    return draft.text({
      kind: "activation",
      stream: memory.stream,
      speaker: agent.name,
      taint: "model",
      anchor,
      text: "",
    }).id;
  });
  if (added.length === 0) return ok(calls);
  const { deltas, contents } = draft;
  const noted = { stream: memory.stream, actor: "client", cause: "response", deltas, contents } as const;
  const appended = await log.appendDurably(noted);
  if (!appended.ok) return appended;
  const blockAt = (at: number): AddedBlock =>
    must(log.state().blocks.get(must(added[at], "one each")), "it was added").block;
  return ok(
    calls.map((call) =>
      call.started === null ? { ...call, started: blockAt(fresh.indexOf(call)), isFresh: true } : call,
    ),
  );
}

/** Nobody hears that a call is done before what came of it is on the disk. */
async function make(place: RunPlace, run: Run, call: BegunCall): Promise<Result<void>> {
  const outcome = await outcomeOf(place, run, call);
  const finished = await finish(place, run, { call, outcome });
  if (finished.ok && outcome.isMade) tellOf(place, run)(call, outcome.isError ? "failed" : "done");
  return finished;
}

function tellOf({ tell, nameOf }: RunPlace, { agent, memory }: Run) {
  const told = { type: "tool", stream: nameOf(memory.stream), agent: agent.name } as const;
  return ({ name: tool }: Call, is: EventOf<"tool">["is"]): void => tell({ ...told, tool, is });
}

type BegunCall = Call & { readonly isFresh?: boolean };

/** What a call comes to. Nothing is thrown: what goes wrong is for the agent to read. */
async function outcomeOf(place: RunPlace, run: Run, call: BegunCall): Promise<Outcome> {
  const tool = run.agent.tools?.find(({ name }) => name === call.name);
  if (tool === undefined) return failed(`There is no tool ${call.name}.`);
  if (call.isFresh !== true && tool.repeatable !== true) {
    return failed("This call was cut off, and nobody knows how far it came. Look before you make it again.");
  }
  const problem = inputProblem(tool.input, call.input);
  if (problem !== null) return failed(`This call cannot be made: ${problem}.`);
  const stream = place.nameOf(run.memory.stream);
  tellOf(place, run)(call, "started");
  // A provider may use an id of its own again; the number of a block nobody does.
  const callId = `${place.log.state().session}-${call.block.id}`;
  const { content, isError } = await attempt(tool, run, { call, stream, callId });
  const nonce = place.nonceOf(viewIn(place.log.moment(), run));
  return { content: withoutMark(content, nonce), isError, isMade: true };
}

async function attempt(
  tool: Tool,
  { signal, agent }: Run,
  { call, stream, callId }: { readonly call: Call; readonly stream: string; readonly callId: string },
): Promise<Outcome> {
  const timeoutMs = tool.timeoutMs ?? usual.toolTimeoutMs;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(timeoutMs, timerMsMax));
  const both = AbortSignal.any([signal, late.signal]);
  const running = async (): Promise<Outcome> => {
    try {
      const told = { signal: both, agent: agent.name, stream, callId };
      return { content: toolAnswer(await tool.run(call.input as never, told)), isError: false };
    } catch (error) {
      return failed(problemText(error));
    }
  };
  const why = (): string =>
    signal.aborted ? "This call was cancelled." : `This call took more than ${timeoutMs} ms.`;
  const outcome = await unlessAborted(both, running(), () => failed(why()));
  clearTimeout(timer);
  return outcome;
}

/** What a command does and what is said of it are written down together: no end comes between the two. */
async function carryOutOnce(place: RunPlace, run: Run, call: Call): Promise<Result<void>> {
  const isTainted = await isTaintedRun(place, run);
  if (!isTainted.ok) return isTainted;
  const finished = await place.log.exclusively(async () => {
    const release = place.log.store.hold();
    try {
      const outcome = await carryOut(place, run, { ...call, isTainted: isTainted.value });
      return { durable: finish(place, run, { call, outcome }) };
    } finally {
      release();
    }
  });
  return await finished.durable;
}

/** One of our own commands, by the way any command takes. */
async function carryOut(
  { log, nonceOf, standing }: RunPlace,
  { agent, memory }: Run,
  { id, name, input, isTainted }: Call & { readonly isTainted: boolean },
): Promise<Outcome> {
  const view = must(viewOf(log.moment(), memory.view), "a view that is remembered is open");
  // What a run does is one step for whoever undoes it.
  const request = `run-${askedOf(log.moment(), view, standing).beganSeq}`;
  const nonce = nonceOf(view);
  const mode = agent.mode ?? "auto";
  const windowOf = (): number => agent.budgetTokens ?? usual.budgetTokens;
  const [result] = await inOneGo(log, memory, (live, attempt) => {
    const line = { index: { view: memory.view }, ids: memory.ids, doings: memory.doings };
    return carryOutCalls(
      { store: log.store, windowOf },
      { live, line, actor: "model", mode, isTainted, nonce, model: agent.model, request },
      { request, calls: [{ id: `${id} ${attempt}`, name, input }], nonce, mode, isTainted },
    );
  });
  const { text, isError } = must(result, "one call has one result");
  return { content: text, isError };
}

type Finished = { readonly call: Call; readonly outcome: Outcome };

/** What came of a call, and in the same frame that it is over. */
async function finish({ log }: RunPlace, run: Run, { call, outcome }: Finished): Promise<Result<void>> {
  const { memory } = run;
  // Nobody knows how far it came: that is for whoever takes the run up again to find. Of ours, we know.
  if (run.isLeft() && !isOurs(run, call)) return fail("AP_SPACE_CLOSED");
  const draft = new Draft(log);
  const moment = log.moment();
  addResult(draft, moment, { ...outcome, call: call.block });
  if (call.started !== null && blockOf(moment, call.started.id) !== null) draft.remove(call.started.id);
  const { deltas, contents } = draft;
  if (deltas.length === 0) return ok(undefined);
  const noted = { stream: memory.stream, actor: "client", cause: "response", deltas, contents } as const;
  const appended = await log.appendDurably(noted);
  return appended.ok ? ok(undefined) : appended;
}
