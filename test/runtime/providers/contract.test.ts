// The contract of every provider: the same tests for all of them, through the official clients and real
// sockets, against an upstream that refuses everything the real one might refuse.
import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import {
  type ModelAnswer,
  type ModelMessage,
  type ModelTool,
  withRetries,
} from "../../../src/runtime/index.ts";
import {
  call,
  internalError,
  type ModelReply,
  overloaded,
  rateLimited,
  type StrictUpstream,
  type StrictUpstreamOptions,
  say,
  script,
  type UpstreamFault,
} from "../../../src/testing/index.ts";
import { inEvents, listener, prompt, text, user, type Way, ways } from "../provider-kit.ts";

const upstreams: StrictUpstream[] = [];
afterEach(async () => {
  await Promise.all(upstreams.splice(0).map((upstream) => upstream.close()));
});

async function startUpstream(way: Way, options: StrictUpstreamOptions) {
  const upstream = await way.start(options);
  upstreams.push(upstream);
  return { upstream, provider: way.provider(upstream.url) };
}

const weather: ModelTool = {
  name: "weather",
  description: "Says what the weather is like.",
  input_schema: { type: "object", properties: { place: { type: "string" } } },
};
const clock: ModelTool = { name: "clock", description: "", input_schema: { type: "object", properties: {} } };

function assistantMessage({ content }: ModelAnswer): ModelMessage {
  return { role: "assistant", content };
}

function answerOf(result: { readonly ok: boolean }): ModelAnswer {
  expect(result).toMatchObject({ ok: true });
  return (result as unknown as { readonly value: ModelAnswer }).value;
}

describe.each(ways)("$name, with text", (way) => {
  it("answers in text and reports the tokens", async () => {
    const words = "Good morning \u{1f305} to you, and to everybody else who is up by now.";
    const { provider } = await startUpstream(way, { model: script([say(words)]) });
    const texts = listener();
    const answer = answerOf(await provider.ask(prompt(way), texts));
    expect(answer.content).toEqual([text(words)]);
    expect(answer).toMatchObject({ stop: "end_turn", usage: { cacheRead: 0, cacheWrite: 0 } });
    expect(answer.usage.input).toBeGreaterThan(0);
    expect(answer.usage.output).toBeGreaterThan(0);
    const isStreamed = inEvents.includes(way);
    expect(texts.pieces.join("")).toBe(isStreamed ? words : "");
    if (isStreamed) expect(texts.pieces.length).toBeGreaterThan(2);
  });

  it("leaves no listeners on a signal that is used many times", async () => {
    const { provider } = await startUpstream(way, { model: () => say("yes") });
    const texts = listener();
    for (let n = 0; n < 12; n += 1)
      expect(await provider.ask(prompt(way), texts)).toMatchObject({ ok: true });
    expect(getEventListeners(texts.signal, "abort").length).toBeLessThan(3);
  });

  it("sends the whole system text, the stop sequences and the limit", async () => {
    const { provider, upstream } = await startUpstream(way, { model: script([say("x".repeat(400))]) });
    const system = ["You are one.", "You are two.", "You are three."].map(text);
    const request = prompt(way, { system, stopSequences: ["STOP"], maxTokens: 50 });
    expect(answerOf(await provider.ask(request, listener())).stop).toBe("max_tokens");
    const body = String(upstream.exchanges[0]?.body);
    for (const words of ["You are one.", "You are two.", "You are three.", "STOP"])
      expect(body).toContain(words);
  });
});

