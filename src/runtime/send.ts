import { fail, hashContent, must, ok, type Result, turnOf, unitId } from "../base/index.ts";
import { isTainting } from "../commands/index.ts";
import {
  type BlockKind,
  type Delta,
  type Exchange,
  type ExchangeEnd,
  epochNow,
  expire,
  type Moment,
  runNow,
  type SentTurn,
  streamOf,
  type TurnOutcome,
  turnNow,
  type View,
} from "../engine/index.ts";
import { spokenIn } from "../protocols/index.ts";
import { Draft } from "./draft.ts";
import type { SpaceEvent } from "./events.ts";
import { Path } from "./path.ts";
import type { ModelAnswer, ModelRequest, WireBlock } from "./provider.ts";
import { contextHash, requestOf } from "./rendered-context.ts";
import { type Rendered, renderRun, viewIn } from "./rendering.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { isReasoning, takeableAnswer, wireBytes } from "./takeable.ts";
import type { RenderedUnit } from "./unit.ts";
import { unlessAborted } from "./unless-aborted.ts";

/**
 * One turn: what there is to read is rendered, written down as sent, asked, and what comes back is written
 * down.
 */
export async function sendTurn(place: RunPlace, run: Run, rounds: number): Promise<Result<void>> {
  const sent = await renderAndRecord(place, run, rounds);
  if (!sent.ok) return sent;
  const { agent, signal } = run;
  const stream = place.nameOf(run.memory.stream);
  const started = place.clock.now();
  const tellOf = (event: SpaceEvent): void => {
    if (!signal.aborted) place.tell(event);
  };
  const asking = agent.provider.ask(sent.value.request, {
    signal,
    heard: (text) => tellOf({ type: "heard", stream, agent: agent.name, text }),
    anew: () => tellOf({ type: "anew", stream, agent: agent.name }),
  });
  // A provider that does not hear that it is over is not waited for.
  const answer = await unlessAborted(signal, asking, () => fail("AP_SPACE_CLOSED"));
  const timing = { totalMs: Math.max(0, place.clock.now() - started), bytes: 0 };
  if (!answer.ok) {
    const closed = recordClosed(place, run, {
      outcome: signal.aborted ? "interrupted" : "failed",
      ...timing,
    });
    return closed.ok ? answer : closed;
  }
  return await recordAnswer(place, run, { answer: answer.value, totalMs: timing.totalMs });
}

type Sending = Rendered & { readonly rounds: number };
type Sent = { readonly request: ModelRequest };

/** What was appended while it was rendered is not in it, and must not pass for something that was sent. */
async function renderAndRecord(place: RunPlace, run: Run, rounds: number): Promise<Result<Sent>> {
  for (;;) {
    const rendered = await renderRun(place, run);
    if (!rendered.ok) return rendered;
    if (place.log.state() !== rendered.value.moment.state) continue;
    return recordSent(place, run, { ...rendered.value, rounds });
  }
}

