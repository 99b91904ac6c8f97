import type { BedrockRuntimeClient, BedrockRuntimeClientConfig } from "@aws-sdk/client-bedrock-runtime";
import { ok, type Result } from "../../base/index.ts";
import type { Asking, ModelAnswer, ModelRequest, Provider } from "../provider.ts";
import { type BedrockCall, converse, invoke, type Sdk } from "./bedrock-calls.ts";
import { bedrockFailure } from "./bedrock-failure.ts";
import { cancelled, failed, isNotInstalled, missing, problemOf } from "./failure.ts";
import type { Heard } from "./messages-answer.ts";
import type { JsonFields } from "./messages-body.ts";

export type BedrockOptions = {
  /** Without one, the official client looks where it always does: `AWS_REGION` first. */
  readonly region?: string;
  /** Keys, or a function that gets them. Without them, the official client looks where it always does. */
  readonly credentials?: AwsCredentials | (() => Promise<AwsCredentials>);
  readonly endpoint?: string;
  /** A client of your own instead of all of the above; set its `maxAttempts` to 1, or it retries as well. */
  readonly client?: BedrockClient;
  /** `invoke` sends the Messages interface as it is, `converse` what every model on Bedrock understands. */
  readonly api: "invoke" | "converse";
  /** Further fields of every body: `thinking`, for one, or `anthropic_beta`. */
  readonly fields?: JsonFields;
  /** Whether text is heard while it is written; it is, unless this is false. */
  readonly stream?: boolean;
  /**
   * Whether prompts are marked for the cache. Left out, those for models are that have `claude` or `nova` in
   * their id, and all that go through `invoke`: other models refuse a prompt with a mark.
   */
  readonly marks?: boolean;
};

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

/** An official client. Its own type is not named here, so that who has not installed it can compile. */
export type BedrockClient = { readonly send: unknown; readonly config: unknown };

const provider = "bedrock";

/** Models on Amazon Bedrock through the official client, which is loaded with the first question. */
export function bedrockProvider(options: BedrockOptions): Provider {
  let loading: Promise<Result<Loaded>> | null = null;
  return {
    name: provider,
    ask: async (request, asking) => {
      loading ??= load(options);
      const loaded = await loading;
      return loaded.ok ? await ask({ ...loaded.value, options, request, asking }) : loaded;
    },
  };
}

type Loaded = { readonly sdk: Sdk; readonly client: BedrockRuntimeClient };

async function load(options: BedrockOptions): Promise<Result<Loaded>> {
  try {
    const sdk = await import("@aws-sdk/client-bedrock-runtime");
    const own = options.client as BedrockRuntimeClient | undefined; // what its type stands for
    return ok({ sdk, client: own ?? new sdk.BedrockRuntimeClient(await configOf(options)) });
  } catch (error) {
    if (isNotInstalled(error)) {
      return missing(provider, "@aws-sdk/client-bedrock-runtime @smithy/node-http-handler");
    }
    return failed({ type: "setup", problem: problemOf(error) }, { provider, secrets: [], nowMs: Date.now() });
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
    // By itself the client speaks HTTP/2 only, which not every proxy and no simple server understands.
    requestHandler: new NodeHttpHandler(),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    // A token in the environment would be preferred to the keys that were given here.
    ...(credentials === undefined ? {} : { credentials, authSchemePreference: ["sigv4"] }),
  };
}

type Question = Loaded & {
  readonly options: BedrockOptions;
  readonly request: ModelRequest;
  readonly asking: Asking;
};

async function ask(question: Question): Promise<Result<ModelAnswer>> {
  const heard = await attempt(question);
  if (question.asking.signal.aborted) return cancelled(provider);
  if ("answer" in heard) return ok(heard.answer);
  return failed(heard.failure, { provider, secrets: await secretsOf(question.client), nowMs: Date.now() });
}

async function attempt({ sdk, client, options, request, asking }: Question): Promise<Heard> {
  let begun = false;
  const call: BedrockCall = {
    sdk,
    client,
    signal: asking.signal,
    request: takesMarks(options, request) ? request : { ...request, marks: [] },
    fields: options.fields ?? {},
    streams: options.stream !== false,
    heard: asking.heard,
    began: () => {
      begun = true;
    },
  };
  try {
    return await (options.api === "invoke" ? invoke(call) : converse(call));
  } catch (error) {
    return { failure: bedrockFailure(error, begun) };
  }
}

function takesMarks({ marks, api }: BedrockOptions, { model }: ModelRequest): boolean {
  return marks ?? (api === "invoke" || /claude|nova/i.test(model));
}

/** A refused signature comes back with the headers it was made of, the session's token among them. */
async function secretsOf({ config }: BedrockRuntimeClient): Promise<readonly string[]> {
  try {
    const { secretAccessKey, sessionToken } = await config.credentials();
    return [secretAccessKey, sessionToken ?? ""];
  } catch {
    return [];
  }
}
