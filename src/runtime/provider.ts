import type { ApertureError, Json, Result } from "../base/index.ts";
import type { Usage } from "../engine/frames/index.ts";

/** A content block in the form of the Messages API. Blocks are stored in this form for every provider. */
export type WireBlock = { readonly type: string; readonly [field: string]: Json };

export type ModelMessage = { readonly role: "user" | "assistant"; readonly content: readonly WireBlock[] };

/** A tool as it is described to a model. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: { readonly type: "object"; readonly [field: string]: Json };
};

/** A position up to which the provider caches the prefix: the system text, or a block of a message. */
export type CacheMark =
  | { readonly in: "system" }
  | { readonly in: "message"; readonly message: number; readonly block: number };

/** A prompt as a provider gets it: the whole system text, then alternating messages, the user's first. */
export type ModelRequest = {
  readonly model: string;
  readonly system: readonly WireBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** `none`: the model must answer in text. */
  readonly toolChoice: "auto" | "none";
  readonly maxTokens: number;
  readonly stopSequences: readonly string[];
  /** At most four. A provider that has no cache marks ignores them. */
  readonly marks: readonly CacheMark[];
};

export type ModelAnswer = {
  readonly content: readonly WireBlock[];
  /**
   * The stop reason of the Messages API: `end_turn`, `tool_use`, `max_tokens`. Calls in an answer that was
   * cut off are not made, because they may be incomplete.
   */
  readonly stop: string;
  readonly usage: Usage;
};

export type ProviderAskOptions = {
  readonly signal: AbortSignal;
  /** Called with each piece of text as it arrives. */
  readonly onText: (text: string) => void;
  /** Called when the answer broke off and the provider asks again: the text so far is void. */
  readonly onRestart?: () => void;
};

/**
 * Answers prompts: a model behind an official client, a script or a person. A provider does not throw: it
 * returns an error whose details say whether to try again (`retryable`) and when (`retryAfterMs`).
 */
export type Provider = {
  readonly name: string;
  /** Default for `answerTimeoutMs` of its agents. Absent: `agentDefaults.answerTimeoutMs`. */
  readonly answerTimeoutMs?: number;
  readonly ask: (request: ModelRequest, options: ProviderAskOptions) => Promise<Result<ModelAnswer>>;
};

export function isRetryable({ details }: ApertureError): boolean {
  return details["retryable"] === true;
}
