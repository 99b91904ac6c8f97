// What is special about Amazon Bedrock: signatures, the binary event stream, exceptions, and two APIs.
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type BedrockOptions, bedrockProvider, type ModelTool } from "../../../src/runtime/index.ts";
import { jsonFrame } from "../../../src/testing/bedrock/event-stream.ts";
import { signatureProblem } from "../../../src/testing/bedrock/sigv4.ts";
import {
  call,
  type StrictUpstream,
  type StrictUpstreamOptions,
  say,
  script,
  startStrictUpstream,
} from "../../../src/testing/index.ts";
import { keys, listener, prompt, text, user } from "../provider-kit.ts";

const upstreams: StrictUpstream[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(upstreams.splice(0).map((upstream) => upstream.close()));
});

const apis = ["invoke", "converse"] as const;

async function startUpstream(options: StrictUpstreamOptions) {
  const upstream = await startStrictUpstream({ ...options, bedrock: keys });
  upstreams.push(upstream);
  const provider = (own: Partial<BedrockOptions>) =>
    bedrockProvider({
      region: keys.region,
      credentials: keys,
      endpoint: upstream.url,
      api: "converse",
      ...own,
    });
  const bodies = () => upstream.exchanges.map(({ body }) => JSON.parse(String(body)) as unknown);
  return { upstream, provider, bodies };
}

const model = { model: "eu.anthropic.claude-opus-5-5-v1:0" };
const tool: ModelTool = { name: "look", description: "Looks.", input_schema: { type: "object" } };

describe.each(apis)("a signature, through %s", (api) => {
  it("is made with the given keys, whatever token the environment has", async () => {
    vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "a-token-for-somebody-else");
    const { provider, upstream } = await startUpstream({ model: script([say("yes")]) });
    expect(await provider({ api }).ask(prompt(model), listener())).toMatchObject({ ok: true });
    expect(upstream.exchanges[0]?.target).toContain("/model/eu.anthropic.claude-opus-5-5-v1%3A0/");
  });

  const wrong: readonly (readonly [string, Partial<BedrockOptions>])[] = [
    ["another secret", { credentials: { ...keys, secretAccessKey: "not/the+secret+of+tests" } }],
    ["another key", { credentials: { ...keys, accessKeyId: "AKIDOFOTHERS" } }],
    ["another session", { credentials: { ...keys, sessionToken: "stale-token-of-tests" } }],
    ["another region", { region: "us-east-1" }],
  ];
  it.each(wrong)("of %s is refused, and the error holds no secret", async (_, own) => {
    const { provider } = await startUpstream({ model: script([say("no")]) });
    const result = await provider({ api, ...own }).ask(prompt(model), listener());
    const details = { status: 403, retryable: false };
    expect(result).toMatchObject({ ok: false, error: { code: "AP_PROVIDER_REFUSED", details } });
    expect(JSON.stringify(result)).not.toMatch(/secret.of.*tests|token-of/);
  });

  it("is not made without keys", async () => {
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"])
      vi.stubEnv(name, undefined);
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    for (const name of ["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"]) vi.stubEnv(name, "nowhere");
    const { upstream } = await startUpstream({});
    const provider = bedrockProvider({ region: keys.region, endpoint: upstream.url, api });
    const result = await provider.ask(prompt(model), listener());
    expect(result).toMatchObject({ error: { code: "AP_PROVIDER_SETUP", details: { retryable: false } } });
    expect(upstream.exchanges).toHaveLength(0);
  });
});

