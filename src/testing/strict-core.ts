import type { Clock } from "../base/index.ts";
import { answerEvents } from "./answer-events.ts";
import { type AnswerMessage, type AnswerUsage, answerMessage } from "./answer-message.ts";
import { type BindingMode, type BindingPolicy, type BindingResult, checkBinding } from "./binding.ts";
import { applyEdits, type EditedPrompt } from "./context-edits.ts";
import type { ScriptedModel } from "./model-reply.ts";
import { listedModels } from "./model-rules.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import { type CacheLookup, StrictPromptCache, tokensAt } from "./prompt-cache.ts";
import { type PromptPosition, promptPositions } from "./prompt-positions.ts";
import { type RawRequest, type ReadResult, readRawRequest } from "./read-raw-request.ts";
import { invalid, problemBody, type RequestProblem } from "./request-problem.ts";
import { digestOf, makeSigner, type Seal } from "./signatures.ts";

export type StrictCoreOptions = {
  readonly model: ScriptedModel;
  readonly clock: Clock;
  /** Signs reasoning: two cores with the same secret accept each other's signatures. */
  readonly secret: string;
  readonly binding?: BindingMode;
  readonly keys?: readonly string[];
  /** Foreign signatures are refused, or bound to the conversation in which they are first seen. */
  readonly foreignSignatures?: "refuse" | "accept";
  /** Unknown values of `anthropic-beta`. */
  readonly unknownBetas?: "refuse" | "accept";
  /** More model names, each with the name of the model whose rules apply. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Replaces the window of every model: tests fill a small window sooner. */
  readonly windowTokens?: number;
};

/** An answer without a socket. */
export type CoreAnswer = {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** One per wire event; the whole body when the answer does not stream. */
  readonly chunks: readonly Buffer[];
  readonly isStreamed: boolean;
  /** Writes an error in the middle of the answer, if that is not a server-sent event. */
  readonly errorEvent?: (errorType: string, message: string) => Buffer;
  readonly problem: RequestProblem | null;
  readonly usage: AnswerUsage | null;
  /** Called when the first byte leaves: from then on other requests can read what was cached. */
  readonly onStart: () => void;
};

export type StrictCore = {
  readonly read: (raw: RawRequest) => ReadResult;
  readonly answer: (result: ReadResult, n: number) => Promise<CoreAnswer>;
  readonly refuse: (problem: RequestProblem, n: number) => CoreAnswer;
};

/** The Messages API without a socket. It holds all state between requests. */
export function strictCore(options: StrictCoreOptions): StrictCore {
  const core = new MessagesCore(options);
  return {
    read: (raw) => readRawRequest(raw, options),
    answer: (result, n) => core.answer(result, n),
    refuse: (problem, n) => core.refuse(problem, n),
  };
}

type CheckedRequest = {
  readonly bound: BindingResult;
  /** The request as the model gets it. */
  readonly edited: ParsedRequest;
  readonly positions: readonly PromptPosition[];
  readonly totalTokens: number;
  /** Tokens before any edits. */
  readonly originalTokens: number;
  readonly applied: readonly object[];
};

/** The beta that gives an older model the window of the newer ones. */
const wideBeta = "context-1m-2025-08-07";
const wideTokens = 1_000_000;

class MessagesCore {
  readonly #options: StrictCoreOptions;
  readonly #policy: BindingPolicy;
  readonly #cache = new StrictPromptCache();
  readonly #tag: string;
  #ids = 0;

