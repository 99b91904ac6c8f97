import { apertureError, cutText, limits, type SessionId } from "../base/index.ts";
import type { RequestCopy } from "../exchange/index.ts";
import type { EngineEvent } from "../log/index.ts";
import type { WireAnswer } from "../protocols/index.ts";
import type { RefusedSummary } from "./renditions.ts";

/** Above this share of the window, a client that continues without us may have no room for an answer. */
const fullShare = 0.85;
const streamsMax = 1_000;

export type RawHistoryInput = {
  readonly session: SessionId;
  readonly copy: Pick<RequestCopy, "length" | "sent">;
  readonly answer: Pick<WireAnswer, "usage"> | null;
  readonly window: number;
};

/** Warns once per stream if the client's own history, which we send shortened, nearly fills the window. */
export class RawHistoryWatch {
  readonly #reportedStreams = new Set<string>();

  notice({ session, copy: { sent, length }, answer, window }: RawHistoryInput): EngineEvent | null {
    const usage = answer?.usage ?? null;
    // A history that is sent unchanged is the client's own business.
    if (usage === null || sent === null || !sent.isTurn || length <= sent.length) return null;
    const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
    const raw = Math.round((prompt * length) / sent.length);
    if (raw < window * fullShare || this.#reportedStreams.has(sent.streamKey)) return null;
    this.#reportedStreams.add(sent.streamKey);
    const [oldest] = this.#reportedStreams;
    if (this.#reportedStreams.size > streamsMax && oldest !== undefined) this.#reportedStreams.delete(oldest);
    const { code, message } = apertureError("AP_RAW_FULL", { raw, window });
    return { type: "notice", session, code, message };
  }
}

/** The notice for a summary that was refused because it would have lost facts. */
export function refusedSummaryNotice(session: SessionId, { block, reasons }: RefusedSummary): EngineEvent {
  const { code, message } = apertureError("AP_SUMMARY_REFUSED", { block, reasons: shortReasons(reasons) });
  return { type: "notice", session, code, message };
}

/** Joins the reasons into one sentence that follows a colon. */
function shortReasons(reasons: readonly string[]): string {
  return cutText(reasons.map((reason) => reason.replace(/\.$/, "")).join("; "), limits.reasonCharsMax);
}