describe.each(apis)("a signed request, through %s", (api) => {
  it("is refused if its body, a header or its path was changed on the way", async () => {
    const { upstream } = await startUpstream({ model: () => say("no") });
    const changes: ((sent: { body: Uint8Array; path: string; headers: Record<string, string> }) => void)[] = [
      (sent) => {
        sent.body = Buffer.from(new TextDecoder().decode(sent.body).replace("morning", "evening"));
      },
      (sent) => {
        sent.headers["content-type"] = "application/json; charset=utf-8";
      },
      (sent) => {
        sent.path = sent.path.replace("opus", "haiku");
      },
    ];
    for (const change of changes) {
      const { region } = keys;
      const requestHandler = new NodeHttpHandler();
      const client = new BedrockRuntimeClient({
        region,
        credentials: keys,
        endpoint: upstream.url,
        requestHandler,
      });
      client.middlewareStack.add(
        (next) => (args) => {
          change(args.request as Parameters<typeof change>[0]); // an HTTP request, by this step
          return next(args);
        },
        { step: "finalizeRequest", priority: "low" },
      );
      const result = await bedrockProvider({ client, api }).ask(prompt(model), listener());
      expect(result).toMatchObject({ error: { details: { status: 403 } } });
    }
    expect(upstream.exchanges).toHaveLength(changes.length);
  });

  it("is valid now, and a change of any signed part makes it invalid", async () => {
    const { provider, upstream } = await startUpstream({ model: script([say("yes")]) });
    await provider({ api }).ask(prompt(model), listener());
    const [sent] = upstream.exchanges;
    if (sent === undefined) throw new Error("nothing was sent");
    const { method, target, rawHeaders, body } = sent;
    const raw = { method, target, rawHeaders, body };
    const nowMs = Date.now();
    expect(signatureProblem(raw, keys, nowMs)).toBeNull();
    expect(signatureProblem(raw, keys, nowMs + 6 * 60_000)).toBe("Signature expired");
    expect(signatureProblem({ ...raw, method: "PUT" }, keys, nowMs)).not.toBeNull();
    expect(signatureProblem({ ...raw, target: `${target}?a=1` }, keys, nowMs)).not.toBeNull();
    for (const index of [0, 17, body.length - 1]) {
      const changed = Buffer.from(body);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(signatureProblem({ ...raw, body: changed }, keys, nowMs), `byte ${index}`).not.toBeNull();
    }
    const signed = /SignedHeaders=([^,]+)/.exec(rawHeaders.join(" "))?.[1]?.split(";") ?? [];
    expect(signed).toEqual(expect.arrayContaining(["host", "x-amz-date", "x-amz-security-token"]));
    for (const name of [...signed, "authorization"]) {
      const at = rawHeaders.findIndex((header, index) => index % 2 === 0 && header.toLowerCase() === name);
      const changed = rawHeaders.with(at + 1, `${rawHeaders[at + 1]}0`);
      expect(signatureProblem({ ...raw, rawHeaders: changed }, keys, nowMs), name).not.toBeNull();
    }
  });
});

describe.each(apis)("an answer in frames, through %s", (api) => {
  it.each([1, 7, 1_000])("is the same however its bytes are split: every %s", async (split) => {
    const { provider } = await startUpstream({
      split,
      model: script([call("look", { at: "the \u{1f31e}" })]),
    });
    const answer = await provider({ api }).ask(prompt(model, { tools: [tool] }), listener());
    const content = [{ type: "tool_use", name: "look", input: { at: "the \u{1f31e}" } }];
    expect(answer).toMatchObject({ ok: true, value: { stop: "tool_use", content } });
  });

  it.each([
    ["throttlingException", 429, true],
    ["modelStreamErrorException", 424, true],
    ["serviceUnavailableException", 503, true],
    ["internalServerException", 500, true],
    ["validationException", 400, false],
  ] as const)("that ends with %s has the status of the exception", async (errorType, status, retryable) => {
    const fault = { type: "error-event", events: 3, errorType, message: "so it is" } as const;
    const { provider } = await startUpstream({
      fault: () => fault,
      model: script([say("one two three four five")]),
    });
    const texts = listener();
    const result = await provider({ api }).ask(prompt(model), texts);
    const details = { status, retryable, problem: "so it is" };
    expect(result).toMatchObject({ error: { code: "AP_PROVIDER_REFUSED", details } });
    expect(texts.pieces.length).toBeGreaterThan(0);
  });

  it.each([0, 5, 9, 14, -6, -1])("is broken if a frame has a wrong byte: number %s", async (at) => {
    const frame = jsonFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "lies" } });
    const index = frame.at(at) === undefined ? 0 : (at + frame.length) % frame.length;
    frame[index] = (frame[index] ?? 0) ^ 1;
    const fault = { type: "garbage-after-events", events: 3, bytes: frame } as const;
    const { provider } = await startUpstream({ fault: () => fault, model: script([say("one two three")]) });
    const result = await provider({ api }).ask(prompt(model), listener());
    expect(result).toMatchObject({ error: { code: "AP_PROVIDER_BROKEN", details: { retryable: true } } });
  });

  it("may hold unknown events", async () => {
    const bytes = jsonFrame("weatherReport", { sun: true });
    const fault = { type: "garbage-after-events", events: 2, bytes } as const;
    const { provider } = await startUpstream({ fault: () => fault, model: script([say("as ever")]) });
    const result = await provider({ api }).ask(prompt(model), listener());
    expect(result).toMatchObject({ ok: true, value: { content: [text("as ever")] } });
  });
});

