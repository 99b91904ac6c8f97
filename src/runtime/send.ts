import { fail, hashContent, must, ok, type Result, turnOf, unitId } from "../base/index.ts";
import {
  type Delta,
  type Exchange,
  epochNow,
  type Moment,
  runNow,
  streamOf,
  turnNow,
  type View,
} from "../engine/index.ts";
import { recordAnswer } from "./answer.ts";
import { askProvider } from "./ask.ts";
import { recordClosed } from "./closing.ts";
import { Path } from "./path.ts";
import type { ModelRequest } from "./provider.ts";
import { contextHash, requestOf } from "./rendered-context.ts";
import { type Rendered, renderRun } from "./rendering.ts";
import type { Run, RunPlace } from "./run-place.ts";
import type { RenderedUnit } from "./unit.ts";

/**
 * One turn: what there is to read is rendered, written down as sent, asked, and what comes back is written
 * down.
 */
export async function sendTurn(place: RunPlace, run: Run, rounds: number): Promise<Result<void>> {
  const sent = await renderAndRecord(place, run, rounds);
  if (!sent.ok) return sent;
  const started = place.clock.now();
  const answer = await askProvider(place, run, sent.value.request);
  const timing = { totalMs: Math.max(0, place.clock.now() - started), bytes: 0 };
  if (!answer.ok) {
    const closed = recordClosed(place, run, {
      outcome: run.signal.aborted ? "interrupted" : "failed",
      ...timing,
    });
    return closed.ok ? answer : closed;
  }
  return await recordAnswer(place, run, { answer: answer.value, totalMs: timing.totalMs });
}

type Sending = Rendered & { readonly rounds: number };
type Sent = { readonly request: ModelRequest };

/**
 * What was appended while it was rendered is not in it, and must not pass for something that was sent. What
 * was read for it is kept for the next attempt, which then waits for nothing: however busy others are, they
 * do not come between.
 */
async function renderAndRecord(place: RunPlace, run: Run, rounds: number): Promise<Result<Sent>> {
  const release = place.log.contents.hold();
  try {
    for (;;) {
      const rendered = await renderRun(place, run);
      if (!rendered.ok) return rendered;
      if (run.signal.aborted) return fail("AP_SPACE_CLOSED");
      if (place.log.state() !== rendered.value.moment.state) continue;
      return recordSent(place, run, { ...rendered.value, rounds });
    }
  } finally {
    release();
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
  return ok({ request });
}

function sentUnit({ bytes, shows, origin, anchor, message }: RenderedUnit, { stream }: View) {
  return { stream, message, origin, anchor, bytes: hashContent(bytes), shows };
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
