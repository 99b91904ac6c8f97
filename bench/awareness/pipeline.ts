import { must, sessionId } from "../../src/base/index.ts";
import {
  type Asking,
  type Sending,
  SessionDesk,
  SessionRecorder,
  usualAwareness,
} from "../../src/session/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import type { RecordedTurn, WireMessage } from "../../test/support/recordings.ts";
import type { Shown } from "./texts.ts";

const nonce = "k7f3";
const model = "claude-opus-5-5";
const window = 200_000;
const hourMs = 3_600_000;

/** What is added to every request of a stream, by the real desk and the real log. */
export async function pipelineTexts(
  turns: readonly RecordedTurn[],
  carriers: "both" | "volatile" = "both",
): Promise<readonly Shown[]> {
  const volatile = await played(turns, "anthropic");
  const permanent = carriers === "both" ? await played(turns, "elsewhere") : [];
  return volatile.map((shown, at) => ({ ...shown, note: permanent[at]?.tail ?? "" }));
}

type Told = Omit<Shown, "note"> & { readonly tail: string };

/** Where no message may clear itself, what is said stays. */
async function played(turns: readonly RecordedTurn[], upstream: string): Promise<readonly Told[]> {
  const player = new Player(upstream);
  const told: Told[] = [];
  let messages: readonly WireMessage[] = [];
  for (const turn of turns) {
    messages = [...messages.slice(0, turn.k ?? messages.length), ...turn.c];
    told.push(await player.turn(messages, turn));
    messages = [...messages, { role: "assistant", content: turn.a }];
  }
  return told;
}

class Player {
  readonly #upstream: string;
  readonly #desk: SessionDesk;
  readonly #recorder: SessionRecorder;
  #timeMs = Date.parse("2026-11-15T10:00:00Z");
  #requests = 0;

  constructor(upstream: string) {
    this.#upstream = upstream;
    const clock = { now: () => this.#timeMs };
    this.#recorder = new SessionRecorder({
      store: openMemoryStore(),
      clock,
      newSession: () => sessionId("awareness"),
      tell: () => undefined,
      brief: (briefing) => this.#desk.brief(briefing),
      windowOf: () => window,
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
      awareness: () => usualAwareness,
      windowOf: () => window,
      deadlineMs: 60_000,
    });
  }

  async turn(messages: readonly WireMessage[], { a, m }: RecordedTurn): Promise<Told> {
    this.#requests += 1;
    this.#timeMs = timeOf(m, this.#timeMs);
    const body = Buffer.from(JSON.stringify({ model, max_tokens: 32_000, tools: [tool], messages }));
    const asking = this.#asking(body.length);
    const sending = await this.#desk.take(asking, [body]);
    const told = toldIn(sending);
    const answer = Buffer.from(JSON.stringify({ model, content: a, stop_reason: "end_turn" }));
    await this.#record(asking, sending, answer);
    return told;
  }

  async #record(asking: Asking, sending: Sending, answer: Buffer): Promise<void> {
    const { clientBody, sent } = sending;
    const copy = { ...asking, body: Uint8Array.from(clientBody), length: clientBody.length, sent };
    const recorded = this.#recorder.requested(copy);
    const ended = { status: 200, contentType: "application/json", contentEncoding: "" };
    const heard = { ...ended, body: [answer], isComplete: true, hasLeft: true };
    const numbered = this.#desk.answered(sending, heard);
    await recorded;
    await this.#recorder.answered({
      id: asking.id,
      status: 200,
      headers: { "content-type": "application/json" },
      body: answer,
      length: answer.length,
      outcome: "complete",
      numbered,
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
    });
  }

  #asking(length: number): Asking {
    return {
      id: `request-${this.#requests}`,
      protocol: "anthropic",
      upstream: this.#upstream,
      method: "POST",
      target: "/v1/messages",
      headers: { "x-aperture-session": "awareness" },
      caller: { owner: "local", credential: "key", secrets: [] },
      startedMs: this.#timeMs,
      length,
      isLogin: false,
    };
  }
}

const tool = { name: "look", input_schema: { type: "object", properties: {} } };

/** A pause of the person who was recorded; a clock that was set back is none. */
function timeOf(m: RecordedTurn["m"], before: number): number {
  const { t } = (m ?? {}) as { readonly t?: unknown };
  const time = typeof t === "string" ? Date.parse(t) : Number.NaN;
  return Number.isNaN(time) || time < before - 100 * hourMs ? before + 1_000 : Math.max(before, time);
}

const header = /"\[k7f3 turn \d+, [^"]*\]"/g;

/** Our texts in what is sent: those that are new with it, and the headers that stand in it. */
function toldIn({ pieces, sent }: Sending): Told {
  const own = (sent?.fresh ?? []).filter(({ origin }) => origin === "aperture");
  const texts = own.map(({ bytes }) => textOf(bytes));
  const isHeader = (text: string): boolean => /^\[k7f3 turn \d+, /.test(text);
  const standing = [...Buffer.concat(pieces).toString("utf8").matchAll(header)].map(
    ([text]) => JSON.parse(text) as string,
  );
  const rest = texts.filter((text) => !isHeader(text) && !text.startsWith("# "));
  const tail = rest.at(-1) ?? "";
  const manifest = tail.startsWith("[CONTEXT MANIFEST") ? tail : "";
  return { written: texts.filter(isHeader), standing, manifest, tail };
}

function textOf(bytes: Uint8Array): string {
  const { text } = JSON.parse(Buffer.from(bytes).toString("utf8")) as { readonly text?: string };
  return must(text, "what is ours is text");
}
