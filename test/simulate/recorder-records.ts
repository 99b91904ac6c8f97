import { type Random, type SessionId, sessionId, unwrap } from "../../src/base/index.ts";
import type { ChangeContext, Proposal } from "../../src/engine/index.ts";
import type {
  RequestCopy,
  ResponseCopy,
  SentRequestUnit,
  StreamLookup,
  Wishes,
} from "../../src/exchange/index.ts";
import { executeRecordedCalls } from "../../src/execute/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import type { QuestionAnswers } from "../../src/host/questions.ts";
import { SessionRecorder } from "../../src/recorder/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { actDepsOver } from "../support/act-on-log.ts";
import type { ExecuteCalls } from "../support/any-command.ts";
import type { Posted } from "../support/planner-kit.ts";
import type { Aging } from "./aging.ts";
import { type Calling, meaningOf } from "./block-numbers.ts";
import { checkHeld, checkPolicy, checkShown } from "./check-log.ts";
import { failLaw } from "./law-error.ts";
import type { Memory, MemoryMode } from "./stream-records.ts";

type Audited = {
  /** What the log was told of the request, in order. */
  readonly path: readonly SentRequestUnit[];
  /** What of it was sent for the first time. */
  readonly fresh: readonly SentRequestUnit[];
};

type Relayed = Pick<SessionRecorder, "recordRequest" | "recordResend" | "recordResponse"> & {
  readonly command: ExecuteCalls;
};

/** What a real recorder remembers: slower than the simulated memory, and the real thing. */
export class RecorderRecords implements Memory {
  mode: MemoryMode = "knows";
  readonly #store = openMemoryStore();
  #recorder: SessionRecorder;
  #sessions = 0;
  /** Which session each line is in, and the one that was recorded last. */
  readonly #sessionOf = new Map<string, SessionId>();
  #last: SessionId | null = null;
  /** The seq up to which the frames of a session were looked at. */
  readonly #audited = new Map<SessionId, number>();
  /** Tells whoever renders. */
  onWishes: (wishes: Wishes) => void = () => undefined;

  readonly #aging: Aging | null;

  readonly #hasHands: boolean;

  /** Hands: whoever relays tells the recorder what happens while it does. */
  constructor(aging: Aging | null, hasHands = false) {
    this.#aging = aging;
    this.#hasHands = hasHands;
    this.#recorder = this.#newRecorder();
  }