function recordSent(place: RunPlace, run: Run, sending: Sending): Result<Sent> {
  const { moment, view, rendering, rounds } = sending;
  const { log } = place;
  const { memory, agent } = run;
  const path = rendering.kept?.copy() ?? new Path();
  const first = moment.state.units.size;
  const units = rendering.fresh.map((unit, at): Delta => {
    const parent = at === 0 ? path.leaf : unitId(first + at - 1);
    return { type: "unit-sent", unit: { ...sentUnit(unit, view), id: unitId(first + at), parent } };
  });
  const leaf = rendering.fresh.length === 0 ? path.leaf : unitId(first + rendering.fresh.length - 1);
  path.append(
    rendering.fresh,
    leaf,
    (block) => must(moment.state.blocks.get(block), "it is shown").block.anchor,
  );
  const request = requestOf(agent, path, rounds);
  const exchange = openedExchange(moment, view, request);
  const deltas: Delta[] = [
    ...epochOf(moment, view, rendering),
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
  const contents = rendering.fresh.map(({ bytes }) => log.contents.keep(bytes));
  const appended = log.append({ stream: view.stream, actor: "client", cause: "request", deltas, contents });
  if (!appended.ok) return appended;
  memory.path = path;
  memory.last = null;
  memory.isTainted =
    (rounds > 0 && memory.isTainted) ||
    rendering.fresh.some((unit) => taints(moment, unit, place.nonceOf(view)));
  return ok({ request });
}

function sentUnit({ bytes, shows, origin, anchor, message }: RenderedUnit, { stream }: View) {
  return { stream, message, origin, anchor, bytes: hashContent(bytes), shows };
}

/** Whether what nobody vouches for speaks in commands. */
function taints({ state }: Moment, { shows, bytes, origin }: RenderedUnit, nonce: string): boolean {
  const [shown] = origin === "client" ? shows : [];
  const block = shown === undefined ? undefined : state.blocks.get(shown.block)?.block;
  const spoken = block?.taint === "untrusted" ? spokenIn(bytes) : null;
  return spoken !== null && spoken.type !== "call" && isTainting(spoken.text, nonce);
}

function epochOf(moment: Moment, view: View, { epoch }: Rendered["rendering"]): readonly Delta[] {
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

type Closing = {
  readonly outcome: "complete" | "failed" | "interrupted";
  readonly totalMs: number;
  readonly bytes: number;
  readonly answer?: ModelAnswer;
};

function closingDeltas(view: View, { turn, exchange }: SentTurn, closing: Closing): readonly Delta[] {
  const { outcome, totalMs, bytes, answer } = closing;
  const usage = answer?.usage ?? null;
  const turnOutcome: TurnOutcome = outcome;
  const end: ExchangeEnd = {
    exchange,
    outcome,
    status: null,
    usage,
    bytes,
    firstByteMs: null,
    totalMs,
    stop: answer?.stop ?? null,
    problem: null,
  };
  return [
    { type: "turn-answered", view: view.id, turn, outcome: turnOutcome, usage },
    { type: "exchange-closed", end },
  ];
}

/** A prompt that got no answer, or one that nobody wrote down before we were ended. */
export function recordClosed(place: RunPlace, run: Run, closing: Closing): Result<void> {
  const view = viewIn(place.log.moment(), run);
  const sent = must(view.sent.last, "what is closed was sent");
  const deltas = closingDeltas(view, sent, closing);
  const appended = place.log.append({ stream: view.stream, actor: "client", cause: "response", deltas });
  return appended.ok ? ok(undefined) : appended;
}

type Answered = { readonly answer: ModelAnswer; readonly totalMs: number };

/** What was said, and in the same frame that the run is over, if nothing was called. */
async function recordAnswer(place: RunPlace, run: Run, { answer, totalMs }: Answered): Promise<Result<void>> {
  const { log } = place;
  const { agent, memory, activation } = run;
  const view = viewIn(log.moment(), run);
  const sent = must(view.sent.last, "what is answered was sent");
  const draft = new Draft(log);
  const message = draft.message(view.stream);
  const said = takeableAnswer(answer.content, {
    isUsed: (id) => memory.path?.hasCall(id) ?? false,
    newId: (at) => `call_${message}_${at}`,
  });
  const hasCalls = said.some(({ type }) => type === "tool_use");
  for (const block of said) {
    const kind = kindOf(block);
    const pair = hasCalls && kind !== "assistant" ? message : null;
    const bytes = wireBytes(block);
    const named = kind === "tool-call" ? { anchor: String(block["id"]) } : {};
    draft.block({
      kind,
      stream: view.stream,
      speaker: agent.name,
      taint: "model",
      bytes,
      pair,
      message,
      turn: sent.turn,
      ...named,
    });
  }
  if (!hasCalls) draft.remove(activation.id);
  const bytes = Buffer.byteLength(JSON.stringify(answer.content));
  const deltas = [
    ...draft.deltas,
    ...closingDeltas(view, sent, { outcome: "complete", totalMs, bytes, answer }),
  ];
  const { contents } = draft;
  const noted = { stream: view.stream, actor: "model", cause: "response", deltas, contents } as const;
  const appended = await log.appendDurably(noted);
  if (!appended.ok) return appended;
  memory.learn(answer.usage, memory.path);
  return settle(place, run, sent.turn);
}

function kindOf({ type }: WireBlock): BlockKind {
  if (isReasoning(type)) return "reasoning";
  return type === "tool_use" ? "tool-call" : "assistant";
}

/** What time does after a turn. */
function settle({ log }: RunPlace, run: Run, turn: number): Result<void> {
  const moment = log.moment();
  const view = viewIn(moment, run);
  const { deltas } = expire({ moment, view, actor: "policy" }, turnOf(Math.max(0, turn - 1)));
  if (deltas.length === 0) return ok(undefined);
  const appended = log.append({ stream: view.stream, actor: "policy", cause: "policy", deltas });
  return appended.ok ? ok(undefined) : appended;
}
