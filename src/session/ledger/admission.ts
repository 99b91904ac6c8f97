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
 * How large a stream is to be, in tokens: from the start; later, when nothing of it is cached and what it is
 * shown can be made shorter at once; and later at any time. Smaller ones rarely last long enough to pay for
 * what they are told, and who wants it all the same asks for it.
 */
export const admittedTokens = { first: 16_000, cold: 20_000, later: 64_000 } as const;

/** Clients whose talks last: on recorded sessions these earn back what they are told, whenever it begins. */
const lastingClients: readonly string[] = ["claude-code", "codex"];

/** Whether a stream that was only watched so far is to be managed from this request on. */
export function isAdmitted(candidate: Candidate): boolean {
  const { request, client, isAsked, needsConsent, isRecording, isCold } = candidate;
  if (needsConsent || !isRecording || isBeside(client, request)) return false;
  if (isAsked) return true;
  if (request.tools.units.length === 0) return false;
  const hasHistory = request.messages.some(({ role }) => role === "assistant");
  const { first, cold, later } = admittedTokens;
  const isEarly = !hasHistory || lastingClients.includes(client);
  return sampledTokens(request.bytes, request.model) >= (isEarly ? first : isCold ? cold : later);
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
export function lifetimeMs({ tools, system, messages }: WireRequest): number {
  const isLong = [tools, system, ...messages].some(({ units }) =>
    units.some(({ mark }) => mark?.includes('"1h"')),
  );
  return isLong ? cacheMs.long : cacheMs.short;
}