  /** The recorder as a relay has it. */
  relayed(): Relayed {
    return {
      recordRequest: async (copy) => {
        await this.#recorder.recordRequest(copy);
        if (copy.sent !== null && this.#last !== null) this.#sessionOf.set(copy.sent.streamKey, this.#last);
      },
      recordResend: (id, sent) => this.#recorder.recordResend(id, sent),
      recordResponse: (copy) => this.#recorder.recordResponse(copy),
      command: (asked) =>
        executeRecordedCalls(
          { recorder: this.#recorder, store: this.#store, windowOf: () => this.#aging?.window ?? 200_000 },
          asked,
        ),
    };
  }

  async note(
    { asking, attempts, sending, answer, numbered }: Posted,
    received: Buffer | null,
  ): Promise<void> {
    if (this.#hasHands) return;
    const [first, second] = attempts;
    const { id } = asking;
    const copy: RequestCopy = {
      ...asking,
      body: sending.clientBody,
      length: sending.clientBody.length,
      sent: first?.sending.sent ?? null,
    };
    await this.#recorder.recordRequest(copy);
    const line = first?.sending.sent?.streamKey;
    if (line !== undefined && this.#last !== null) this.#sessionOf.set(line, this.#last);
    if (second !== undefined) await this.#recorder.recordResend(id, second.sending.sent);
    const isWhole = received !== null && received.length === Buffer.concat(answer.chunks).length;
    const contentType = answer.headers.find(([name]) => name === "content-type")?.[1] ?? "";
    const end: ResponseCopy = {
      id,
      status: answer.status,
      headers: { "content-type": contentType },
      body: received === null ? null : Uint8Array.from(received),
      length: received?.length ?? 0,
      answer: null,
      outcome: isWhole ? "complete" : "aborted",
      blockNumbers: numbered,
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
    };
    await this.#recorder.recordResponse(end);
  }

  /** The log calls blocks what the planner has called them. */
  async check({ called, named }: Calling): Promise<void> {
    if (this.#last === null || called.length + named.length === 0) return;
    const { blocks } = unwrap(await this.#recorder.cache.log(this.#last)).state();
    const lost = named.find((block) => blocks.get(block) === undefined);
    if (lost !== undefined) failLaw("numbers", `a header names #${lost}, which nobody has`, "");
    const anchors = new Set([...blocks.entries()].map(([, { block }]) => block.anchor));
    for (const { block, message, key, says } of called) {
      // A form of what was said before that only the log has taken for something new has its number there.
      if (!blocks.get(block) && anchors.has(key)) continue;
      const known = blocks.get(block)?.block;
      if (known === undefined) failLaw("numbers", `the log has no #${block}`, says);
      if (known.message !== message)
        failLaw(
          "numbers",
          `#${block} is in message ${known.message}`,
          `and was called in ${message}: ${says}`,
        );
      if (known.anchor === key || says === "") continue;
      await this.#store.flush();
      const content = unwrap(await this.#store.content(known.content));
      const means = content === undefined ? "" : meaningOf(content, known.kind);
      if (means !== says) failLaw("numbers", `the log's #${block} says ${means}`, `and was called ${says}`);
    }
  }

  /** What the log says of a turn, and what was done by itself since the last look. */
  async audit(line: string, stream: string, { path, fresh }: Audited): Promise<void> {
    const session = this.#sessionOf.get(line);
    if (session === undefined) return;
    const state = unwrap(await this.#recorder.cache.log(session)).state();
    checkShown(state, stream, path);
    checkHeld(state, stream, fresh);
    await this.#store.flush();
    const after = this.#audited.get(session) ?? 0;
    const frames = unwrap(await this.#store.frames({ session, after, limit: 1_000 }));
    for (const frame of frames) checkPolicy(state, frame);
    this.#audited.set(session, frames.at(-1)?.seq ?? after);
  }

  /** Something a user does in the session a line is in; false where there is none. */
  async act(line: string, stream: string, propose: (change: ChangeContext) => Proposal): Promise<boolean> {
    const session = this.#sessionOf.get(line);
    if (session === undefined) return false;
    const done = await this.#recorder.act(session, stream, propose);
    return done.ok && done.value.deltas.length > 0;
  }

  /** A command of the user that the next request applies; false if it changed nothing. */
  async commandNow(line: string, name: string, command: Readonly<Record<string, string>>): Promise<boolean> {
    const session = this.#sessionOf.get(line);
    if (session === undefined) return false;
    const { streams } = unwrap(await this.#recorder.cache.log(session)).state();
    const stream = [...streams.entries()].find(([, one]) => one.name === name)?.[0];
    if (stream === undefined) return false;
    const deps = actDepsOver(this.#recorder, this.#store, this.#aging?.window);
    const act = { type: "act", session, stream, command, dryRun: false, when: "now" } as const;
    const done = await answerQuestion(deps, act);
    return done.ok && done.value.blocks.length > 0;
  }

  /** Takes back a step of policy, as a user may; false where there is none that can be. */
  async undo(line: string, random: Random): Promise<boolean> {
    const session = this.#sessionOf.get(line);
    if (session === undefined) return false;
    const state = unwrap(await this.#recorder.cache.log(session)).state();
    const steps = [...state.steps.entries()].map(([, step]) => step);
    const done = steps.filter(({ actor, log }) => actor === "policy" && log.value.done);
    if (done.length === 0) return false;
    const { id } = random.pick(done);
    const undone = await this.#recorder.reverseStep(session, "undo", id);
    return undone.ok;
  }

  /** Another process with the same database. */
  async restart(): Promise<void> {
    await this.#recorder.idle();
    await this.#store.flush();
    this.#recorder = this.#newRecorder();
  }

  async remember(question: StreamLookup): Promise<QuestionAnswers["ledger"]> {
    if (this.mode !== "knows") throw new Error("the store is gone");
    const found = await this.#recorder.streamRecord(question);
    if (!found.ok) throw new Error(found.error.code);
    return found.value;
  }

  #newRecorder(): SessionRecorder {
    return new SessionRecorder({
      store: this.#store,
      clock: { now: () => 1_700_000_000_000 },
      newSession: () => {
        this.#sessions += 1;
        return sessionId(`s-${this.#sessions}`);
      },
      onEvent: (event) => {
        if (event.type === "request") this.#last = sessionId(event.session);
      },
      onWishes: (wishes) => this.onWishes(wishes),
      windowOf: () => this.#aging?.window ?? 200_000,
      policy: this.#aging?.policy ?? "auto",
    });
  }
}
