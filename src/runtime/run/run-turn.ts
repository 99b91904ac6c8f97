import { fail, hashContent, must, ok, type Result, turnOf, unitId } from "../../base/index.ts";
import type { Delta, Exchange } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { epochNow, type Moment, runNow, streamOf, turnNow } from "../../engine/moment/index.ts";
import { agentDefaults } from "../agent.ts";
import { PromptPath } from "../prompt/prompt-path.ts";
import { type RunPrompt, renderRun } from "../prompt/render-run.ts";
import { contextHash, requestOf } from "../prompt/rendered-context.ts";
import type { RenderedUnit } from "../prompt/rendered-unit.ts";
import type { ModelAnswer, ModelRequest } from "../provider.ts";
import { raceAbort, timerMsMax } from "../race-abort.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import type { SpaceEvent } from "../space-events.ts";
import { recordPromptEnd } from "./prompt-end.ts";
import { recordAnswer } from "./record-answer.ts";

/** Runs one turn: renders the prompt, records it as sent, asks the provider and records the answer. */
export async function runTurn(deps: RunDeps, run: AgentRun, rounds: number): Promise<Result<void>> {
  const request = await renderAndRecord(deps, run, rounds);
  if (!request.ok) return request;
  const started = deps.clock.now();
  const answer = await askProvider(deps, run, request.value);
  const timing = { totalMs: Math.max(0, deps.clock.now() - started), bytes: 0 };
  if (!answer.ok) {
    const closed = recordPromptEnd(deps, run, {
      outcome: run.signal.aborted ? "interrupted" : "failed",
      ...timing,
    });
    return closed.ok ? answer : closed;
  }
  return await recordAnswer(deps, run, { answer: answer.value, totalMs: timing.totalMs });
}

/**
 * Renders the prompt again if a frame was appended meanwhile, because that frame is not in the prompt and
 * must not count as sent. The content cache is held, so the next attempt reads from memory without waiting,
 * and other runs cannot come between, however busy they are.
 */
async function renderAndRecord(deps: RunDeps, run: AgentRun, rounds: number): Promise<Result<ModelRequest>> {
  const release = deps.log.contents.hold();
  try {
    for (;;) {
      const rendered = await renderRun(deps, run);
      if (!rendered.ok) return rendered;
      if (run.signal.aborted) return fail("AP_SPACE_CLOSED");
      if (deps.log.state() !== rendered.value.moment.state) continue;
      return recordSent(deps, run, { runPrompt: rendered.value, rounds });
    }
  } finally {
    release();
  }
}

function recordSent(
  { log }: RunDeps,
  { cache, agent }: AgentRun,
  { runPrompt, rounds }: { readonly runPrompt: RunPrompt; readonly rounds: number },
): Result<ModelRequest> {
  const { moment, view, prompt } = runPrompt;
  const path = prompt.kept?.copy() ?? new PromptPath();
  const first = moment.state.units.size;
  const units = prompt.fresh.map((unit, at): Delta => {
    const parent = at === 0 ? path.leaf : unitId(first + at - 1);
    return { type: "unit-sent", unit: { ...sentUnit(unit, view), id: unitId(first + at), parent } };
  });
  const leaf = prompt.fresh.length === 0 ? path.leaf : unitId(first + prompt.fresh.length - 1);
  path.append(
    prompt.fresh,
    leaf,
    (block) => must(moment.state.blocks.get(block), "it is shown").block.anchor,
  );
  const request = requestOf(agent, path, rounds);
  const exchange = openedExchange(moment, view, request);
  const deltas: Delta[] = [
    ...epochOf(moment, view, prompt),
    ...units,
    ...(rounds === 0 ? runStarted(moment, view) : []),
    { type: "exchange-opened", exchange },
    {
      type: "turn-sent",
      view: view.id,
      turn: nextTurn(moment, view),
      leaf: must(leaf, "a prompt is not empty"),
      exchange: exchange.id,
    },
  ];
  const contents = prompt.fresh.map(({ bytes }) => log.contents.add(bytes));
  const appended = log.append({ stream: view.stream, actor: "client", cause: "request", deltas, contents });
  if (!appended.ok) return appended;
  cache.path = path;
  cache.lastPrompt = null;
  return ok(request);
}

function sentUnit({ bytes, shows, origin, anchor, message }: RenderedUnit, { stream }: View) {
  return { stream, message, origin, anchor, bytes: hashContent(bytes), shows };
}

function epochOf(moment: Moment, view: View, { epoch }: RunPrompt["prompt"]): readonly Delta[] {
  if (epoch === null) return [];
  const number = epochNow(moment, view) + 1;
  return [{ type: "epoch-started", view: view.id, epoch: number, cut: null, reason: epoch, means: "own" }];
}

function runStarted(moment: Moment, { stream: id }: View): readonly Delta[] {
  const { run } = runNow(moment, must(streamOf(moment, id), "a view has a stream"));
  return [{ type: "run-started", stream: id, from: run, to: run + 1 }];
}

function nextTurn(moment: Moment, view: View) {
  return turnOf(turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream")) + 1);
}

function openedExchange({ state }: Moment, { stream, sent }: View, request: ModelRequest): Exchange {
  return {
    id: state.exchanges.size + 1,
    request: contextHash(request),
    stream,
    role: "turn",
    relation: sent.size === 0 ? "first" : "append",
    of: null,
    model: request.model,
    target: "runtime",
    bytes: Buffer.byteLength(JSON.stringify(request)),
    rendering: "managed",
  };
}

/** Sends a prompt to the agent's provider and emits the text as it arrives. Gives up after a long silence. */
async function askProvider(
  deps: RunDeps,
  { agent, cache, signal }: AgentRun,
  request: ModelRequest,
): Promise<Result<ModelAnswer>> {
  const { provider, name } = agent;
  const timeoutMs = agent.answerTimeoutMs ?? provider.answerTimeoutMs ?? agentDefaults.answerTimeoutMs;
  const stream = deps.streamName(cache.stream);
  const late = new AbortController();
  const eitherSignal = AbortSignal.any([signal, late.signal]);
  let timer: NodeJS.Timeout | undefined;
  const restartTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => late.abort(), Math.min(timeoutMs, timerMsMax));
  };
  const emit = (event: SpaceEvent): void => {
    if (eitherSignal.aborted) return;
    restartTimer();
    deps.emit(event);
  };
  restartTimer();
  try {
    const answering = provider.ask(request, {
      signal: eitherSignal,
      onText: (text) => emit({ type: "heard", stream, agent: name, text }),
      onRestart: () => emit({ type: "anew", stream, agent: name }),
    });
    // A provider that ignores the signal is not waited for.
    const answer = await raceAbort(eitherSignal, answering, () => fail("AP_SPACE_CLOSED"));
    const isLate = late.signal.aborted && !signal.aborted && !answer.ok;
    return isLate ? fail("AP_PROVIDER_LATE", { provider: provider.name, ms: timeoutMs }) : answer;
  } finally {
    clearTimeout(timer);
  }
}