describe("the body of a prompt", () => {
  it("is that of the Messages API for invoke, without a model", async () => {
    const { provider, bodies } = await startUpstream({ model: script([say("yes")]) });
    const fields = { anthropic_beta: ["context-1m-2025-08-07"] };
    await provider({ api: "invoke", fields }).ask(
      prompt(model, { tools: [tool], toolChoice: "none" }),
      listener(),
    );
    expect(bodies()).toEqual([
      {
        anthropic_version: "bedrock-2023-05-31",
        anthropic_beta: ["context-1m-2025-08-07"],
        max_tokens: 1_000,
        messages: [{ role: "user", content: [text("Good morning.")] }],
        tools: [tool],
        tool_choice: { type: "none" },
      },
    ]);
  });

  it("is Bedrock's own for converse, with cache points after the marked blocks", async () => {
    const { provider, bodies } = await startUpstream({ model: script([say("yes")]) });
    const system = [text("one"), text("two")];
    const messages = [user(text("a"), text("b"))];
    const marks = [{ in: "system" }, { in: "message", message: 0, block: 0 }] as const;
    const request = prompt(model, { system, messages, marks, tools: [tool], toolChoice: "none" });
    const fields = { thinking: { type: "adaptive" } };
    expect(await provider({ fields }).ask(request, listener())).toMatchObject({ ok: true });
    const cachePoint = { type: "default" };
    const { name, description, input_schema: json } = tool;
    expect(bodies()).toEqual([
      {
        system: [{ text: "one" }, { text: "two" }, { cachePoint }],
        messages: [{ role: "user", content: [{ text: "a" }, { cachePoint }, { text: "b" }] }],
        inferenceConfig: { maxTokens: 1_000 },
        toolConfig: { tools: [{ toolSpec: { name, description, inputSchema: { json } } }] },
        additionalModelRequestFields: fields,
      },
    ]);
  });

  const marked = {
    system: [text("one")],
    marks: [{ in: "system" }, { in: "message", message: 0, block: 0 }],
  } as const;
  it.each([
    ["meta.llama3-3-70b-instruct-v1:0", undefined, false],
    ["qwen.qwen3-32b-v1:0", undefined, false],
    ["us.deepseek.r1-v1:0", undefined, false],
    ["eu.amazon.nova-pro-v1:0", undefined, true],
    ["eu.anthropic.claude-opus-5-5-v1:0", undefined, true],
    ["eu.anthropic.claude-opus-5-5-v1:0", false, false],
  ])("has cache points only for models that accept them: %s, marks: %s", async (id, marks, has) => {
    const { provider, bodies } = await startUpstream({ model: script([say("yes")]) });
    const own = marks === undefined ? {} : { marks };
    const answer = await provider(own).ask(prompt({ model: id }, marked), listener());
    expect(answer).toMatchObject({ ok: true, value: { content: [text("yes")] } });
    expect(JSON.stringify(bodies()).includes("cachePoint")).toBe(has);
  });

  it("with cache points is refused by a model that has none", async () => {
    const { provider } = await startUpstream({ model: script([say("no")]) });
    const request = prompt({ model: "meta.llama3-3-70b-instruct-v1:0" }, marked);
    const result = await provider({ marks: true }).ask(request, listener());
    expect(result).toMatchObject({ error: { code: "AP_PROVIDER_REFUSED", details: { status: 400 } } });
  });

  it("names the tools that its history mentions, if the agent has none any more", async () => {
    const { provider, bodies } = await startUpstream({ model: script([call("look", {}), say("yes")]) });
    const first = await provider({}).ask(prompt(model, { tools: [tool] }), listener());
    const content = first.ok ? first.value.content : expect.fail();
    const result = { type: "tool_result", tool_use_id: String(content[0]?.["id"]), content: "seen" };
    const messages = [user(text("Good morning.")), { role: "assistant", content } as const, user(result)];
    expect(await provider({}).ask(prompt(model, { messages }), listener())).toMatchObject({ ok: true });
    expect(bodies()[1]).toMatchObject({ toolConfig: { tools: [{ toolSpec: { name: "look" } }] } });
  });

  it("is not sent if Converse has no form for a block", async () => {
    const { provider, upstream } = await startUpstream({});
    const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
    const result = await provider({}).ask(prompt(model, { messages: [user(image)] }), listener());
    const error = { code: "AP_PROVIDER_UNSUPPORTED", details: { provider: "bedrock", retryable: false } };
    expect(result).toMatchObject({ ok: false, error });
    expect(upstream.exchanges).toHaveLength(0);
  });
});
