import { describe, expect, test } from "vitest";
import { ask, jsonOf, rawRequest } from "../../test/support/ask.ts";
import { steppedClock } from "../../test/support/stepped-clock.ts";
import type { AnswerUsage } from "./answer-message.ts";
import { betaFor } from "./betas.ts";
import { say } from "./model-reply.ts";
import { strictCore } from "./strict-core.ts";

type Fields = Record<string, unknown>;

const mark = (ttl = "5m") => ({ cache_control: { type: "ephemeral", ttl } });
const long = (name: string, more: Fields = {}) => ({ type: "text", text: `${name} `.repeat(2000), ...more });
const short = (name: string, more: Fields = {}) => ({ type: "text", text: name, ...more });
const tool = (name: string) => ({ name, input_schema: { type: "object" } });
const minuteMs = 60_000;

function start() {
  const clock = steppedClock(0);
  const core = strictCore({ model: () => say("ok"), clock, secret: "s" });
  const headers = { "anthropic-beta": betaFor.clearAt };
  const base = { model: "claude-opus-5-5", max_tokens: 10 };
  const send = async (fields: Fields): Promise<AnswerUsage> => {
    const answer = await ask(core, rawRequest({ ...base, ...fields }, { headers }));
    expect(answer.problem).toBeNull();
    return (jsonOf(answer) as { usage: AnswerUsage }).usage;
  };
  return { clock, core, send, base };
}

const prompt = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const total = (usage: AnswerUsage) =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;

test("a marked prompt is written once and read from then on", async () => {
  const { send } = start();
  const first = await send(prompt(long("a", mark()), short("b")));
  expect(first).toMatchObject({ cache_read_input_tokens: 0 });
  expect(first.cache_creation_input_tokens).toBeGreaterThan(500);
  expect(first.input_tokens).toBeLessThan(20);
  const second = await send(prompt(long("a", mark()), short("c"), short("d")));
  expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
  expect(second.cache_creation_input_tokens).toBe(0);
  expect(total(second)).toBeGreaterThan(total(first));
});

test("without a mark nothing is written, and the parts always add up", async () => {
  const { send } = start();
  const first = await send(prompt(long("a")));
  expect(first).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 });
  expect(await send(prompt(long("a", mark())))).toMatchObject({ cache_read_input_tokens: 0 });
});

test("a prompt below the minimum of its model is not cached, without an error", async () => {
  const { send } = start();
  const small = { type: "text", text: "x".repeat(3000), ...mark() };
  expect(
    (await send({ ...prompt(small), model: "claude-opus-5-5" })).cache_creation_input_tokens,
  ).toBeGreaterThan(512);
  expect((await send({ ...prompt(small), model: "claude-opus-4-8" })).cache_creation_input_tokens).toBe(0);
});

describe("looking back", () => {
  const filler = (n: number) => Array.from({ length: n }, (_, at) => short(`f${at}`));

  test("a mark covers twenty positions, its own included", async () => {
    const { send } = start();
    const first = await send(prompt(long("a", mark())));
    const near = await send(prompt(long("a"), ...filler(18), short("z", mark())));
    expect(near.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    const other = start();
    await other.send(prompt(long("a", mark())));
    const far = await other.send(prompt(long("a"), ...filler(19), short("z", mark())));
    expect(far.cache_read_input_tokens).toBe(0);
  });

  test("a run of calls is one position, and so is a run of results", async () => {
    const { send } = start();
    await send(prompt(long("a", mark())));
    const ids = Array.from({ length: 30 }, (_, at) => `id${at}`);
    const messages = [
      { role: "user", content: [long("a")] },
      { role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "x", input: {} })) },
      { role: "user", content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "r" })) },
      { role: "user", content: [short("next", mark())] },
    ];
    expect((await send({ messages })).cache_read_input_tokens).toBeGreaterThan(500);
  });

  test("finds only positions that were marked when they were written", async () => {
    const { send } = start();
    await send(prompt(long("a"), long("b", mark())));
    expect((await send(prompt(long("a", mark()), long("c")))).cache_read_input_tokens).toBe(0);
  });
});