  constructor(options: StrictCoreOptions) {
    this.#options = options;
    this.#tag = digestOf(options.secret).slice(0, 8);
    this.#policy = {
      mode: options.binding ?? "bound-models",
      signer: makeSigner(options.secret),
      foreign: options.foreignSignatures === "accept" ? new Map<string, Seal>() : null,
    };
  }

  async answer(result: ReadResult, n: number): Promise<CoreAnswer> {
    switch (result.type) {
      case "problem":
        return this.refuse(result.problem, n);
      case "hello":
        return this.#plain(n, []);
      case "models":
        return this.#json(n, modelList());
      case "request":
        return await this.#answerRequest(result.request, n);
    }
  }

  refuse(problem: RequestProblem, n: number): CoreAnswer {
    const body = problemBody(problem, this.#requestId(n));
    const headers = [...this.#headers(n), ["content-type", "application/json"] as const];
    return { ...this.#plain(n, [body]), status: problem.status, headers, problem };
  }

  async #answerRequest(request: ParsedRequest, n: number): Promise<CoreAnswer> {
    const nowMs = this.#options.clock.now();
    const checked = this.#check(request);
    if ("status" in checked) return this.refuse(checked, n);
    if (request.endpoint === "count_tokens") return this.#json(n, countOf(request, checked));
    const lookup = this.#cache.lookUp({ request, positions: checked.positions, nowMs });
    let message: AnswerMessage;
    try {
      message = await this.#message({ request, checked, lookup, n });
    } catch (error) {
      const text = error instanceof Error ? error.message : "the scripted model failed";
      return this.refuse({ status: 500, type: "api_error", message: text }, n);
    }
    const answer = request.stream ? this.#stream(n, message) : this.#json(n, message);
    return { ...answer, usage: message.usage, onStart: lookup.commit };
  }

  #check(request: ParsedRequest): CheckedRequest | RequestProblem {
    const bound = checkBinding(request, this.#policy);
    if (bound.problem !== null) return bound.problem;
    const tokens = (messages: EditedPrompt["messages"]): number =>
      tokensAt(promptPositions({ ...request, messages }, bound.dropped)).at(-1) ?? 0;
    const prompt = applyEdits(request, tokens);
    const edited = { ...request, messages: prompt.messages };
    const positions = promptPositions(edited, new Set([...bound.dropped, ...prompt.dropped]));
    const totalTokens = tokensAt(positions).at(-1) ?? 0;
    const originalTokens = prompt.applied.length === 0 ? totalTokens : tokens(request.messages);
    const clearedTokens = originalTokens - totalTokens;
    const applied = prompt.applied.map((edit) => ({ ...edit, cleared_input_tokens: clearedTokens }));
    const modelWindow = request.betas.has(wideBeta) ? wideTokens : request.rules.windowTokens;
    const limit = this.#options.windowTokens ?? modelWindow;
    return totalTokens > limit
      ? invalid("prompt is too long", `${totalTokens} tokens > ${limit} maximum`)
      : { bound, edited, positions, totalTokens, originalTokens, applied };
  }

  async #message({ request, checked, lookup, n }: MessageInput): Promise<AnswerMessage> {
    // A limit of 0 only warms the cache.
    const reply = request.maxTokens === 0 ? { content: [] } : await this.#options.model(checked.edited, n);
    return answerMessage({
      request,
      reply,
      bound: checked.bound,
      applied: checked.applied,
      input: lookup.usage,
      signer: this.#policy.signer,
      newId: (kind) => `${kind}_${this.#tag}${this.#nextId()}`,
    });
  }

  #nextId(): string {
    this.#ids += 1;
    return String(this.#ids).padStart(10, "0");
  }

  #stream(n: number, message: AnswerMessage): CoreAnswer {
    const type = ["content-type", "text/event-stream; charset=utf-8"] as const;
    const headers = [...this.#headers(n), type, ["cache-control", "no-cache"] as const];
    return { ...this.#plain(n, answerEvents(message)), headers, isStreamed: true };
  }

  #json(n: number, value: object): CoreAnswer {
    const headers = [...this.#headers(n), ["content-type", "application/json"] as const];
    return { ...this.#plain(n, [Buffer.from(JSON.stringify(value))]), headers };
  }

  #plain(n: number, chunks: readonly Buffer[]): CoreAnswer {
    const headers = this.#headers(n);
    const nothing = (): void => undefined;
    return { status: 200, headers, chunks, isStreamed: false, problem: null, usage: null, onStart: nothing };
  }

  #headers(n: number): readonly (readonly [string, string])[] {
    return [
      ["request-id", this.#requestId(n)],
      ["anthropic-organization-id", "00000000-0000-4000-8000-000000000000"],
      ["anthropic-ratelimit-requests-limit", "4000"],
      ["anthropic-ratelimit-requests-remaining", "3999"],
    ];
  }

  #requestId(n: number): string {
    return `req_${this.#tag}${String(n).padStart(8, "0")}`;
  }
}

type MessageInput = {
  readonly request: ParsedRequest;
  readonly checked: CheckedRequest;
  readonly lookup: CacheLookup;
  readonly n: number;
};

function countOf(request: ParsedRequest, { totalTokens, originalTokens }: CheckedRequest): object {
  const isManaged = (request.body["context_management"] ?? null) !== null;
  return {
    input_tokens: totalTokens,
    ...(isManaged ? { context_management: { original_input_tokens: originalTokens } } : {}),
  };
}

function modelList(): object {
  const data = listedModels.map((id) => ({
    type: "model",
    id,
    display_name: id,
    created_at: "2026-01-01T00:00:00Z",
  }));
  return { data, has_more: false, first_id: listedModels[0], last_id: listedModels.at(-1) };
}
