import {
  blockId,
  type Clock,
  hashContent,
  messageId,
  sessionId,
  streamId,
  turnOf,
  unitId,
  unwrap,
  viewId,
} from "../../src/base/index.ts";
import type {
  BlockKind,
  Delta,
  Exchange,
  ExchangeEnd,
  Frame,
  Taint,
  Unit,
} from "../../src/engine/frames/index.ts";
import { openSession, type SessionLog } from "../../src/log/index.ts";
import type { Body, ExchangeSide, HashedContent, Store } from "../../src/store/index.ts";

/** One request and its answer, as a test describes them: what matters is said, the rest is ordinary. */
export type TurnTexts = {
  readonly user: string;
  readonly answer: string | null;
  readonly exchange?: Partial<Exchange>;
  readonly end?: Partial<ExchangeEnd>;
  readonly kind?: BlockKind;
  readonly taint?: Taint;
};

export type Written = {
  readonly exchange: number;
  readonly request: Buffer;
  readonly response: Buffer | null;
  readonly frames: readonly Frame[];
};

const stream = streamId(1);
const view = viewId(1);
const usage = { input: 10, cacheRead: 1_000, cacheWrite: 100, output: 50 };

/**
 * A session as watching one leaves it: exchanges with their bytes, blocks, units and turns, nothing changed.
 * The bytes are what a client might send, down to spacing that no serialiser would give back.
 */
export class ObservedSession {
  readonly log: SessionLog;
  readonly #store: Store;
  /** Called for each frame as soon as it is part of the session, before it is on disk. */
  onFrame: (frame: Frame) => void = () => undefined;
  #turn = 0;

  constructor(log: SessionLog, store: Store) {
    this.log = log;
    this.#store = store;
    this.#turn = log.state().streams.get(stream)?.turns.size ?? 0;
  }

  static async open(store: Store, name: string, clock: Clock): Promise<ObservedSession> {
    const log = unwrap(await openSession({ store, session: sessionId(name), clock }));
    const watched = new ObservedSession(log, store);
    if (log.state().seq === 0) await watched.#begin();
    return watched;
  }

  get id(): string {
    return this.log.state().session;
  }

