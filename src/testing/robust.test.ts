import fc from "fast-check";
import { expect, test } from "vitest";
import { ask, rawRequest } from "../../test/support/ask.ts";
import { steppedClock } from "../../test/support/stepped-clock.ts";
import { knownBetas } from "./betas.ts";
import { ruleAgent } from "./rule-agent.ts";
import { strictCore } from "./strict-core.ts";

const core = () => strictCore({ model: ruleAgent(), clock: steppedClock(0), secret: "s" });
const valid = { model: "claude-opus-5-5", max_tokens: 10, messages: [{ role: "user", content: "hello" }] };
const targets = ["/v1/messages", "/v1/messages/count_tokens"];

test("random bytes and random JSON are refused with a 4xx status", async () => {
  const strict = core();
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text)),
    fc.dictionary(fc.constantFrom(...Object.keys(valid), "system", "tools"), fc.jsonValue()).map((value) => {
      return Buffer.from(JSON.stringify(value));
    }),
  );
  await fc.assert(
    fc.asyncProperty(anything, fc.constantFrom(...targets), async (bytes, target) => {
      const answer = await ask(strict, rawRequest(bytes, { target }));
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
});

test("a body cut short at any byte is refused", async () => {
  const strict = core();
  const bytes = Buffer.from(JSON.stringify(valid));
  for (let length = 0; length < bytes.length; length += 1) {
    expect((await ask(strict, rawRequest(bytes.subarray(0, length)))).status).toBe(400);
  }
  expect((await ask(strict, rawRequest(bytes))).status).toBe(200);
});

/** Nearly valid requests: the words of the API at random positions. */
const word = fc.constantFrom("user", "assistant", "system", "text", "a", "", " ", "tool_use", "5m");
const scalar = fc.oneof(word, fc.integer({ min: -1, max: 2 }), fc.boolean(), fc.constant(null));
const types = fc.constantFrom(
  ...["text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "compaction"],
  ...["tool_addition", "tool_removal", "server_tool_use", "tool_reference", "document"],
);
const block = fc.record(
  {
    type: types,
    text: scalar,
    thinking: word,
    signature: word,
    data: word,
    id: word,
    name: word,
    input: fc.oneof(fc.constant({}), scalar),
    tool_use_id: word,
    content: fc.oneof(
      scalar,
      fc.array(fc.record({ type: types, text: word, tool_name: word }), { maxLength: 2 }),
    ),
    tool: fc.oneof(fc.constant({}), fc.record({ type: word, name: word, definition: fc.constant({}) })),
    cache_control: fc.oneof(
      scalar,
      fc.record({ type: fc.constant("ephemeral"), ttl: word }, { requiredKeys: [] }),
    ),
  },
  { requiredKeys: ["type"] },
);
const message = fc.record(
  {
    role: fc.constantFrom("user", "assistant", "system"),
    content: fc.oneof(word, fc.array(block, { maxLength: 3 })),
    clear_at: word,
    output_config: fc.oneof(scalar, fc.record({ effort: word })),
  },
  { requiredKeys: ["role", "content"] },
);
const request = fc.record(
  {
    model: fc.constantFrom("claude-opus-5-5", "claude-sonnet-4-5", "claude-opus-4-8"),
    max_tokens: fc.integer({ min: 0, max: 5 }),
    messages: fc.array(message, { maxLength: 5 }),
    system: fc.oneof(scalar, fc.array(block, { maxLength: 2 })),
    tools: fc.array(fc.oneof(scalar, fc.record({ name: word, type: word, input_schema: scalar })), {
      maxLength: 2,
    }),
    thinking: fc.record({ type: fc.constantFrom("adaptive", "enabled", "x"), block_binding: scalar }),
    tool_choice: fc.record({ type: word }),
    cache_control: fc.record({ type: fc.constant("ephemeral") }),
    compaction: fc.record({ type: fc.constant("summarize") }),
  },
  { requiredKeys: ["model", "max_tokens", "messages"] },
);

type Loose = { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };

/** A few rules again, in the simplest form. */
function looksValid({ messages }: Loose): boolean {
  const texts = JSON.stringify(messages);
  const calls = texts.split('"type":"tool_use"').length;
  const results = texts.split('"type":"tool_result"').length;
  return messages.length > 0 && messages[0]?.role !== "system" && calls === results;
}

test("nearly valid requests never break the core, and accepted ones look valid", async () => {
  const strict = core();
  const headers = { "anthropic-beta": [...knownBetas].join(",") };
  await fc.assert(
    fc.asyncProperty(request, async (body) => {
      const answer = await ask(strict, rawRequest(body, { headers }));
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 200) expect(looksValid(body)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a request of a megabyte is read, checked and answered", async () => {
  const strict = core();
  const turns = Array.from({ length: 400 }, (_, n) => [
    { role: "user", content: `Question ${n}: ${'"quoted" text\n'.repeat(85)}` },
    { role: "assistant", content: [{ type: "text", text: `Answer ${n}: ${"plain text ".repeat(110)}` }] },
  ]).flat();
  const messages = [...turns, { role: "user", content: "go on" }];
  const raw = rawRequest({ ...valid, messages, cache_control: { type: "ephemeral" } });
  expect(raw.body.length).toBeGreaterThan(1_000_000);
  expect((await ask(strict, raw)).status).toBe(200);
});
