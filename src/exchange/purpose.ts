import type { RequestKind, WireRequest } from "../protocols/index.ts";
import { isAgentClient, type RequestIdentity } from "./identify.ts";

/**
 * The purpose of a request. A turn continues its conversation. A count asks for its tokens. A compaction
 * repeats the conversation and asks for a summary. A side question is asked beside it, such as one for a
 * title. A probe only tests the connection. It is decided once, by the thread that reads the request.
 */
export type Purpose = "turn" | "count" | "compaction" | "side" | "probe";

export type PurposeInput = {
  readonly kind: RequestKind;
  readonly identity: Pick<RequestIdentity, "client">;
  readonly request: WireRequest;
};

export function purposeOf({ kind, identity: { client }, request }: PurposeInput): Purpose {
  if (kind === "count") return "count";
  if (isSummaryRequest(client, request)) return "compaction";
  if (!isAgentClient(client) || request.tools.units.length > 0) return "turn";
  // Agents ask for titles and classifications under the id of the session, without its tools.
  return request.answerTokensMax === 1 ? "probe" : "side";
}

/** Claude Code sets its cache marks on the model's messages only when it asks for a summary. */
function isSummaryRequest(client: string, { messages, markedMessages }: WireRequest): boolean {
  if (client !== "claude-code" || messages.at(-1)?.role !== "user") return false;
  return markedMessages.length > 0 && markedMessages.every((at) => messages[at]?.role === "assistant");
}
