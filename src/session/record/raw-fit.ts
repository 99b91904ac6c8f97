import { apertureError, type SessionId } from "../../base/index.ts";
import type { WireAnswer } from "../../protocols/index.ts";
import type { RequestCopy } from "../exchange.ts";
import type { EngineEvent } from "../read/events.ts";

/** From here on a client that goes on without us may find no room for an answer. */
const fullShare = 0.85;
const linesMax = 1_000;

export type Sent = {
  readonly session: SessionId;
  readonly copy: Pick<RequestCopy, "length" | "sent">;
  readonly answer: Pick<WireAnswer, "usage"> | null;
  readonly window: number;
};

/** Tells once for each stream that the client's own history, which goes up shortened, is nearly too long. */
export class RawFit {
  readonly #told = new Set<string>();

  notice({ session, copy: { sent, length }, answer, window }: Sent): EngineEvent | null {
    const usage = answer?.usage ?? null;
    // What goes up unchanged is the client's own affair.
    if (usage === null || sent === null || !sent.isTurn || length <= sent.length) return null;
    const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
    const raw = Math.round((prompt * length) / sent.length);
    if (raw < window * fullShare || this.#told.has(sent.line)) return null;
    this.#told.add(sent.line);
    const [oldest] = this.#told;
    if (this.#told.size > linesMax && oldest !== undefined) this.#told.delete(oldest);
    const { code, message } = apertureError("AP_RAW_FULL", { raw, window });
    return { type: "notice", session, code, message };
  }
}
