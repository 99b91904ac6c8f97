// What is special about the Messages API: how a prompt is written, and what comes back.
import { Anthropic } from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type AnthropicOptions, anthropicProvider, type ModelTool } from "../../../src/runtime/index.ts";
import {
  overloaded,
  type StrictUpstream,
  type StrictUpstreamOptions,
  say,
  script,
  startStrictUpstream,
} from "../../../src/testing/index.ts";
import { apiKey, listener, prompt, text, user } from "../provider-kit.ts";

const upstreams: StrictUpstream[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(upstreams.splice(0).map((upstream) => upstream.close()));
});

async function startProvider(options: StrictUpstreamOptions, own: AnthropicOptions = {}) {
  const upstream = await startStrictUpstream(options);
  upstreams.push(upstream);
  const provider = anthropicProvider({ apiKey, baseUrl: upstream.url, ...own });
  const bodies = () => upstream.exchanges.map(({ body }) => JSON.parse(String(body)) as unknown);
  return { upstream, provider, bodies };
}

const model = { model: "claude-opus-5-5" };
const tool: ModelTool = { name: "look", description: "Looks.", input_schema: { type: "object" } };

describe("the body of a prompt", () => {
  it("holds the fields of the request and nothing else", async () => {
    const { provider, bodies } = await startProvider({ model: script([say("yes")]) });
    await provider.ask(prompt(model), listener());
    expect(bodies()).toEqual([
      {
        model: "claude-opus-5-5",
        max_tokens: 1_000,
        messages: [{ role: "user", content: [text("Good morning.")] }],
        stream: true,
      },
    ]);
  });

  it("has cache marks on the last system text and on the named blocks", async () => {
    const { provider, bodies } = await startProvider({ model: script([say("yes")]) });
    const system = [text("one"), text("two")];
    const messages = [user(text("a"), text("b"))];
    const marks = [{ in: "system" }, { in: "message", message: 0, block: 1 }] as const;
    await provider.ask(prompt(model, { system, messages, marks }), listener());
    const cache_control = { type: "ephemeral" };
    expect(bodies()[0]).toMatchObject({
      system: [text("one"), { ...text("two"), cache_control }],
      messages: [{ content: [text("a"), { ...text("b"), cache_control }] }],
    });
  });

  it("forbids tools only if there are some", async () => {
    const { provider, bodies } = await startProvider({ model: () => say("yes") });
    await provider.ask(prompt(model, { tools: [tool], toolChoice: "none" }), listener());
    await provider.ask(prompt(model, { toolChoice: "none" }), listener());
    expect(bodies()[0]).toMatchObject({ tools: [tool], tool_choice: { type: "none" } });
    expect(bodies()[1]).not.toHaveProperty("tool_choice");
  });

  it("takes further fields and headers", async () => {
    const fields = { thinking: { type: "adaptive" } };
    const headers = { "anthropic-beta": "context-1m-2025-08-07" };
    const { provider, bodies, upstream } = await startProvider(
      { model: script([say("yes")]) },
      { fields, headers },
    );
    expect(await provider.ask(prompt(model), listener())).toMatchObject({ ok: true });
    expect(bodies()[0]).toMatchObject(fields);
    expect(upstream.exchanges[0]?.rawHeaders).toContain("context-1m-2025-08-07");
  });
});

describe("an answer", () => {
  it.each([true, false])("keeps unknown blocks as they came (streamed: %s)", async (stream) => {
    const block = { type: "hologram", shape: { points: [1, 2.5, null] }, text: "not a text" };
    const reply = {
      content: [
        { type: "raw", block },
        { type: "text", text: "there" },
      ],
    } as const;
    const { provider } = await startProvider({ model: script([reply]) }, { stream });
    const ear = listener();
    const answer = await provider.ask(prompt(model), ear);
    expect(answer).toMatchObject({ ok: true, value: { content: [block, text("there")] } });
  });

  it("that ends in an error event has the error's status", async () => {
    const fault = {
      type: "error-event",
      events: 4,
      errorType: "overloaded_error",
      message: "Overloaded",
    } as const;
    const { provider } = await startProvider({
      fault: () => fault,
      model: script([say("half of it was said")]),
    });
    const details = { status: 529, retryable: true, problem: "Overloaded" };
    const result = await provider.ask(prompt(model), listener());
    expect(result).toMatchObject({ error: { code: "AP_PROVIDER_REFUSED", details } });
  });

  it("is not retryable if the provider says so", async () => {
    const fault = { ...overloaded(), headers: { "x-should-retry": "false" } };
    const { provider } = await startProvider({ fault: () => fault });
    const result = await provider.ask(prompt(model), listener());
    expect(result).toMatchObject({ error: { details: { status: 529, retryable: false } } });
  });
});

describe("credentials", () => {
  it("are masked in errors, even if the provider repeats them", async () => {
    const { provider } = await startProvider({ fault: () => ({ type: "echo-credential" }) });
    const result = await provider.ask(prompt(model), listener());
    expect(result).toMatchObject({
      error: { code: "AP_PROVIDER_REFUSED", details: { status: 401, retryable: false } },
    });
    expect(JSON.stringify(result)).toContain("***");
    expect(JSON.stringify(result)).not.toContain(apiKey);
  });

  it("may come with one's own client, whose retries are turned off", async () => {
    const { upstream } = await startProvider({ fault: () => overloaded() });
    const client = new Anthropic({ apiKey: "another-key-of-tests", baseURL: upstream.url, maxRetries: 5 });
    const result = await anthropicProvider({ client }).ask(prompt(model), listener());
    expect(result).toMatchObject({ error: { details: { status: 529 } } });
    expect(upstream.exchanges).toHaveLength(1);
    expect(upstream.exchanges[0]?.rawHeaders).toContain("Bearer another-key-of-tests");
  });

  it("that are missing give an error that is not retryable", async () => {
    for (const name of ["API_KEY", "AUTH_TOKEN", "PROFILE"]) vi.stubEnv(`ANTHROPIC_${name}`, undefined);
    vi.stubEnv("ANTHROPIC_CONFIG_DIR", "nowhere");
    const { upstream } = await startProvider({});
    const result = await anthropicProvider({ baseUrl: upstream.url }).ask(prompt(model), listener());
    expect(result).toMatchObject({ error: { code: "AP_PROVIDER_SETUP", details: { retryable: false } } });
    expect(upstream.exchanges).toHaveLength(0);
  });
});
