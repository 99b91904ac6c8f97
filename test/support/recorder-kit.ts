import { type SessionId, sessionId, unwrap } from "../../src/base/index.ts";
import type { RecordedExchange } from "../../src/engine/frames/index.ts";
import { exchangesOf, now } from "../../src/engine/moment/index.ts";
import type { RelayOutcome, RequestCopy, ResponseCopy, SentRequest } from "../../src/exchange/index.ts";
import type { EngineEvent } from "../../src/log/index.ts";
import { SessionRecorder } from "../../src/recorder/index.ts";
import type { AppendResult, Batch, Store } from "../../src/store/index.ts";

export type WireMessages = readonly { readonly role: string; readonly content: unknown }[];
export type RequestInput = {
  readonly talk: WireMessages;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tools?: readonly string[];
  readonly system?: unknown;
  readonly credential?: string;
  readonly target?: string;
  readonly secrets?: readonly string[];
  /** What went upstream in its place. */
  readonly sent?: SentRequest;
};
export type Answering = {
  readonly content?: readonly object[];
  readonly outcome?: RelayOutcome;
  readonly status?: number | null;
};

export const mark = { cache_control: { type: "ephemeral" } } as const;
export const text = (words: string, over: object = {}) => ({ type: "text", text: words, ...over });
export const user = (content: unknown) => ({ role: "user", content });
export const model = (content: unknown) => ({ role: "assistant", content });
export const call = (id: string) => ({ type: "tool_use", id, name: "read", input: { path: "a" } });
export const result = (id: string, words: string) => ({
  type: "tool_result",
  tool_use_id: id,
  content: words,
});

/** A recorder as the engine's thread has one, fed by hand: what a relay would copy, without a relay. */
export class RecorderKit {
  readonly recorder: SessionRecorder;
  readonly events: EngineEvent[] = [];
  readonly sent = new Map<string, Buffer>();
  readonly store: Store;
  #requests = 0;

  /** Bytes of bodies that were stored as they are, not as parts of contents or of earlier bodies. */
  literalBytes = 0;

  constructor(real: Store, prefix = "s") {
    const store: Store = { ...real, append: (batch) => this.#counted(real, batch) };
    this.store = store;
    let sessions = 0;
    this.recorder = new SessionRecorder({
      store,
      clock: { now: () => 1_700_000_000_000 },
      newSession: () => {
        sessions += 1;
        return sessionId(`${prefix}-${sessions}`);
      },
      onEvent: (event) => this.events.push(event),
      onWishes: () => undefined,
      windowOf: () => 200_000,
    });
  }

  #counted(store: Store, batch: Batch): AppendResult {
    for (const piece of (batch.bodies ?? []).flatMap(({ recipe }) => recipe)) {
      if (piece.from === "literal") this.literalBytes += piece.bytes.length;
    }
    return store.append(batch);
  }

  /** Sends a request and leaves it open. */
  ask(asking: RequestInput): Promise<string> {
    const { talk, tools = ["read"], system = "Be brief." } = asking;
    const list = tools.map((name) => ({ name, input_schema: {} }));
    const body = { model: "claude-opus-4-8", messages: talk, system, tools: list, stream: true };
    return this.send(Buffer.from(JSON.stringify(body)), asking);
  }

  async send(body: Buffer, asking: Omit<RequestInput, "talk">): Promise<string> {
    this.#requests += 1;
    const id = `r${this.#requests}`;
    const { headers = {}, credential = "c1", target = "/v1/messages", secrets = [] } = asking;
    const copy: RequestCopy = {
      id,
      protocol: "anthropic",
      upstream: "anthropic",
      method: "POST",
      target,
      headers,
      caller: { owner: "local", credential, secrets },
      startedMs: 0,
      body: Uint8Array.from(body),
      length: body.length,
      sent: asking.sent ?? null,
    };
    this.sent.set(id, body);
    await this.recorder.recordRequest(copy);
    return id;
  }

  async answer(id: string, answering: Answering = {}): Promise<void> {
    const { content = [text("done")], outcome = "complete", status = 200 } = answering;
    const usage = { input_tokens: 10, output_tokens: 2 };
    const message = { model: "claude-opus-4-8", content, stop_reason: "end_turn", usage };
    const body = Buffer.from(JSON.stringify(status === 200 ? message : { error: { type: "api_error" } }));
    const bytes = outcome === "complete" ? body : body.subarray(0, body.length >> 1);
    const copy: ResponseCopy = {
      id,
      status,
      headers: { "content-type": "application/json" },
      body: Uint8Array.from(bytes),
      length: bytes.length,
      answer: null,
      outcome,
      problem: null,
      blockNumbers: null,
      firstByteMs: 1,
      totalMs: 2,
    };
    await this.recorder.recordResponse(copy);
  }

  /** Asks and is answered. */
  async turn(asking: RequestInput, answering: Answering = {}): Promise<string> {
    const id = await this.ask(asking);
    await this.answer(id, answering);
    return id;
  }

  async exchanges(session: string): Promise<readonly RecordedExchange[]> {
    const log = unwrap(await this.recorder.cache.log(sessionId(session)));
    return exchangesOf(now(log.state()));
  }

  async sessions(): Promise<readonly SessionId[]> {
    return unwrap(await this.store.sessions()).map(({ session }) => session);
  }

  /** What each exchange was taken for, in short. */
  async standings(session: string): Promise<readonly string[]> {
    const exchanges = await this.exchanges(session);
    return exchanges.map(({ role, relation, of }) => `${role} ${relation}${of === null ? "" : ` ${of}`}`);
  }
}
