import type { ApertureError, Json, Result } from "../base/index.ts";
import type { Usage } from "../engine/index.ts";

/** A content block in the form of the Messages interface: what blocks are stored in, whoever answers. */
export type WireBlock = { readonly type: string; readonly [field: string]: Json };

export type ModelMessage = { readonly role: "user" | "assistant"; readonly content: readonly WireBlock[] };

/** A tool as a model is told of it. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: { readonly type: "object"; readonly [field: string]: Json };
};

/**
 * A place in a prompt up to which it is worth keeping: the last block of the system text, or one of a
 * message.
 */
export type Mark =
  | { readonly in: "system" }
  | { readonly in: "message"; readonly message: number; readonly block: number };

/** A prompt as a provider gets it: all of its system text, and messages in turn, the user's first. */
export type ModelRequest = {
  readonly model: string;
  readonly system: readonly WireBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** None: it must answer in words. */
  readonly toolChoice: "auto" | "none";
  readonly maxTokens: number;
  readonly stopSequences: readonly string[];
  /** At most four. A provider without marks leaves them out. */
  readonly marks: readonly Mark[];
};

export type ModelAnswer = {
  readonly content: readonly WireBlock[];
  /**
   * Why it stopped, in the words of the Messages interface: `end_turn`, `tool_use`, `max_tokens`. Calls in an
   * answer that was stopped are not made: what came of them may not be all of it.
   */
  readonly stop: string;
  readonly usage: Usage;
};

const wholeStops: readonly string[] = ["end_turn", "tool_use", "pause_turn"];

/** Whether an answer came to its end by itself. In any other, a call may be less than was meant. */
export function isWholeStop(stop: string): boolean {
  return wholeStops.includes(stop);
}

export type Asking = {
  readonly signal: AbortSignal;
  /** Called with each piece of text as it comes. */
  readonly heard: (text: string) => void;
  /** What was heard so far is void: the answer broke off, and the question is put again. */
  readonly anew?: () => void;
};

/**
 * Whoever answers a prompt: a model behind an official client, a script, a person. Nothing is thrown: what
 * goes wrong is an error whose details say whether to try again (`retryable`) and when (`retryAfterMs`).
 */
export type Provider = {
  readonly name: string;
  /** So long it may be silent, where an agent does not say; left out, what is usual. */
  readonly answerTimeoutMs?: number;
  readonly ask: (request: ModelRequest, asking: Asking) => Promise<Result<ModelAnswer>>;
};

export function isRetryable({ details }: ApertureError): boolean {
  return details["retryable"] === true;
}
