import type { Anthropic } from "@anthropic-ai/sdk";
import { ok, type Result } from "../../base/index.ts";
import type { ModelAnswer, ModelRequest, Provider, ProviderAskOptions } from "../provider.ts";
import {
  type ClientFailure,
  cancelled,
  isNotInstalled,
  packageMissing,
  problemOf,
  providerFailure,
} from "./failure.ts";
import { type ExtraFields, messagesBody } from "./messages-body.ts";
import { type AnswerOrFailure, messageEventReader, readMessageAnswer } from "./messages-reader.ts";

export type AnthropicOptions = {
  /** Absent: the official client looks in its usual places, `ANTHROPIC_API_KEY` first. */
  readonly apiKey?: string;
  readonly baseUrl?: string;
  /** Your own client instead of all of the above. Its own retries are turned off here. */
  readonly client?: AnthropicClient;
  /** Sent with every request, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of every body, such as `thinking`. */
  readonly fields?: ExtraFields;
  /** Whether the answer is streamed, so that its text arrives in pieces. Absent: true. */
  readonly stream?: boolean;
};

/** An official client. Its own type is not named here, so that programs compile without the package. */
export type AnthropicClient = { readonly messages: { readonly create: unknown } };

const provider = "anthropic";

/** Claude through the official client, which is loaded with the first request. */
export function anthropicProvider(options: AnthropicOptions = {}): Provider {
  let client: Promise<Result<Anthropic>> | null = null;
  return {
    name: provider,
    ask: async (request, askOptions) => {
      client ??= loadClient(options);
      const loaded = await client;
      return loaded.ok ? await ask({ client: loaded.value, options, request, askOptions }) : loaded;
    },
  };
}

async function loadClient(options: AnthropicOptions): Promise<Result<Anthropic>> {
  if (options.client !== undefined) return ok(options.client as Anthropic); // AnthropicClient stands for it
  try {
    const { Anthropic: Client } = await import("@anthropic-ai/sdk");
    return ok(
      new Client({
        ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
        ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
        // The client would print events it cannot read, and those hold what people said.
        logLevel: "off",
      }),
    );
  } catch (error) {
    if (isNotInstalled(error)) return packageMissing(provider, "@anthropic-ai/sdk");
    const secrets = options.apiKey === undefined ? [] : [options.apiKey];
    return providerFailure(
      { type: "setup", problem: problemOf(error) },
      { provider, secrets, nowMs: Date.now() },
    );
  }
}

type AnthropicAttempt = {
  readonly client: Anthropic;
  readonly options: AnthropicOptions;
  readonly request: ModelRequest;
  readonly askOptions: ProviderAskOptions;
};

async function ask(attempt: AnthropicAttempt): Promise<Result<ModelAnswer>> {
  const result = await send(attempt);
  if (attempt.askOptions.signal.aborted) return cancelled(provider);
  if ("answer" in result) return ok(result.answer);
  return providerFailure(result.failure, { provider, secrets: secretsOf(attempt), nowMs: Date.now() });
}

function secretsOf({ client, options }: AnthropicAttempt): readonly string[] {
  const secretHeaders = Object.entries(options.headers ?? {}).filter(([name]) =>
    /auth|key|token|cookie/i.test(name),
  );
  const sent = [client.apiKey, client.authToken, ...secretHeaders.map(([, value]) => value)];
  return sent.filter((secret) => typeof secret === "string");
}

type WholeMessageParams = Anthropic.MessageCreateParamsNonStreaming;
type StreamedMessageParams = Anthropic.MessageCreateParamsStreaming;

async function send({ client, options, request, askOptions }: AnthropicAttempt): Promise<AnswerOrFailure> {
  // The client keeps its listener until the answer is garbage: on a signal of a whole session that is too
  // long.
  const signal = AbortSignal.any([askOptions.signal]);
  const body = { model: request.model, ...messagesBody(request), ...options.fields };
  const settings = { signal, maxRetries: 0, headers: { ...options.headers } };
  let isStarted = false;
  try {
    if (options.stream === false) {
      const whole = { ...body, stream: false } as unknown as WholeMessageParams; // the type may lack fields
      const response = await client.messages.create(whole, settings).asResponse();
      isStarted = true;
      return readMessageAnswer(Buffer.from(await response.arrayBuffer()));
    }
    const streamed = { ...body, stream: true } as unknown as StreamedMessageParams; // the same
    const coming = await client.messages.create(streamed, settings);
    isStarted = true;
    const events = messageEventReader(askOptions.onText);
    for await (const event of coming) events.take(JSON.stringify(event));
    return events.finish();
  } catch (error) {
    return { failure: failureOf(error, isStarted) };
  }
}

/**
 * Sorts what the client threw. Its own errors have a status, undefined if no answer came; after any other
 * error the request was never sent.
 */
function failureOf(error: unknown, isStarted: boolean): ClientFailure {
  const problem = problemOf(error);
  if (!(error instanceof Error && "status" in error))
    return { type: isStarted ? "broken" : "setup", problem };
  const { status, type, headers, apiMessage } = error as AnthropicApiError; // only those have a status
  const known = status ?? statusOf(type);
  if (known === null) return { type: isStarted ? "broken" : "unreachable", problem };
  return {
    type: "refused",
    status: known,
    problem: apiMessage ?? problem,
    retryAfter: headers?.get("retry-after") ?? null,
    isFinal: headers?.get("x-should-retry") === "false",
  };
}

type AnthropicApiError = InstanceType<typeof Anthropic.APIError>;

/** An answer that ends in an error event began with status 200; the error's type tells its own status. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

function statusOf(type: string | null | undefined): number | null {
  return statuses.get(type ?? "") ?? null;
}
