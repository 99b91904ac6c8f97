// Shared by tests of providers: prompts, a listener, and every API through which a provider can be asked.
import {
  anthropicProvider,
  bedrockProvider,
  type ModelRequest,
  type Provider,
  type WireBlock,
} from "../../src/runtime/index.ts";
import type { AwsKeys } from "../../src/testing/bedrock/sigv4.ts";
import {
  type StrictUpstream,
  type StrictUpstreamOptions,
  startStrictUpstream,
} from "../../src/testing/index.ts";

export const keys: AwsKeys = {
  region: "eu-central-1",
  accessKeyId: "AKIDFORTESTS",
  secretAccessKey: "secret/of+these+tests",
  sessionToken: "session-token-of-these-tests==",
};
export const apiKey = "key-of-these-tests";

export type Way = {
  readonly name: string;
  readonly model: string;
  readonly start: (options: StrictUpstreamOptions) => Promise<StrictUpstream>;
  readonly provider: (url: string) => Provider;
};

const direct = (stream: boolean): Way => ({
  name: `anthropic, ${stream ? "in events" : "whole"}`,
  model: "claude-opus-5-5",
  start: (options) => startStrictUpstream({ ...options, keys: [apiKey] }),
  provider: (baseUrl) => anthropicProvider({ apiKey, baseUrl, stream }),
});

const onBedrock = (api: "invoke" | "converse", stream: boolean): Way => ({
  name: `bedrock ${api}, ${stream ? "in events" : "whole"}`,
  model: "eu.anthropic.claude-opus-5-5-v1:0",
  start: (options) => startStrictUpstream({ ...options, bedrock: keys }),
  provider: (endpoint) => bedrockProvider({ region: keys.region, credentials: keys, endpoint, api, stream }),
});

/** Every API of a provider, streamed and whole: the contract holds for all of them. */
export const ways: readonly Way[] = [true, false].flatMap((stream) => [
  direct(stream),
  onBedrock("invoke", stream),
  onBedrock("converse", stream),
]);

export const inEvents: readonly Way[] = ways.filter(({ name }) => name.endsWith("in events"));

export function text(content: string): WireBlock {
  return { type: "text", text: content };
}

export function user(...content: readonly WireBlock[]): ModelRequest["messages"][number] {
  return { role: "user", content };
}

export function prompt(way: Pick<Way, "model">, fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: way.model,
    system: [],
    messages: [user(text("Good morning."))],
    tools: [],
    toolChoice: "auto",
    maxTokens: 1_000,
    stopSequences: [],
    marks: [],
    ...fields,
  };
}

export type Listener = {
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
  readonly onRestart: () => void;
  readonly pieces: string[];
  readonly abort: () => void;
};

/** Collects the pieces of text; `on` is called with each piece. */
export function listener(on: (text: string) => void = () => undefined): Listener {
  const controller = new AbortController();
  const pieces: string[] = [];
  return {
    signal: controller.signal,
    onText: (piece) => {
      pieces.push(piece);
      on(piece);
    },
    onRestart: () => pieces.splice(0),
    pieces,
    abort: () => controller.abort(),
  };
}