describe.each(ways)("$name, with tools", (way) => {
  it("returns parallel calls, and accepts results with pictures and failures", async () => {
    const calls = ["Oslo", "Lima"].map(
      (place) => ({ type: "tool_use", name: "weather", input: { place } }) as const,
    );
    const replies: readonly ModelReply[] = [
      {
        content: [
          { type: "text", text: "Let me see." },
          ...calls,
          { type: "tool_use", name: "clock", input: {} },
        ],
      },
      say("It snows."),
    ];
    const { provider } = await startUpstream(way, { model: script(replies) });
    const opening = user(text("What is the weather like?"));
    const tools = [weather, clock];
    const first = answerOf(await provider.ask(prompt(way, { messages: [opening], tools }), listener()));
    expect(first.stop).toBe("tool_use");
    expect(first.content).toMatchObject([
      { type: "text" },
      ...calls,
      { type: "tool_use", name: "clock", input: {} },
    ]);
    const [one, two, three] = first.content.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
    };
    const results = [
      { type: "tool_result", tool_use_id: one ?? "", content: [text("snow"), image] },
      { type: "tool_result", tool_use_id: two ?? "", content: "", is_error: true },
      { type: "tool_result", tool_use_id: three ?? "", content: "noon" },
    ];
    const messages = [opening, assistantMessage(first), user(...results, text("Be brief."))];
    const second = answerOf(await provider.ask(prompt(way, { messages, tools }), listener()));
    expect(second.content).toEqual([text("It snows.")]);
  });

  it("sends reasoning back exactly as it came, over several turns, to a model that binds it", async () => {
    const thought = (words: string): ModelReply => ({
      content: [
        { type: "thinking", thinking: `I think: ${words}` },
        { type: "redacted_thinking" },
        { type: "tool_use", name: "weather", input: { place: words } },
      ],
    });
    const replies = [thought("Oslo"), thought("Lima \u{1f30d}"), say("Snow and sun.")];
    const { provider } = await startUpstream(way, { model: script(replies), binding: "every-model" });
    const messages: ModelMessage[] = [user(text("Compare the weather."))];
    const system = [text("You are thorough.")];
    for (const { content } of replies) {
      const answer = answerOf(
        await provider.ask(prompt(way, { system, messages, tools: [weather] }), listener()),
      );
      expect(answer.content.map(({ type }) => type)).toEqual(content.map(({ type }) => type));
      const id = answer.content.at(-1)?.["id"] as string | undefined;
      messages.push(assistantMessage(answer));
      if (id !== undefined) messages.push(user({ type: "tool_result", tool_use_id: id, content: "fine" }));
    }
    const edited = messages.map((message) => JSON.parse(JSON.stringify(message).replace("Compare", "Judge")));
    const refused = await provider.ask(
      prompt(way, { system, messages: [...edited.slice(0, 3)], tools: [weather] }),
      listener(),
    );
    expect(refused).toMatchObject({ error: { code: "AP_PROVIDER_REFUSED", details: { status: 400 } } });
  });
});

describe.each(ways)("$name, with cache marks", (way) => {
  it("reads marked prompts from the cache, and leaves the caller's blocks unchanged", async () => {
    const replies = [say("one"), say("two")];
    const { provider } = await startUpstream(way, { model: script(replies) });
    const system = [text("first"), text("All of this is known. ".repeat(200))];
    const opening = user(text("Tell me more. ".repeat(200)), text("And more."));
    const messages: ModelMessage[] = [opening];
    const marks = [{ in: "system" }, { in: "message", message: 0, block: 0 }] as const;
    const before = JSON.stringify([system, opening]);
    const first = answerOf(await provider.ask(prompt(way, { system, messages, marks }), listener()));
    expect(first.usage).toMatchObject({ cacheRead: 0 });
    expect(first.usage.cacheWrite).toBeGreaterThan(1_000);
    messages.push(assistantMessage(first), user(text("Go on.")));
    const second = answerOf(await provider.ask(prompt(way, { system, messages, marks }), listener()));
    expect(second.usage).toMatchObject({ cacheRead: first.usage.cacheWrite, cacheWrite: 0 });
    expect(JSON.stringify([system, opening])).toBe(before);
  });

  it("leaves out a mark on reasoning", async () => {
    const thinking: ModelReply = {
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "yes" },
      ],
    };
    const { provider } = await startUpstream(way, { model: script([thinking, say("no")]) });
    const opening = user(text("Is it?"));
    const first = answerOf(await provider.ask(prompt(way, { messages: [opening] }), listener()));
    const messages = [opening, assistantMessage(first), user(text("Really?"))];
    const marks = [{ in: "system" }, { in: "message", message: 1, block: 0 }] as const;
    const second = await provider.ask(prompt(way, { messages, marks }), listener());
    expect(answerOf(second).content).toEqual([text("no")]);
  });
});

