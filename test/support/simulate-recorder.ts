import { sessionId } from "../../src/base/index.ts";
import {
  type Answers,
  type Briefing,
  estimatedPrice,
  type LedgerQuestion,
  type RequestCopy,
  type ResponseCopy,
  SessionRecorder,
} from "../../src/session/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import type { Posted } from "./desk-kit.ts";
import type { Memory, MemoryMode } from "./simulate-memory.ts";

/** What a real recorder remembers: slower than the simulated memory, and the real thing. */
export class RecordedMemory implements Memory {
  mode: MemoryMode = "knows";
  readonly #store = openMemoryStore();
  #recorder: SessionRecorder;
  #sessions = 0;
  /** Tells whoever renders. */
  briefed: (briefing: Briefing) => void = () => undefined;

  constructor() {
    this.#recorder = this.#newRecorder();
  }

  async note({ asking, attempts, sending, answer, body, numbered }: Posted): Promise<void> {
    const [first, second] = attempts;
    const { id } = asking;
    const copy: RequestCopy = {
      ...asking,
      body: sending.clientBody,
      length: sending.clientBody.length,
      sent: first?.sending.sent ?? null,
    };
    await this.#recorder.requested(copy);
    if (second !== undefined) await this.#recorder.resent(id, second.sending.sent);
    const contentType = answer.headers.find(([name]) => name === "content-type")?.[1] ?? "";
    const end: ResponseCopy = {
      id,
      status: answer.status,
      headers: { "content-type": contentType },
      body: Uint8Array.from(body),
      length: body.length,
      outcome: "complete",
      numbered,
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
    };
    await this.#recorder.answered(end);
  }

  /** Another process with the same database. */
  async restart(): Promise<void> {
    await this.#recorder.idle();
    await this.#store.flush();
    this.#recorder = this.#newRecorder();
  }

  async remember(question: LedgerQuestion): Promise<Answers["ledger"]> {
    if (this.mode !== "knows") throw new Error("the store is gone");
    const found = await this.#recorder.ledger(question);
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
      tell: () => undefined,
      brief: (briefing) => this.briefed(briefing),
      windowOf: () => 200_000,
      price: estimatedPrice,
    });
  }
}
