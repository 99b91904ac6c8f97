import { must } from "../../base/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import { isAgentClient } from "../record/identify.ts";
import { sampledTokens } from "../unit-tokens.ts";

export type Candidate = {
  readonly request: WireRequest;
  readonly client: string;
  /** Whether the user asked for it, by naming the session. */
  readonly isAsked: boolean;
  /** A subscription's login, whose owner has not agreed yet. */
  readonly needsConsent: boolean;
  /** Whether what is sent can be written down. */
  readonly isRecording: boolean;
  /** Whether nothing of it is cached any more. */
  readonly isCold: boolean;
};

/**
 * How large a stream is to be, in tokens. First: the request it begins with, or all of a stream of a client
 * whose talks last. Cold: later, when nothing of it is cached and what is shown can be made shorter at once.
 * Spoken: when the user has just spoken, and that may pay on a warm cache. Later: at any time, for room will
 * be needed. Smaller ones rarely last long enough to pay for what they are told, and who wants it all the
 * same asks for it.
 */
export const admittedTokens = { first: 16_000, cold: 20_000, spoken: 64_000, later: 96_000 } as const;

/** Clients whose talks last: on recorded sessions these earn back what they are told, whenever it begins. */
const lastingClients: readonly string[] = ["claude-code", "codex"];

/** The size from which on a stream of a client is managed, whatever else is true of it. */
export function tokensManaged(client: string): number {
  return lastingClients.includes(client) ? admittedTokens.first : admittedTokens.later;
}

/** Whether a stream that was only watched so far is to be managed from this request on. */
export function isAdmitted(candidate: Candidate): boolean {
  const { request, client, isAsked, needsConsent, isRecording, isCold } = candidate;
  if (needsConsent || !isRecording || isBeside(client, request)) return false;
  if (isAsked) return true;
  if (request.tools.units.length === 0) return false;
  const { first, cold, spoken } = admittedTokens;
  const tokens = sampledTokens(request.bytes, request.model);
  if (tokens >= tokensManaged(client)) return true;
  const hasHistory = request.messages.some(({ role }) => role === "assistant");
  if (!hasHistory) return saidTokens(request) >= first;
  return tokens >= (isCold ? cold : hasSpoken(request) ? spoken : Number.POSITIVE_INFINITY);
}

/**
 * Of the messages alone. What a client says in front of them is the same in a talk of one request and in one
 * of a hundred, and it can never be made shorter: however large, it tells nothing of what is to come.
 */
function saidTokens({ bytes, messages, model }: WireRequest): number {
  const [first, last] = [messages[0], messages.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return sampledTokens(bytes.subarray(first.range.start, last.range.end), model);
}

/** Whether the user has just spoken: nothing is under way. */
function hasSpoken({ messages }: WireRequest): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && !last.units.some(({ type }) => type === "tool_result");
}

/** Agents ask for titles and classifications under the name of the talk, without the tools the talk has. */
export function isBeside(client: string, { tools }: WireRequest): boolean {
  return isAgentClient(client) && tools.units.length === 0;
}

/** Claude Code asks for a summary with its only marks on what the model said. */
export function asksForSummary(client: string, { messages }: WireRequest): boolean {
  if (client !== "claude-code" || messages.at(-1)?.role !== "user") return false;
  const marked = messages.filter(({ isMarked }) => isMarked);
  return marked.length > 0 && marked.every(({ role }) => role === "assistant");
}

const cacheMs = { short: 5 * 60_000, long: 60 * 60_000 };

/** How long what a request marks stays cached. */
export function lifetimeMs({ tools, system, messages, marked }: WireRequest): number {
  const groups = [tools, system, ...marked.map((at) => must(messages[at], "a marked message is there"))];
  const isLong = groups.some(({ units }) => units.some(({ mark }) => mark?.includes('"1h"')));
  return isLong ? cacheMs.long : cacheMs.short;
}
