import type { BedrockRuntimeClient, BedrockRuntimeClientConfig } from "@aws-sdk/client-bedrock-runtime";
import { ok, type Result } from "../../base/index.ts";
import type { ModelAnswer, ModelRequest, Provider, ProviderAskOptions } from "../provider.ts";
import { type BedrockCall, type BedrockSdk, converse, invoke } from "./bedrock-calls.ts";
import {
  type ClientFailure,
  cancelled,
  isNotInstalled,
  packageMissing,
  problemOf,
  providerFailure,
} from "./failure.ts";
import type { ExtraFields } from "./messages-body.ts";
import type { AnswerOrFailure } from "./messages-reader.ts";

export type BedrockOptions = {
  /** Absent: the official client looks in its usual places, `AWS_REGION` first. */
  readonly region?: string;
  /** Keys, or a function that gets them. Absent: the official client looks in its usual places. */
  readonly credentials?: AwsCredentials | (() => Promise<AwsCredentials>);
  readonly endpoint?: string;
  /** Your own client instead of all of the above; set its `maxAttempts` to 1, or it retries as well. */
  readonly client?: BedrockClient;
  /** `invoke` sends a body of the Messages API, `converse` a form that every model on Bedrock understands. */
  readonly api: "invoke" | "converse";
  /** Further fields of every body, such as `thinking` or `anthropic_beta`. */
  readonly fields?: ExtraFields;
  /** Whether the answer is streamed, so that its text arrives in pieces. Absent: true. */
  readonly stream?: boolean;
  /**
   * Whether prompts get cache marks. Absent: true for `invoke` and for models with `claude` or `nova` in
   * their id, because other models refuse a prompt with a mark.
   */
  readonly marks?: boolean;
};

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

/** An official client. Its own type is not named here, so that programs compile without the package. */
export type BedrockClient = { readonly send: unknown; readonly config: unknown };

const provider = "bedrock";

/** Models on Amazon Bedrock through the official client, which is loaded with the first request. */
export function bedrockProvider(options: BedrockOptions): Provider {
  let connection: Promise<Result<BedrockConnection>> | null = null;
  return {
    name: provider,
    ask: async (request, askOptions) => {
      connection ??= connect(options);
      const connected = await connection;
      return connected.ok ? await ask({ ...connected.value, options, request, askOptions }) : connected;
    },
  };
}

type BedrockConnection = { readonly sdk: BedrockSdk; readonly client: BedrockRuntimeClient };

async function connect(options: BedrockOptions): Promise<Result<BedrockConnection>> {
  try {
    const sdk = await import("@aws-sdk/client-bedrock-runtime");
    const own = options.client as BedrockRuntimeClient | undefined; // BedrockClient stands for it
    return ok({ sdk, client: own ?? new sdk.BedrockRuntimeClient(await configOf(options)) });
  } catch (error) {
    if (isNotInstalled(error)) {
      return packageMissing(provider, "@aws-sdk/client-bedrock-runtime @smithy/node-http-handler");
    }
    return providerFailure(
      { type: "setup", problem: problemOf(error) },
      { provider, secrets: [], nowMs: Date.now() },
    );
  }
}

async function configOf({
  region,
  credentials,
  endpoint,
}: BedrockOptions): Promise<BedrockRuntimeClientConfig> {
  const { NodeHttpHandler } = await import("@smithy/node-http-handler");
  return {
    maxAttempts: 1,
    // By default the client speaks only HTTP/2, which not every proxy and no simple server understands.
    requestHandler: new NodeHttpHandler(),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    // Without this the client would prefer a token in the environment to the keys that were passed.
    ...(credentials === undefined ? {} : { credentials, authSchemePreference: ["sigv4"] }),
  };
}

type BedrockAttempt = BedrockConnection & {
  readonly options: BedrockOptions;
  readonly request: ModelRequest;
  readonly askOptions: ProviderAskOptions;
};

async function ask(attempt: BedrockAttempt): Promise<Result<ModelAnswer>> {
  const result = await send(attempt);
  if (attempt.askOptions.signal.aborted) return cancelled(provider);
  if ("answer" in result) return ok(result.answer);
  const secrets = await secretsOf(attempt.client);
  return providerFailure(result.failure, { provider, secrets, nowMs: Date.now() });
}

async function send({ sdk, client, options, request, askOptions }: BedrockAttempt): Promise<AnswerOrFailure> {
  let isStarted = false;
  const call: BedrockCall = {
    sdk,
    client,
    signal: askOptions.signal,
    request: mayMark(options, request) ? request : { ...request, marks: [] },
    fields: options.fields ?? {},
    streams: options.stream !== false,
    onText: askOptions.onText,
    onStart: () => {
      isStarted = true;
    },
  };
  try {
    return await (options.api === "invoke" ? invoke(call) : converse(call));
  } catch (error) {
    return { failure: bedrockFailure(error, isStarted) };
  }
}

function mayMark({ marks, api }: BedrockOptions, { model }: ModelRequest): boolean {
  return marks ?? (api === "invoke" || /claude|nova/i.test(model));
}

/** The error for a wrong signature repeats the signed headers, and with them the session token. */
async function secretsOf({ config }: BedrockRuntimeClient): Promise<readonly string[]> {
  try {
    const { secretAccessKey, sessionToken } = await config.credentials();
    return [secretAccessKey, sessionToken ?? ""];
  } catch {
    return [];
  }
}

/** The status of each of Bedrock's exceptions: inside a streamed answer they come without one. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["ValidationException", 400],
  ["AccessDeniedException", 403],
  ["ResourceNotFoundException", 404],
  ["ModelTimeoutException", 408],
  ["ModelErrorException", 424],
  ["ModelStreamErrorException", 424],
  ["ThrottlingException", 429],
  ["ModelNotReadyException", 429],
  ["InternalServerException", 500],
  ["ServiceUnavailableException", 503],
]);

/** Sorts an error of the official client by the fields that the client documents. */
function bedrockFailure(error: unknown, isStarted: boolean): ClientFailure {
  const problem = problemOf(error);
  if (!(error instanceof Error)) return { type: "broken", problem };
  const { $metadata, $response } = error as Error & AwsErrorFields; // added if there was an answer
  const status = statuses.get(error.name) ?? $metadata?.httpStatusCode ?? 0;
  if (status >= 400) {
    const retryAfter = $response?.headers?.["retry-after"] ?? null;
    return { type: "refused", status, problem: error.message || error.name, retryAfter, isFinal: false };
  }
  if (isStarted || status > 0) return { type: "broken", problem };
  return { type: isNetworkError(error) ? "unreachable" : "setup", problem };
}

type AwsErrorFields = {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
};

/** Socket errors have a system code; any other error happened before a socket was opened. */
function isNetworkError(error: Error): boolean {
  return error.name === "TimeoutError" || ("code" in error && typeof error.code === "string");
}
