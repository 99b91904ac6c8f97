import { sessionId } from "../../base/index.ts";
import type { PlannedRequest, RequestMeta } from "../../exchange/index.ts";
import { executeRecordedCalls } from "../../execute/index.ts";
import { defaultAwareness, SessionPlanner } from "../../host/index.ts";
import type { ModelPrices } from "../../policy/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { SessionRecorder } from "../../recorder/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import {
  answerBody,
  type RecordedAnswer,
  type RecordedTurn,
  recordingRoute,
  turnTime,
} from "../../transcripts/index.ts";

/** The nonce of all notes in played sessions. */
export const playedNonce = "k7f3";

/** The pause between requests if a recording has no times. */
const defaultGapMs = 1_000;

export type RequestPlayerOptions = {
  /** `anthropic` accepts self-clearing messages; other upstreams do not. */
  readonly upstream: string;
  /** A session name in the headers asks for a managed session; otherwise the planner decides. */
  readonly headers: Readonly<Record<string, string>>;
  readonly windowOf: (model: string | null) => number;
  readonly pricesOf: (model: string | null) => ModelPrices;
  /** `off`: everything is shown as it came. `auto`: the default policy. */
  readonly policy: "auto" | "off";
  /** How results are shortened on arrival, if there is a policy. Absent: `lossless`. */
  readonly arrival?: "lossless" | "trimmed";
};

/** Plays one stream of a client through the real planner and the real log. */
export class RequestPlayer {
  readonly #options: RequestPlayerOptions;
  readonly #planner: SessionPlanner;
  readonly #recorder: SessionRecorder;
  readonly #metas = new Map<PlannedRequest, RequestMeta>();
  #timeMs = Date.parse("2026-11-15T10:00:00Z");
  #recordedMs: number | null = null;
  #requests = 0;

  constructor(options: RequestPlayerOptions) {
    this.#options = options;
    const { windowOf, pricesOf, policy, arrival = "lossless" } = options;
    const clock = { now: () => this.#timeMs };
    const store = openMemoryStore();
    this.#recorder = new SessionRecorder({
      store,
      clock,
      newSession: () => sessionId("played"),
      onEvent: () => undefined,
      onWishes: (wishes) => this.#planner.updateWishes(wishes),
      windowOf,
      policy,
    });
    this.#planner = new SessionPlanner({
      clock,
      mode: () => "auto",
      nonceOf: () => playedNonce,
      newSessionName: () => "talk",
      lookUpStream: async (lookup) => {
        const record = await this.#recorder.streamRecord(lookup);
        return record.ok ? record.value : null;
      },
      isRecording: () => true,
      recordVersionOf: () => 0,
      isBehind: () => false,
      managesLogins: () => false,
      hasManaged: () => true,
      noteManaged: () => undefined,
      runCommands: async (batch) => {
        const replies = await executeRecordedCalls({ recorder: this.#recorder, store, windowOf }, batch);
        return replies.ok ? replies.value : [];
      },
      awareness: () => defaultAwareness,
      windowOf,
      pricesOf,
      arrivalPolicy: () => ({ arrival: policy === "off" ? "off" : arrival }),
      deadlineMs: 60_000,
    });
  }

  /** The time of the last request. */
  get timeMs(): number {
    return this.#timeMs;
  }

  /** Plans a body at the time it was recorded. */
  async plan(body: Buffer, turn: RecordedTurn): Promise<PlannedRequest> {
    this.#requests += 1;
    this.#advanceClock(turnTime(turn));
    const meta = this.#newMeta(body.length);
    const planned = await this.#planner.plan(meta, [body]);
    this.#metas.set(planned, meta);
    return planned;
  }

  /**
   * Answers with calls of our tools only, and plans the request with their results, which needs an answer
   * too.
   */
  async planRound(planned: PlannedRequest, answer: RecordedAnswer): Promise<PlannedRequest> {
    const meta = this.#metas.get(planned);
    await this.answer(planned, answer, { goesOn: true });
    const next = await this.#planner.planRound(planned);
    if (next === null || meta === undefined) throw new Error("an answer that calls our tools goes on");
    await this.#recorder.recordResend(meta.id, next.sent);
    this.#metas.set(next, meta);
    return next;
  }

  /** Answers a planned request. Must be called before the next request is planned. */
  async answer(
    planned: PlannedRequest,
    answer: RecordedAnswer,
    how: { readonly goesOn?: true } = {},
  ): Promise<void> {
    const meta = this.#metas.get(planned);
    if (meta === undefined) throw new Error("an answer belongs to what was taken, once");
    this.#metas.delete(planned);
    const body = answerBody(answer);
    const { clientBody, sent } = planned;
    const copy = { ...meta, body: Uint8Array.from(clientBody), length: clientBody.length, sent };
    const recorded = sent?.isRound ? Promise.resolve() : this.#recorder.recordRequest(copy);
    const read = protocolOf({ protocol: "anthropic" }).answer.read(body, "application/json");
    const summary = { status: 200, answer: read, isComplete: true, isRequestFlushed: true };
    const blockNumbers = this.#planner.finish(planned, summary);
    await recorded;
    await this.#recorder.recordResponse({
      id: meta.id,
      status: 200,
      headers: { "content-type": "application/json" },
      body,
      length: body.length,
      answer: read,
      outcome: "complete",
      blockNumbers,
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
      ...how,
    });
  }

  /** Advances the clock by the recorded pause; a clock that was set back counts as no pause. */
  #advanceClock(recorded: number | null): void {
    const gap = recorded === null || this.#recordedMs === null ? defaultGapMs : recorded - this.#recordedMs;
    this.#timeMs += Math.max(0, gap);
    this.#recordedMs = recorded ?? this.#recordedMs;
  }

  #newMeta(length: number): RequestMeta {
    const { upstream, headers } = this.#options;
    return {
      id: `request-${this.#requests}`,
      ...recordingRoute,
      upstream,
      headers,
      caller: { owner: "local", credential: "key", secrets: [] },
      startedMs: this.#timeMs,
      length,
      isLogin: false,
    };
  }
}
