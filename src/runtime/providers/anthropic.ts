import type { Anthropic } from "@anthropic-ai/sdk";
import { ok, type Result } from "../../base/index.ts";
import type { Asking, ModelAnswer, ModelRequest, Provider } from "../provider.ts";
import { cancelled, type Failure, failed, isNotInstalled, missing, problemOf } from "./failure.ts";
import { type Heard, heardMessage, messageEvents } from "./messages-answer.ts";
import { type JsonFields, messagesBody } from "./messages-body.ts";

export type AnthropicOptions = {
  /** Without one, the official client looks where it always does: `ANTHROPIC_API_KEY` first. */
  readonly apiKey?: string;
  readonly baseUrl?: string;
  /** A client of your own instead of all of the above; whatever it retries by itself, it does not here. */
  readonly client?: AnthropicClient;
  /** Sent with every request: `anthropic-beta`, for one. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of every body: `thinking`, for one. */
  readonly fields?: JsonFields;
  /** Whether text is heard while it is written; it is, unless this is false. */
  readonly stream?: boolean;
};

/** An official client. Its own type is not named here, so that who has not installed it can compile. */
export type AnthropicClient = { readonly messages: { readonly create: unknown } };

const provider = "anthropic";

/** Claude through the official client, which is loaded with the first question. */
export function anthropicProvider(options: AnthropicOptions = {}): Provider {
  let client: Promise<Result<Anthropic>> | null = null;
  return {
    name: provider,
    ask: async (request, asking) => {
      client ??= clientOf(options);
      const loaded = await client;
      return loaded.ok ? await ask({ client: loaded.value, options, request, asking }) : loaded;
    },
  };
}

async function clientOf(options: AnthropicOptions): Promise<Result<Anthropic>> {
  if (options.client !== undefined) return ok(options.client as Anthropic); // what its type stands for
  try {
    const { Anthropic: Client } = await import("@anthropic-ai/sdk");
    return ok(
      new Client({
        ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
        ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
        // It would print what it cannot read, and that is what people have said.
        logLevel: "off",
      }),
    );
  } catch (error) {
    if (isNotInstalled(error)) return missing(provider, "@anthropic-ai/sdk");
    const secrets = options.apiKey === undefined ? [] : [options.apiKey];
    return failed({ type: "setup", problem: problemOf(error) }, { provider, secrets, nowMs: Date.now() });
  }
}

type Question = {
  readonly client: Anthropic;
  readonly options: AnthropicOptions;
  readonly request: ModelRequest;
  readonly asking: Asking;
};

async function ask(question: Question): Promise<Result<ModelAnswer>> {
  const { asking } = question;
  const heard = await attempt(question);
  if (asking.signal.aborted) return cancelled(provider);
  if ("answer" in heard) return ok(heard.answer);
  return failed(heard.failure, { provider, secrets: secretsOf(question), nowMs: Date.now() });
}

function secretsOf({ client, options }: Question): readonly string[] {
  const telling = Object.entries(options.headers ?? {}).filter(([name]) =>
    /auth|key|token|cookie/i.test(name),
  );
  const sent = [client.apiKey, client.authToken, ...telling.map(([, value]) => value)];
  return sent.filter((secret) => typeof secret === "string");
}

type Whole = Anthropic.MessageCreateParamsNonStreaming;
type InEvents = Anthropic.MessageCreateParamsStreaming;

async function attempt({ client, options, request, asking }: Question): Promise<Heard> {
  // The client listens until its answer is forgotten: to a signal for a whole session, that is for too long.
  const signal = AbortSignal.any([asking.signal]);
  const body = { model: request.model, ...messagesBody(request), ...options.fields };
  const settings = { signal, maxRetries: 0, headers: { ...options.headers } };
  let begun = false;
  try {
    if (options.stream === false) {
      const whole = { ...body, stream: false } as unknown as Whole; // it may not know every field
      const response = await client.messages.create(whole, settings).asResponse();
      begun = true;
      return heardMessage(Buffer.from(await response.arrayBuffer()));
    }
    const inEvents = { ...body, stream: true } as unknown as InEvents; // the same
    const coming = await client.messages.create(inEvents, settings);
    begun = true;
    const events = messageEvents(asking.heard);
    for await (const event of coming) events.take(JSON.stringify(event));
    return events.finish();
  } catch (error) {
    return { failure: failureOf(error, begun) };
  }
}

/** The client's own errors have a status, empty where no answer came; what else it throws was never sent. */
function failureOf(error: unknown, begun: boolean): Failure {
  const problem = problemOf(error);
  if (!(error instanceof Error && "status" in error)) return { type: begun ? "broken" : "setup", problem };
  const { status, type, headers, apiMessage } = error as ApiError; // by its status
  const known = status ?? statusOf(type);
  if (known === null) return { type: begun ? "broken" : "unreachable", problem };
  return {
    type: "refused",
    status: known,
    problem: apiMessage ?? problem,
    retryAfter: headers?.get("retry-after") ?? null,
    isFinal: headers?.get("x-should-retry") === "false",
  };
}

type ApiError = InstanceType<typeof Anthropic.APIError>;

/** Where an answer ends in an error, its status was another before; the kind of the error says which. */
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