  async #begin(): Promise<void> {
    const identity = {
      owner: "local",
      upstream: "anthropic",
      client: "claude-code",
      key: "k",
      project: "shop",
    };
    await this.#append("client", [
      { type: "session-identified", identity },
      { type: "stream-opened", stream, name: "main", parent: null },
      { type: "view-opened", view, stream, agent: "model", parent: null },
      { type: "ids-reserved", stream, of: "block", from: 1, to: 1_001 },
      { type: "ids-reserved", stream, of: "message", from: 1, to: 1_001 },
    ]);
  }

  /** A turn of the conversation. With no answer the exchange stays open. */
  async talk(talk: TurnTexts): Promise<Written> {
    this.#turn += 1;
    const exchange = this.log.state().exchanges.size + 1;
    const request = Buffer.from(
      `{"model": "m",\n "messages":[{"n":1.0, "text":${JSON.stringify(talk.user)}}]}`,
    );
    const asked = await this.#append("client", this.#requestDeltas(talk, exchange, request.length), {
      contents: [contentOf(textBlock(talk.user))],
      bodies: [this.#body(exchange, "client-request", request)],
    });
    if (talk.answer === null) return { exchange, request, response: null, frames: [asked] };
    const response = Buffer.from(`event: message\r\ndata: ${JSON.stringify(talk.answer)}\r\n\r\n`);
    const answered = await this.#append("model", this.#answerDeltas(talk, exchange, response.length), {
      contents: [contentOf(textBlock(talk.answer))],
      bodies: [this.#body(exchange, "upstream-response", response)],
    });
    return { exchange, request, response, frames: [asked, answered] };
  }

  /** A frame that changes next to nothing, for those who count frames. */
  tick(): Promise<Frame> {
    const run = this.log.state().streams.get(stream)?.runs.size ?? 0;
    return this.#append("client", [{ type: "run-started", stream, from: run, to: run + 1 }]);
  }

  append(deltas: readonly Delta[]): Promise<Frame> {
    return this.#append("user", deltas);
  }

  #requestDeltas(talk: TurnTexts, exchange: number, bytes: number): readonly Delta[] {
    const said = this.#say({ text: talk.user, kind: talk.kind ?? "user", taint: talk.taint ?? "user" });
    return [
      ...said,
      {
        type: "exchange-opened",
        exchange: {
          id: exchange,
          request: `ap-1-${exchange}`,
          stream,
          role: "turn",
          relation: exchange === 1 ? "first" : "append",
          of: null,
          model: "claude-opus-5-5",
          target: "POST /v1/messages?beta=true",
          bytes,
          ...talk.exchange,
        },
      },
      {
        type: "turn-sent",
        view,
        turn: turnOf(this.#turn),
        leaf: unitId(this.log.state().units.size),
        exchange,
      },
    ];
  }

  #answerDeltas(talk: TurnTexts, exchange: number, bytes: number): readonly Delta[] {
    const end: ExchangeEnd = {
      exchange,
      outcome: "complete",
      status: 200,
      usage,
      bytes,
      firstByteMs: 12,
      totalMs: 340,
      stop: "end_turn",
      problem: null,
      ...talk.end,
    };
    const outcome = end.outcome === "aborted" ? "interrupted" : end.outcome;
    return [
      ...this.#say({ text: talk.answer ?? "", kind: "assistant", taint: "model" }),
      { type: "exchange-closed", end },
      { type: "turn-answered", view, turn: turnOf(this.#turn), outcome, usage: end.usage },
    ];
  }

  #say(said: { readonly text: string; readonly kind: BlockKind; readonly taint: Taint }): readonly Delta[] {
    const { units, blocks } = this.log.state();
    const id = blockId(Math.max(blocks.size, 1));
    const message = messageId(id);
    const content = hashContent(textBlock(said.text));
    const shows = [{ block: id, as: "original" }] as const;
    const unit: Unit = {
      id: unitId(units.size),
      stream,
      parent: units.size === 0 ? null : unitId(units.size - 1),
      message,
      origin: said.taint === "model" ? "model" : "client",
      anchor: `a${id}`,
      bytes: content,
      shows,
    };
    const block = {
      id,
      kind: said.kind,
      stream,
      message,
      turn: turnOf(this.#turn),
      speaker: said.taint === "model" ? "model" : "someone",
      content,
      anchor: `a${id}`,
      pair: null,
      taint: said.taint,
      supersedes: null,
      ttl: { at: turnOf(this.#turn + 20), spanTurns: 20 },
    };
    return [
      { type: "block-added", block },
      { type: "tokens-counted", block: id, tokens: { count: said.text.length, exact: false } },
      { type: "unit-sent", unit },
    ];
  }

  #body(exchange: number, side: ExchangeSide, bytes: Buffer): Body {
    const recipe = [{ from: "literal", bytes }] as const;
    const session = this.log.state().session;
    return { session, exchange, side, hash: hashContent(bytes), length: bytes.length, recipe };
  }

  async #append(actor: "client" | "model" | "user", deltas: readonly Delta[], attached = {}): Promise<Frame> {
    const cause = { type: actor === "model" ? "response" : "request", step: null, reason: "" } as const;
    const { frame, durable } = unwrap(this.log.append({ stream: null, actor, cause, deltas }, attached));
    this.onFrame(frame);
    unwrap(await durable);
    await this.#store.flush();
    return frame;
  }
}

export const textBlock = (text: string): string => JSON.stringify({ type: "text", text });

function contentOf(text: string): HashedContent {
  return { hash: hashContent(text), bytes: Buffer.from(text) };
}
