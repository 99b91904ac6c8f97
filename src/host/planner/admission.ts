import type { Purpose } from "../../exchange/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import { sampledTokens } from "../../tokens/index.ts";

export type AdmissionCandidate = {
  readonly request: WireRequest;
  readonly client: string;
  readonly purpose: Purpose;
  /** The user named the session, which asks for it to be managed. */
  readonly isSessionNamed: boolean;
  /** The store can record what is sent. */
  readonly isRecording: boolean;
  /** The provider's cache of the stream has expired. */
  readonly isCold: boolean;
};

/**
 * Tokens from which on a stream is managed. `first`: its first request, or any request of a client whose
 * conversations are long. `cold`: a later request whose cache has expired, because blocks can be shortened at
 * once. `spoken`: the user has just spoken, and managing may pay off even on a warm cache. `later`: any other
 * request, because the window will fill up. Smaller streams rarely last long enough to pay for our notes; a
 * user who wants one managed names its session.
 */
const admissionTokens = { first: 16_000, cold: 20_000, spoken: 64_000, later: 96_000 } as const;

/** Clients with long conversations: in recorded sessions these earned back our notes from any point on. */
const longRunningClients: readonly string[] = ["claude-code", "codex"];

/** The size from which on a stream of this client is managed on any request. */
export function managedFromTokens(client: string): number {
  return longRunningClients.includes(client) ? admissionTokens.first : admissionTokens.later;
}

/** Decides whether a stream that was only observed so far is managed from this request on. */
export function isAdmitted(candidate: AdmissionCandidate): boolean {
  const { request, client, purpose, isSessionNamed, isRecording, isCold } = candidate;
  if (!isRecording || purpose !== "turn") return false;
  if (isSessionNamed) return true;
  if (request.tools.units.length === 0) return false;
  const { first, cold, spoken } = admissionTokens;
  const tokens = sampledTokens(request.bytes, request.model);
  if (tokens >= managedFromTokens(client)) return true;
  const hasHistory = request.messages.some(({ role }) => role === "assistant");
  if (!hasHistory) return messageTokens(request) >= first;
  return tokens >= (isCold ? cold : isUserTurn(request) ? spoken : Number.POSITIVE_INFINITY);
}

/**
 * Counts the messages alone. Tools and system texts are the same for one request and for a hundred, and they
 * are never shortened: their size says nothing about how long the conversation will be.
 */
function messageTokens({ bytes, messages, model }: WireRequest): number {
  const [first, last] = [messages[0], messages.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return sampledTokens(bytes.subarray(first.range.start, last.range.end), model);
}

/** The user has just spoken, so no tool loop is under way. */
function isUserTurn({ messages }: WireRequest): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && !last.units.some(({ part }) => part === "result");
}