describe.each(ways)("$name, when the provider refuses", (way) => {
  it.each([
    { fault: rateLimited(7), status: 429, retryAfterMs: 7_000 },
    { fault: overloaded(), status: 529, retryAfterMs: null },
    { fault: internalError(), status: 500, retryAfterMs: null },
  ])("says that $status is retryable", async ({ fault, status, retryAfterMs }) => {
    const { provider } = await startUpstream(way, { fault: () => fault });
    const result = await provider.ask(prompt(way), listener());
    const known = way.name.startsWith("bedrock") && status === 529 ? 503 : status;
    const details = { provider: provider.name, status: known, retryable: true, retryAfterMs };
    expect(result).toMatchObject({ ok: false, error: { code: "AP_PROVIDER_REFUSED", details } });
  });

  it("asks once by default, and again only with retries", async () => {
    const faults: (UpstreamFault | null)[] = [overloaded(), internalError(), rateLimited(1)];
    const next = (): UpstreamFault | null => faults.shift() ?? null;
    const { provider, upstream } = await startUpstream(way, { fault: next, model: script([say("at last")]) });
    expect(await provider.ask(prompt(way), listener())).toMatchObject({ ok: false });
    expect(upstream.exchanges).toHaveLength(1);
    const waits: number[] = [];
    const sleep = (ms: number): Promise<void> => {
      waits.push(ms);
      return Promise.resolve();
    };
    const patient = withRetries(provider, { sleep, random: { float: () => 0 } });
    expect(answerOf(await patient.ask(prompt(way), listener())).content).toEqual([text("at last")]);
    expect(waits).toEqual([500, 1_000]);
    expect(upstream.exchanges).toHaveLength(4);
  });

  it("does not retry an invalid request, and reports the reason", async () => {
    const { provider, upstream } = await startUpstream(way, { model: script([say("no")]) });
    const request = prompt(way, { messages: [user(text("   "))] });
    const result = await withRetries(provider).ask(request, listener());
    expect(result).toMatchObject({
      error: { code: "AP_PROVIDER_REFUSED", details: { status: 400, retryable: false } },
    });
    expect(JSON.stringify(result)).toMatch(/blank|empty|text/);
    expect(upstream.exchanges).toHaveLength(1);
  });
});

describe.each(ways)("$name, when no answer comes", (way) => {
  it("reports a refused connection", async () => {
    const { provider, upstream } = await startUpstream(way, {});
    await upstream.close();
    const error = { code: "AP_PROVIDER_UNREACHABLE", details: { retryable: true } };
    const result = await provider.ask(prompt(way), listener());
    expect(result).toMatchObject({ ok: false, error });
    expect(JSON.stringify(result)).toContain("ECONNREFUSED");
  });

  it.each([
    { type: "reset-before-head" },
    { type: "not-http", text: "220 mail.example.com ESMTP\r\n" },
  ] as const)("reports that no answer came: $type", async (fault) => {
    const { provider } = await startUpstream(way, { fault: () => fault });
    const result = await provider.ask(prompt(way), listener());
    expect(result).toMatchObject({
      error: { code: "AP_PROVIDER_UNREACHABLE", details: { retryable: true } },
    });
  });

  it.each([
    { type: "reset-after-bytes", bytes: 0 },
    { type: "reset-after-bytes", bytes: 40 },
    { type: "short-body", missing: 9 },
    { type: "end-after-bytes", bytes: 40 },
    { type: "headers", headers: { "content-type": "text/html" } },
  ] as const)("never accepts a damaged answer: $type", async (fault) => {
    const { provider } = await startUpstream(way, {
      fault: () => fault,
      model: script([say("one two three")]),
    });
    const result = await provider.ask(prompt(way), listener());
    if (fault.type === "headers" && result.ok) expect(result.value.content).toEqual([text("one two three")]);
    else expect(result).toMatchObject({ ok: false, error: { details: { retryable: true } } });
  });

  it("stops at once when it is aborted before the first event of an answer", async () => {
    const fault = { type: "hang-after-events", events: 0 } as const;
    const { provider, upstream } = await startUpstream(way, {
      fault: () => fault,
      model: script([say("no")]),
    });
    const texts = listener();
    const answering = provider.ask(prompt(way), texts);
    await expect.poll(() => upstream.exchanges[0]?.status).toBe(200);
    setTimeout(() => texts.abort(), 20);
    expect(await answering).toMatchObject({ ok: false, error: { code: "AP_PROVIDER_CANCELLED" } });
    await expect.poll(() => upstream.exchanges[0]?.closed).toBe("client-left");
  });

  it("stops at once when it is aborted before or during the request", async () => {
    const { provider, upstream } = await startUpstream(way, { fault: () => ({ type: "hang-before-head" }) });
    const cancelled = { ok: false, error: { code: "AP_PROVIDER_CANCELLED", details: { retryable: false } } };
    const early = listener();
    early.abort();
    expect(await withRetries(provider).ask(prompt(way), early)).toMatchObject(cancelled);
    const late = listener();
    const answering = withRetries(provider).ask(prompt(way), late);
    await expect.poll(() => upstream.exchanges.length).toBe(1);
    late.abort();
    expect(await answering).toMatchObject(cancelled);
    await expect.poll(() => upstream.exchanges[0]?.closed).toBe("client-left");
  });
});