describe("lifetime", () => {
  test("is five minutes, and each read starts them anew", async () => {
    const { send, clock } = start();
    const body = prompt(long("a", mark()));
    await send(body);
    for (let turn = 0; turn < 3; turn += 1) {
      clock.advance(4 * minuteMs);
      expect((await send(body)).cache_read_input_tokens).toBeGreaterThan(0);
    }
    clock.advance(5 * minuteMs);
    expect((await send(body)).cache_read_input_tokens).toBe(0);
  });

  test("is an hour for marks of an hour, and the usage lists them apart", async () => {
    const { send, clock } = start();
    const usage = await send({ system: [long("a", mark("1h"))], ...prompt(long("b", mark())) });
    expect(usage.cache_creation.ephemeral_1h_input_tokens).toBeGreaterThan(500);
    expect(usage.cache_creation.ephemeral_5m_input_tokens).toBeGreaterThan(500);
    clock.advance(59 * minuteMs);
    const later = await send({ system: [long("a", mark("1h"))], ...prompt(long("b", mark())) });
    expect(later.cache_read_input_tokens).toBe(usage.cache_creation.ephemeral_1h_input_tokens);
    expect(later.cache_creation.ephemeral_5m_input_tokens).toBe(
      usage.cache_creation.ephemeral_5m_input_tokens,
    );
  });

  test("counts from the request, and an entry is readable only once the answer starts", async () => {
    const { core, base, send, clock } = start();
    const body = { ...base, ...prompt(long("a", mark())) };
    const answer = await core.answer(core.read(rawRequest(body)), 1);
    expect((await send(prompt(long("b"), long("a", mark())))).cache_read_input_tokens).toBe(0);
    const early = await core.answer(core.read(rawRequest(body)), 2);
    expect(early.usage?.cache_read_input_tokens).toBe(0);
    clock.advance(4 * minuteMs);
    answer.onStart();
    clock.advance(2 * minuteMs);
    expect((await send(body)).cache_read_input_tokens).toBe(0);
  });
});

describe("the cost of a change", () => {
  const whole: Fields = {
    tools: [{ ...tool("a"), description: "long ".repeat(1000), ...mark() }, tool("b")],
    system: [long("s", mark())],
    ...prompt(long("m", mark())),
  };
  const tools = whole["tools"] as readonly Fields[];

  test.each<[string, Fields, "all" | "tools" | "system" | "nothing"]>([
    ["nothing", {}, "all"],
    ["the limit", { max_tokens: 20 }, "all"],
    ["the user id", { metadata: { user_id: "u" } }, "all"],
    ["the model", { model: "claude-sonnet-5-5" }, "nothing"],
    ["the order of tools", { tools: [...tools].reverse() }, "nothing"],
    ["a tool", { tools: [...tools, tool("c")] }, "tools"],
    ["the system prompt", { system: [long("t", mark())] }, "tools"],
    ["the speed", { speed: "fast" }, "tools"],
    ["the choice of tools", { tool_choice: { type: "none" } }, "system"],
    ["thinking", { thinking: { type: "adaptive" } }, "system"],
    ["the effort", { output_config: { effort: "low" } }, "system"],
    ["a message", prompt(long("n", mark())), "system"],
  ])("after a change of %s", async (_name, fields, kept) => {
    const { send } = start();
    await send(whole);
    const usage = await send({ ...whole, ...fields });
    const { cache_read_input_tokens: read } = usage;
    const parts = { nothing: [0, 1], tools: [1000, 1600], system: [1601, 2600], all: [2601, 4000] }[kept];
    expect(read).toBeGreaterThanOrEqual(parts[0] ?? 0);
    expect(read).toBeLessThan(parts[1] ?? 0);
  });

  test("is zero for string or block form, and for marks", async () => {
    const { send } = start();
    const content = "m ".repeat(2000);
    await send({ messages: [{ role: "user", content: [{ type: "text", text: content, ...mark() }] }] });
    const messages = [
      { role: "user", content },
      { role: "assistant", content: "ok" },
      { role: "user", content: [short("x", mark())] },
    ];
    expect((await send({ messages })).cache_read_input_tokens).toBeGreaterThan(900);
  });

  test("is zero for a message that cleared itself", async () => {
    const { send } = start();
    const tail = { role: "system", clear_at: "next_user_message", content: "now ".repeat(1000) };
    const first = await send({ messages: [{ role: "user", content: [long("a", mark())] }, tail] });
    expect(first.input_tokens).toBeGreaterThan(500);
    const second = await send({
      messages: [
        { role: "user", content: [long("a")] },
        tail,
        { role: "assistant", content: "ok" },
        { role: "user", content: [short("b", mark())] },
      ],
    });
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(total(second)).toBeLessThan(total(first));
  });

  test("is zero with an automatic mark, which is put on the last block", async () => {
    const { send } = start();
    const first = await send({ ...prompt(long("a"), short("b")), ...mark() });
    expect(first.input_tokens).toBe(0);
    expect((await send({ ...prompt(long("a"), short("b")), ...mark() })).cache_read_input_tokens).toBe(
      total(first),
    );
  });
});

test("counting tokens neither reads nor writes the cache, and agrees with the usage", async () => {
  const { core, base, send } = start();
  const body = { ...base, ...prompt(long("a", mark())) };
  const { max_tokens: _, ...counted } = body;
  const answer = await ask(core, rawRequest(counted, { target: "/v1/messages/count_tokens" }));
  const usage = await send(body);
  expect(usage.cache_read_input_tokens).toBe(0);
  expect(jsonOf(answer)).toEqual({ input_tokens: total(usage) });
});

test("a limit of 0 tokens warms the cache", async () => {
  const { send } = start();
  const warm = await send({ ...prompt(long("a", mark())), max_tokens: 0 });
  expect(warm.cache_creation_input_tokens).toBeGreaterThan(500);
  expect((await send(prompt(long("a", mark())))).cache_read_input_tokens).toBe(
    warm.cache_creation_input_tokens,
  );
});
