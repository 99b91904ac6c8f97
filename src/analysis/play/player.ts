import { sessionId } from "../../base/index.ts";
import type { ModelPrices } from "../../render/index.ts";
import {
  type Asking,
  type Sending,
  SessionDesk,
  SessionRecorder,
  usualAwareness,
} from "../../session/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { type RecordedTurn, timeOf } from "../../transcripts/index.ts";

/** The mark of every line of ours in what is played. */
export const nonce = "k7f3";

/** Where a recording has no times. */
const usualGapMs = 1_000;

export type PlayerOptions = {
  /** `anthropic` takes messages that clear themselves; any other name does not. */
  readonly upstream: string;
  /** A user who names the session asks for it to be managed; else the product admits it or does not. */
  readonly headers: Readonly<Record<string, string>>;
  readonly windowOf: (model: string | null) => number;
  readonly pricesOf: (model: string | null) => ModelPrices;
  /** Off: everything is shown as it came. Auto: as the product does it when nobody says otherwise. */
  readonly policy: "auto" | "off";
  /** What is left out of a result when it comes, where there is policy; left out, what loses nothing. */
  readonly arrival?: "lossless" | "trimmed";
};

/** One stream of a client, played through the real desk and the real log. */
export class Player {
  readonly #options: PlayerOptions;
  readonly #desk: SessionDesk;
  readonly #recorder: SessionRecorder;
  readonly #askings = new Map<Sending, Asking>();
  #timeMs = Date.parse("2026-11-15T10:00:00Z");
  #recordedMs: number | null = null;
  #requests = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
    const { windowOf, pricesOf, policy, arrival = "lossless" } = options;
    const clock = { now: () => this.#timeMs };
    this.#recorder = new SessionRecorder({
      store: openMemoryStore(),
      clock,
      newSession: () => sessionId("played"),
      tell: () => undefined,
      brief: (briefing) => this.#desk.brief(briefing),
      windowOf,
      policy,
    });
    this.#desk = new SessionDesk({
      clock,
      mode: () => "auto",
      nonceOf: () => nonce,
      newName: () => "talk",
      remember: async (question) => {
        const found = await this.#recorder.ledger(question);
        return found.ok ? found.value : null;
      },
      isRecording: () => true,
      recordOf: () => 0,
      isBehind: () => false,
      managesLogins: false,
      hasManaged: () => true,
      noteManaged: () => undefined,
      command: async (asked) => {
        const told = await this.#recorder.command(asked);
        return told.ok ? told.value : [];
      },
      awareness: () => usualAwareness,
      windowOf,
      pricesOf,
      handling: () => ({ arrival: policy === "off" ? "off" : arrival }),
      deadlineMs: 60_000,
    });
  }

  /** When the last request was taken. */
  get timeMs(): number {
    return this.#timeMs;
  }

  /** What goes upstream for a body, at the time it was recorded. */
  async take(body: Buffer, turn: RecordedTurn): Promise<Sending> {
    this.#requests += 1;
    this.#pass(timeOf(turn));
    const asking = this.#asking(body.length);
    const sending = await this.#desk.take(asking, [body]);
    this.#askings.set(sending, asking);
    return sending;
  }

  /** An answer that calls our tools alone: what is sent once they are done, and to be answered too. */
  async round(sending: Sending, answer: Readonly<Record<string, unknown>>): Promise<Sending> {
    const asking = this.#askings.get(sending);
    await this.answer(sending, answer, { goesOn: true });
    const next = await this.#desk.goOn(sending);
    if (next === null || asking === undefined) throw new Error("an answer that calls our tools goes on");
    await this.#recorder.resent(asking.id, next.sent);
    this.#askings.set(next, asking);
    return next;
  }

  /** The answer to what was taken. To be called before the next is taken. */
  async answer(
    sending: Sending,
    answer: Readonly<Record<string, unknown>>,
    how: { readonly goesOn?: true } = {},
  ): Promise<void> {
    const asking = this.#askings.get(sending);
    if (asking === undefined) throw new Error("an answer belongs to what was taken, once");
    this.#askings.delete(sending);
    const body = Buffer.from(JSON.stringify(answer));
    const { clientBody, sent } = sending;
    const copy = { ...asking, body: Uint8Array.from(clientBody), length: clientBody.length, sent };
    const recorded = sent?.isRound ? Promise.resolve() : this.#recorder.requested(copy);
    const ended = { status: 200, contentType: "application/json", contentEncoding: "" };
    const heard = { ...ended, body: [body], isComplete: true, hasLeft: true };
    const numbered = this.#desk.answered(sending, heard);
    await recorded;
    await this.#recorder.answered({
      id: asking.id,
      status: 200,
      headers: { "content-type": "application/json" },
      body,
      length: body.length,
      outcome: "complete",
      numbered,
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
      ...how,
    });
  }

  /** As long as the person who was recorded paused; a clock that was set back is no pause. */
  #pass(recorded: number | null): void {
    const gap = recorded === null || this.#recordedMs === null ? usualGapMs : recorded - this.#recordedMs;
    this.#timeMs += Math.max(0, gap);
    this.#recordedMs = recorded ?? this.#recordedMs;
  }

  #asking(length: number): Asking {
    const { upstream, headers } = this.#options;
    return {
      id: `request-${this.#requests}`,
      protocol: "anthropic",
      upstream,
      method: "POST",
      target: "/v1/messages",
      headers,
      caller: { owner: "local", credential: "key", secrets: [] },
      startedMs: this.#timeMs,
      length,
      isLogin: false,
    };
  }
}
