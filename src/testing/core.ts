import type { Clock } from "../base/index.ts";
import { type AnswerMessage, answerMessage, type Usage } from "./answer.ts";
import { type BindingMode, type BindingPolicy, type Bound, checkBinding } from "./binding.ts";
import { type CacheLook, PromptCache, tokensAt } from "./cache.ts";
import { applyEdits, type Edited } from "./context-edits.ts";
import { listedModels } from "./models.ts";
import { errorBody, invalid, type Problem } from "./problem.ts";
import { type RawRequest, type Reading, readRequest } from "./read.ts";
import type { ScriptedModel } from "./reply.ts";
import type { ParsedRequest } from "./request.ts";
import { digestOf, type Seal, signerOf } from "./signatures.ts";
import { eventsOf } from "./sse.ts";
import { type PromptUnit, unitsOf } from "./units.ts";

export type StrictCoreOptions = {
  readonly model: ScriptedModel;
  readonly clock: Clock;
  /** Makes the signatures: two cores with one secret accept each other's. */
  readonly secret: string;
  readonly binding?: BindingMode;
  readonly keys?: readonly string[];
  /** Signatures made elsewhere: refused, or bound to the conversation they are first seen in. */
  readonly foreignSignatures?: "refuse" | "accept";
  /** Values of `anthropic-beta` that nobody knows. */
  readonly unknownBetas?: "refuse" | "accept";
  /** Further model names, each with the name of the model whose rules it has. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The window of every model, whatever its own is: a full one is met sooner in a small one. */
  readonly windowTokens?: number;
};

/** An answer without a socket. */
export type CoreAnswer = {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** One per wire event; the whole body when the answer does not stream. */
  readonly chunks: readonly Buffer[];
  readonly streams: boolean;
  /** How an error is said in the middle of it, where that is not a server-sent event. */
  readonly errorEvent?: (errorType: string, message: string) => Buffer;
  readonly problem: Problem | null;
  readonly usage: Usage | null;
  /** To be called when the first byte leaves: from then on others can read what was cached. */
  readonly started: () => void;
};

export type StrictCore = {
  readonly read: (raw: RawRequest) => Reading;
  readonly answer: (reading: Reading, n: number) => Promise<CoreAnswer>;
  readonly refuse: (problem: Problem, n: number) => CoreAnswer;
};

/** The Messages interface as a function: what it remembers between requests lives in here. */
export function strictCore(options: StrictCoreOptions): StrictCore {
  const core = new Core(options);
  return {
    read: (raw) => readRequest(raw, options),
    answer: (reading, n) => core.answer(reading, n),
    refuse: (problem, n) => core.refuse(problem, n),
  };
}

type Checked = {
  readonly bound: Bound;
  /** As the model gets to read it. */
  readonly read: ParsedRequest;
  readonly units: readonly PromptUnit[];
  readonly total: number;
  /** Before any edits. */
  readonly original: number;
  readonly applied: readonly object[];
};

/** What gives a model of the older sort the window of the newer ones. */
const wideBeta = "context-1m-2025-08-07";
const wideTokens = 1_000_000;

class Core {
  readonly #options: StrictCoreOptions;
  readonly #policy: BindingPolicy;
  readonly #cache = new PromptCache();
  readonly #tag: string;
  #ids = 0;

  constructor(options: StrictCoreOptions) {
    this.#options = options;
    this.#tag = digestOf(options.secret).slice(0, 8);
    this.#policy = {
      mode: options.binding ?? "bound-models",
      signer: signerOf(options.secret),
      foreign: options.foreignSignatures === "accept" ? new Map<string, Seal>() : null,
    };
  }

  async answer(reading: Reading, n: number): Promise<CoreAnswer> {
    switch (reading.type) {
      case "problem":
        return this.refuse(reading.problem, n);
      case "hello":
        return this.#plain(n, []);
      case "models":
        return this.#json(n, modelList());
      case "request":
        return await this.#answerRequest(reading.request, n);
    }
  }

  refuse(problem: Problem, n: number): CoreAnswer {
    const body = errorBody(problem, this.#requestId(n));
    const headers = [...this.#headers(n), ["content-type", "application/json"] as const];
    return { ...this.#plain(n, [body]), status: problem.status, headers, problem };
  }

  async #answerRequest(request: ParsedRequest, n: number): Promise<CoreAnswer> {
    const nowMs = this.#options.clock.now();
    const checked = this.#check(request);
    if ("status" in checked) return this.refuse(checked, n);
    if (request.endpoint === "count_tokens") return this.#json(n, countOf(request, checked));
    const look = this.#cache.look({ request, units: checked.units, nowMs });
    let message: AnswerMessage;
    try {
      message = await this.#message({ request, checked, look, n });
    } catch (error) {
      const text = error instanceof Error ? error.message : "the scripted model failed";
      return this.refuse({ status: 500, type: "api_error", message: text }, n);
    }
    const answer = request.stream ? this.#stream(n, message) : this.#json(n, message);
    return { ...answer, usage: message.usage, started: look.commit };
  }

  #check(request: ParsedRequest): Checked | Problem {
    const bound = checkBinding(request, this.#policy);
    if (bound.problem !== null) return bound.problem;
    const tokens = (messages: Edited["messages"]): number =>
      tokensAt(unitsOf({ ...request, messages }, bound.dropped)).at(-1) ?? 0;
    const edited = applyEdits(request, tokens);
    const read = { ...request, messages: edited.messages };
    const units = unitsOf(read, new Set([...bound.dropped, ...edited.dropped]));
    const total = tokensAt(units).at(-1) ?? 0;
    const original = edited.applied.length === 0 ? total : tokens(request.messages);
    const applied = edited.applied.map((line) => ({ ...line, cleared_input_tokens: original - total }));
    const own = request.betas.has(wideBeta) ? wideTokens : request.rules.windowTokens;
    const limit = this.#options.windowTokens ?? own;
    return total > limit
      ? invalid("prompt is too long", `${total} tokens > ${limit} maximum`)
      : { bound, read, units, total, original, applied };
  }

  async #message({ request, checked, look, n }: MessageQuestion): Promise<AnswerMessage> {
    // A limit of nothing only warms the cache.
    const reply = request.maxTokens === 0 ? { content: [] } : await this.#options.model(checked.read, n);
    return answerMessage({
      request,
      reply,
      bound: checked.bound,
      applied: checked.applied,
      input: look.usage,
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
    return { ...this.#plain(n, eventsOf(message)), headers, streams: true };
  }

  #json(n: number, value: object): CoreAnswer {
    const headers = [...this.#headers(n), ["content-type", "application/json"] as const];
    return { ...this.#plain(n, [Buffer.from(JSON.stringify(value))]), headers };
  }

  #plain(n: number, chunks: readonly Buffer[]): CoreAnswer {
    const headers = this.#headers(n);
    const nothing = (): void => undefined;
    return { status: 200, headers, chunks, streams: false, problem: null, usage: null, started: nothing };
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

type MessageQuestion = {
  readonly request: ParsedRequest;
  readonly checked: Checked;
  readonly look: CacheLook;
  readonly n: number;
};

function countOf(request: ParsedRequest, { total, original }: Checked): object {
  const managed = (request.body["context_management"] ?? null) !== null;
  return {
    input_tokens: total,
    ...(managed ? { context_management: { original_input_tokens: original } } : {}),
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
