import { fail, must, ok, type Result, turnOf } from "../../base/index.ts";
import type { AddedBlock, Delta, Exchange, Tokens } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { attributesOf, type Moment, runNow, streamOf, turnNow } from "../../engine/moment/index.ts";
import type { SentRequest } from "../../exchange/index.ts";
import type { ShownContent } from "../../recorder/index.ts";
import { agentDefaults } from "../agent.ts";
import { planRun } from "../prompt/plan-prompt.ts";
import { headUnits } from "../prompt/prompt-head.ts";
import { contextHash, requestOf } from "../prompt/rendered-context.ts";
import type { RunPrompt } from "../prompt/run-prompt.ts";
import type { ModelAnswer, ModelRequest } from "../provider.ts";
import { raceAbort, timerMsMax } from "../race-abort.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import type { SpaceEvent } from "../space-events.ts";
import type { SpaceLog } from "../space-log.ts";
import { recordPromptEnd } from "./prompt-end.ts";
import { recordAnswer } from "./record-answer.ts";

/** Runs one turn: plans the prompt, records it as sent, asks the provider and records the answer. */
export async function runTurn(deps: RunDeps, run: AgentRun, rounds: number): Promise<Result<void>> {
  const request = await planAndRecord(deps, run, rounds);
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
 * Plans the prompt again if a frame was appended meanwhile, because that frame is not in the prompt and must
 * not count as sent. The content cache is held, so the next attempt reads from memory without waiting, and
 * other runs cannot come between, however busy they are.
 */
async function planAndRecord(deps: RunDeps, run: AgentRun, rounds: number): Promise<Result<ModelRequest>> {
  const release = deps.log.contents.hold();
  try {
    for (;;) {
      const planned = await planRun(deps, run);
      if (!planned.ok) return planned;
      if (run.signal.aborted) return fail("AP_SPACE_CLOSED");
      if (deps.log.state() !== planned.value.moment.state) continue;
      return recordSent(deps, run, { prompt: planned.value, rounds });
    }
  } finally {
    release();
  }
}

type SentRun = { readonly prompt: RunPrompt; readonly rounds: number };

function recordSent(
  { log, clock }: RunDeps,
  { agentStream, agent }: AgentRun,
  { prompt, rounds }: SentRun,
): Result<ModelRequest> {
  const { moment, view, client, body } = prompt;
  const request = requestOf(agent, body, rounds);
  const exchange = openedExchange(moment, view, request);
  const turn = nextTurn(moment, view);
  const headCount = headUnits(client.head).length;
  const draft = agentStream.recorder.draftPrompt(moment.state, {
    request: prompt.request,
    sent: sentRequest(prompt),
    blocks: [
      ...headUnits(client.head).map(() => null),
      ...client.units.map(({ block }) => block?.id ?? null),
    ],
    firstFresh: headCount + client.repeatedCount,
    turn,
  });
  const deltas: Delta[] = [
    ...draft.epoch,
    ...draft.units,
    ...(rounds === 0 ? runStarted(moment, view) : []),
    { type: "exchange-opened", exchange },
    { type: "turn-sent", view: view.id, turn, leaf: draft.leaf, exchange: exchange.id },
  ];
  const contents = draft.contents.map(({ bytes }) => log.contents.add(bytes));
  const shown = newlyShown(log, prompt);
  const appended = log.append({ stream: view.stream, actor: "client", cause: "request", deltas, contents });
  if (!appended.ok) return appended;
  draft.commit(exchange.id);
  agentStream.recorder.noteShown(shown);
  agentStream.noteSent(prompt, clock.now());
  return ok(request);
}

/** The prompt as the ledger sent it. A path that begins again is an epoch without a cut. */
function sentRequest({ plan, client, wishesSeq }: RunPrompt): SentRequest {
  const { report, length } = plan;
  const restarted =
    client.restart === null
      ? null
      : ({ cut: null, reason: client.restart, means: "own", predicted: null } as const);
  const named = { rendering: "managed", streamKey: "", generatedName: null, wishesSeq } as const;
  return { ...named, ...report, body: [], length, epoch: restarted ?? report.epoch };
}

/** The blocks that no earlier prompt of the agent has shown. Its own answers were noted when they came. */
function newlyShown(log: SpaceLog, { moment, view, client }: RunPrompt): readonly ShownContent[] {
  const sentSeq = view.sent.last?.seq ?? 0;
  return client.units.slice(client.repeatedCount).flatMap(({ block, role }) => {
    const bytes = block === null || role === "assistant" ? null : log.contents.cached(block.content);
    if (block === null || bytes === null || block.addedSeq <= sentSeq) return [];
    return [{ block, bytes, tokens: tokensOf(moment, block) }];
  });
}

function tokensOf(moment: Moment, { id }: AddedBlock): Tokens {
  return attributesOf(moment, id)?.tokens ?? { count: 0, exact: false };
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
  { agent, agentStream, signal }: AgentRun,
  request: ModelRequest,
): Promise<Result<ModelAnswer>> {
  const { provider, name } = agent;
  const timeoutMs = agent.answerTimeoutMs ?? provider.answerTimeoutMs ?? agentDefaults.answerTimeoutMs;
  const stream = deps.streamName(agentStream.stream);
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
