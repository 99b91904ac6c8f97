import { apertureError, cutText, limits, type SessionId } from "../../base/index.ts";
import type { EngineEvent } from "../read/events.ts";
import type { RefusedSummary } from "./renditions.ts";

/** What the user is told of a summary that would have lost something. */
export function refusedNotice(session: SessionId, { block, reasons }: RefusedSummary): EngineEvent {
  const { code, message } = apertureError("AP_SUMMARY_REFUSED", { block, reasons: shortReasons(reasons) });
  return { type: "notice", session, code, message };
}

/** As one sentence that goes on after a colon. */
function shortReasons(reasons: readonly string[]): string {
  return cutText(reasons.map((reason) => reason.replace(/\.$/, "")).join("; "), limits.reasonCharsMax);
}