describe.each(inEvents)("$name, when the answer breaks off", (way) => {
  const words = "one two three four five six seven eight nine ten";

  it.each([
    { type: "reset-after-events", events: 4 },
    { type: "end-after-events", events: 4 },
    { type: "end-after-bytes", bytes: 700 },
    { type: "close-after-events", events: 4 },
    {
      type: "garbage-after-events",
      events: 3,
      bytes: Buffer.from("event: x\ndata: {oops\n\n\0\0\0\0\0\0\0"),
    },
  ] as const)("reports it, and the next attempt starts from the beginning: $type", async (fault) => {
    const faults: UpstreamFault[] = [fault];
    const next = (): UpstreamFault | null => faults.shift() ?? null;
    const { provider } = await startUpstream(way, { fault: next, model: script([say(words), say(words)]) });
    const first = listener();
    const broken = await provider.ask(prompt(way), first);
    expect(broken).toMatchObject({ error: { code: "AP_PROVIDER_BROKEN", details: { retryable: true } } });
    if ("events" in fault && fault.events > 3) expect(first.pieces.length).toBeGreaterThan(0);
    faults.push(fault);
    const { provider: again } = await startUpstream(way, {
      fault: next,
      model: script([say(words), say(words)]),
    });
    const second = listener();
    const patient = withRetries(again, { firstDelayMs: 1 });
    expect(answerOf(await patient.ask(prompt(way), second)).content).toEqual([text(words)]);
    expect(second.pieces.join("")).toBe(words);
  });

  it("never accepts a part of an answer as the whole, wherever it ends", async () => {
    const bytes = { at: 0 };
    const { provider } = await startUpstream(way, {
      model: () => call("weather", { place: "Oslo" }),
      fault: () => ({ type: "end-after-bytes", bytes: bytes.at }),
    });
    for (bytes.at = 0; bytes.at < 900; bytes.at += 61) {
      const result = await provider.ask(prompt(way, { tools: [weather] }), listener());
      expect(result, `${bytes.at} bytes`).toMatchObject({
        ok: false,
        error: { details: { retryable: true } },
      });
    }
  });

  it("stops when it is aborted in the middle of an answer", async () => {
    const fault: UpstreamFault = { type: "hang-after-events", events: 4 };
    const { provider, upstream } = await startUpstream(way, {
      fault: () => fault,
      model: script([say(words)]),
    });
    const texts = listener(() => texts.abort());
    const result = await provider.ask(prompt(way), texts);
    expect(result).toMatchObject({ error: { code: "AP_PROVIDER_CANCELLED" } });
    await expect.poll(() => upstream.exchanges[0]?.closed).toBe("client-left");
  });
});
