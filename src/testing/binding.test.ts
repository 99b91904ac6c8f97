import { describe, expect, test } from "vitest";
import { ask, jsonOf, rawRequest } from "../../test/support/ask.ts";
import { steppedClock } from "../../test/support/stepped-clock.ts";
import { betaFor } from "./betas.ts";
import { type ReplyBlock, script } from "./model-reply.ts";
import { type StrictCore, type StrictCoreOptions, strictCore } from "./strict-core.ts";

type Fields = Record<string, unknown>;
type Message = { readonly role: string; readonly content: unknown; readonly [key: string]: unknown };

const text = (value: string, more: Fields = {}) => ({ type: "text", text: value, ...more });
const user = (...content: unknown[]): Message => ({ role: "user", content });
const mark = { cache_control: { type: "ephemeral" } };
const look = { name: "look", description: "looks", input_schema: { type: "object", properties: {} } };
const find = { name: "find", input_schema: { type: "object" } };
const later = { name: "later", input_schema: { type: "object" }, defer_loading: true };

const thought = (thinking: string): ReplyBlock => ({ type: "thinking", thinking });
const textReply = (value: string): ReplyBlock => ({ type: "text", text: value });
const called = (id: string): ReplyBlock => ({
  type: "tool_use",
  name: "look",
  input: { b: 1, a: { d: 2, c: 3 } },
  id,
});

function coreWith(
  replies: readonly (readonly ReplyBlock[])[],
  options: Partial<StrictCoreOptions> = {},
): StrictCore {
  const model = script(replies.map((content) => ({ content })));
  return strictCore({ model, clock: steppedClock(0), secret: "secret", ...options });
}

const base = {
  model: "claude-opus-5-5",
  max_tokens: 1000,
  system: "You look.",
  tools: [look, find],
  thinking: { type: "adaptive" },
};
const betas = { "anthropic-beta": [betaFor.bindingControls, betaFor.toolChanges, betaFor.clearAt].join(",") };

async function send(
  core: StrictCore,
  body: Fields,
): Promise<Message & { readonly content: readonly Fields[] }> {
  const answer = await ask(core, rawRequest(body, { headers: betas }));
  expect(answer.problem).toBeNull();
  return jsonOf(answer) as Message & { readonly content: readonly Fields[] };
}

async function verdict(core: StrictCore, body: Fields): Promise<string> {
  const raw = rawRequest(body, { headers: betas, target: "/v1/messages/count_tokens" });
  return (await ask(core, raw)).problem?.message ?? "accepted";
}

/** A conversation of three turns: u a(t,call) u(result) a(t,text) u a(t,text) u. */
async function conversation(options: Partial<StrictCoreOptions> = {}, fields: Fields = {}) {
  const core = coreWith(
    [
      [thought("first"), called("call_1")],
      [thought("second"), textReply(" seen ")],
      [thought("third"), textReply("bye")],
    ],
    options,
  );
  const messages: Message[] = [user(text("look there"))];
  const answers = [
    user({ type: "tool_result", tool_use_id: "call_1", content: "a tree" }),
    user(text("and then?")),
    user(text("thanks")),
  ];
  for (const answer of answers) {
    const { content } = await send(core, { ...base, ...fields, messages });
    messages.push({ role: "assistant", content }, answer);
  }
  return { core, body: { ...base, ...fields, messages } };
}

/** The messages with other content in one of them. */
function withContent(
  messages: readonly Message[],
  at: number,
  change: (content: readonly Fields[]) => unknown,
): Message[] {
  return messages.map((message, n) =>
    n === at ? { ...message, content: change(message.content as readonly Fields[]) } : message,
  );
}

const withoutThinking =
  (...at: readonly number[]) =>
  (messages: readonly Message[]) =>
    at.reduce<readonly Message[]>(
      (list, n) => withContent(list, n, (content) => content.filter(({ type }) => type !== "thinking")),
      messages,
    );

const bindingError =
  /^messages\.\d+\.content\.0: Invalid signature in thinking block\. The block is bound to a different/;

type Edit = readonly [string, (body: Awaited<ReturnType<typeof conversation>>["body"]) => Fields];
const inMessages =
  (edit: (messages: readonly Message[]) => readonly Message[]): Edit[1] =>
  (body) => ({ messages: edit(body.messages) });

test.each<Edit>([
  ["nothing", () => ({})],
  ["marks anywhere", () => ({ system: [text("You look.", mark)], tools: [look, { ...find, ...mark }] })],
  ["a mark in a message", inMessages((all) => withContent(all, 0, () => [text("look there", mark)]))],
  ["the order of tools", () => ({ tools: [find, look] })],
  ["a string instead of a block", inMessages((all) => withContent(all, 0, () => "look there"))],
  ["a block instead of a string", () => ({ system: [text("You look.")] })],
  [
    "a block instead of a string in a result",
    inMessages((all) => withContent(all, 2, ([result]) => [{ ...result, content: [text("a tree")] }])),
  ],
  ["outer whitespace", inMessages((all) => withContent(all, 0, () => "\n look there  "))],
  ["outer whitespace in the system prompt", () => ({ system: "You look.\n" })],
  ["outer whitespace of the answer", inMessages((all) => withContent(all, 3, ([t]) => [t, text("seen")]))],
  [
    "the order of keys",
    inMessages((all) =>
      withContent(all, 1, ([t]) => [
        t,
        { input: { a: { c: 3, d: 2 }, b: 1 }, name: "look", id: "call_1", type: "tool_use" },
      ]),
    ),
  ],
  [
    "the order of keys in a tool",
    () => ({ tools: [Object.fromEntries(Object.entries(look).reverse()), find] }),
  ],
  ["a deferred tool that is not named yet", () => ({ tools: [look, find, later] })],
  [
    "the limit, the effort, the tool choice and the user id",
    () => ({
      max_tokens: 7,
      output_config: { effort: "low" },
      tool_choice: { type: "none" },
      metadata: { user_id: "x" },
    }),
  ],
  ["neighbours of one role in one message", inMessages((all) => [...all, user(text("and more"))])],
  ["all reasoning dropped", inMessages(withoutThinking(1, 3, 5))],
  ["reasoning dropped from the front", inMessages(withoutThinking(1))],
  ["more of it dropped from the front", inMessages(withoutThinking(1, 3))],
  ["reasoning dropped from the back", inMessages(withoutThinking(5))],
  ["more of it dropped from the back", inMessages(withoutThinking(3, 5))],
  ["everything after the first answer taken back", inMessages((all) => all.slice(0, 3))],
])("does not count as an edit: %s", async (_name, edit) => {
  const { core, body } = await conversation();
  expect(await verdict(core, { ...body, ...edit(body) })).toBe("accepted");
});

test.each<Edit>([
  ["another system prompt", () => ({ system: "You search." })],
  ["a longer system prompt", () => ({ system: [text("You look."), text("And think.")] })],
  ["no system prompt", () => ({ system: undefined })],
  ["a tool more", () => ({ tools: [look, find, { ...later, defer_loading: false }] })],
  ["a tool less", () => ({ tools: [look] })],
  ["no tools", () => ({ tools: undefined })],
  ["another description", () => ({ tools: [{ ...look, description: "sees" }, find] })],
  ["another text", inMessages((all) => withContent(all, 0, () => "look here"))],
  ["inner whitespace", inMessages((all) => withContent(all, 0, () => "look  there"))],
  ["a trimmed result", inMessages((all) => withContent(all, 2, ([result]) => [{ ...result, content: "a" }]))],
  ["a pruned result", inMessages((all) => withContent(all, 2, ([result]) => [{ ...result, content: [] }]))],
  ["a reminder added", inMessages((all) => withContent(all, 2, ([result]) => [result, text("hurry")]))],
  ["a block split in two", inMessages((all) => withContent(all, 0, () => [text("look"), text("there")]))],
  [
    "another input",
    inMessages((all) => withContent(all, 1, ([t, call]) => [t, { ...call, input: { b: 1, a: { d: 2 } } }])),
  ],
  ["a turn removed", inMessages((all) => [...all.slice(0, 1), ...all.slice(3)])],
  ["a summary instead of turns", inMessages((all) => [user(text("they looked")), ...all.slice(3)])],
  ["reasoning removed from the middle", inMessages(withoutThinking(3))],
  [
    "a system message added",
    inMessages((all) => [all[0] as Message, { role: "system", content: "x" }, ...all.slice(1)]),
  ],
])("counts as an edit: %s", async (_name, edit) => {
  const { core, body } = await conversation();
  expect(await verdict(core, { ...body, ...edit(body) })).toMatch(bindingError);
});

describe("binding", () => {
  test("an unbound model checks the block and not the prefix", async () => {
    const { core, body } = await conversation({}, { model: "claude-opus-4-8" });
    expect(await verdict(core, { ...body, system: "Another." })).toBe("accepted");
    const forged = withContent(body.messages, 1, ([t, call]) => [{ ...t, thinking: "forged" }, call]);
    expect(await verdict(core, { ...body, messages: forged })).toContain(
      "messages.1.content.0: `thinking` blocks",
    );
    const resigned = withContent(body.messages, 1, ([t, call]) => [{ ...t, signature: "c2ln" }, call]);
    expect(await verdict(core, { ...body, messages: resigned })).toContain("Invalid `signature`");
  });

  test("applies to every model or to none, by mode", async () => {
    const every = await conversation({ binding: "every-model" }, { model: "claude-opus-4-8" });
    expect(await verdict(every.core, { ...every.body, system: "x" })).toMatch(bindingError);
    const none = await conversation({ binding: "off" });
    expect(await verdict(none.core, { ...none.body, system: "x" })).toBe("accepted");
  });

  test("reasoning of another model is dropped without a report, and costs nothing", async () => {
    const { core, body } = await conversation();
    const other = { ...body, model: "claude-sonnet-5-5", system: "Another." };
    expect(await verdict(core, other)).toBe("accepted");
  });

  test("redacted reasoning is bound in the same way", async () => {
    const core = coreWith([[{ type: "redacted_thinking" }, textReply("a")]]);
    const { content } = await send(core, { ...base, messages: [user(text("q"))] });
    const messages = [user(text("q")), { role: "assistant", content }, user(text("r"))];
    expect(await verdict(core, { ...base, messages })).toBe("accepted");
    expect(await verdict(core, { ...base, system: "x", messages })).toMatch(bindingError);
  });

  test("a deferred tool counts from the point where it is named", async () => {
    const core = coreWith([
      [thought("a"), called("c")],
      [thought("b"), textReply("d")],
    ]);
    const first = await send(core, { ...base, messages: [user(text("q"))] });
    const named = {
      type: "tool_result",
      tool_use_id: "c",
      content: [{ type: "tool_reference", tool_name: "later" }],
    };
    const messages: Message[] = [user(text("q")), { role: "assistant", content: first.content }, user(named)];
    const second = await send(core, { ...base, tools: [look, find, later], messages });
    messages.push({ role: "assistant", content: second.content }, user(text("r")));
    const edited = { ...later, description: "new" };
    expect(await verdict(core, { ...base, tools: [look, later, find], messages })).toBe("accepted");
    expect(await verdict(core, { ...base, tools: [look, find, edited], messages })).toMatch(
      /^messages\.3\.content\.0/,
    );
  });

  test("a number that is written differently is another input", async () => {
    const core = coreWith([[thought("b"), textReply("d")]]);
    const history = (n: string) =>
      `[{"role":"user","content":"q"},` +
      `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"look","input":{"n":${n}}}]},` +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}`;
    const whole = (messages: string) => JSON.stringify({ ...base, messages: "@" }).replace('"@"', messages);
    const answer = await ask(core, rawRequest(whole(`${history("1.0")}]`)));
    const { content } = jsonOf(answer) as Message;
    const next = (n: string) =>
      whole(`${history(n)},${JSON.stringify({ role: "assistant", content })},{"role":"user","content":"r"}]`);
    const target = "/v1/messages/count_tokens";
    expect((await ask(core, rawRequest(next("1.0"), { target }))).problem).toBeNull();
    expect((await ask(core, rawRequest(next("1"), { target }))).problem?.message).toMatch(/^messages\.3/);
  });
});

describe("escapes", () => {
  const drop = { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } };

  test("drop_block drops blocks that no longer fit, reports them, and the conversation goes on", async () => {
    const { core, body } = await conversation({}, {});
    const more = coreWith([[thought("fourth"), textReply("x")], [textReply("y")]]);
    const messages = withContent(body.messages, 2, ([result]) => [{ ...result, content: "a" }]);
    const answer = await send(more, { ...body, ...drop, messages });
    expect(answer["input_transformations"]).toEqual(
      [3, 5].map((n) => ({
        type: "thinking_dropped",
        path: `messages.${n}.content.0`,
        reason: "prefix_binding_mismatch",
      })),
    );
    const kept = [
      ...withoutThinking(3, 5)(messages),
      { role: "assistant", content: answer.content },
      user(text("r")),
    ];
    expect(await verdict(core, { ...body, messages: kept })).toBe("accepted");
    const putBack = [...messages, { role: "assistant", content: answer.content }, user(text("r"))];
    expect(await verdict(core, { ...body, messages: putBack })).toMatch(bindingError);
  });

  test("a summary by the server replaces what it summarized, and the kept tail stays valid", async () => {
    const { body } = await conversation();
    const headers = { "anthropic-beta": betaFor.compaction };
    const core = coreWith([[textReply("they looked")]]);
    const head = { ...body, messages: body.messages.slice(0, 3), compaction: { type: "summarize" } };
    const { content, stop_reason } = jsonOf(await ask(core, rawRequest(head, { headers }))) as Message;
    expect(stop_reason).toBe("compaction");
    const tail = [{ role: "assistant", content }, ...body.messages.slice(3)];
    expect(await verdict(core, { ...body, messages: tail })).toBe("accepted");
    expect(await verdict(core, { ...body, system: "x", messages: tail })).toMatch(bindingError);
    const forged = withContent(tail as Message[], 0, ([block]) => [{ ...block, content: "they slept" }]);
    expect(await verdict(core, { ...body, messages: forged })).toContain("`compaction` block");
  });

  test("foreign signatures are refused, or bound to the conversation where they are first seen", async () => {
    const { body } = await conversation();
    const refusing = coreWith([], { secret: "other" });
    expect(await verdict(refusing, body)).toContain("Invalid `signature`");
    const accepting = coreWith([], { secret: "other", foreignSignatures: "accept" });
    expect(await verdict(accepting, body)).toBe("accepted");
    expect(await verdict(accepting, body)).toBe("accepted");
    expect(await verdict(accepting, { ...body, system: "x" })).toMatch(bindingError);
    expect(await verdict(accepting, { ...body, messages: withoutThinking(3)(body.messages) })).toMatch(
      bindingError,
    );
  });
});
