import { describe, expect, test } from "vitest";
import { rawRequest } from "../../test/support/ask.ts";
import { steppedClock } from "../../test/support/stepped-clock.ts";
import { betaFor } from "./betas.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import { readRawRequest } from "./read-raw-request.ts";
import { strictCore } from "./strict-core.ts";

type Fields = Readonly<Record<string, unknown>>;

const call = (id: string, name = "read") => ({ type: "tool_use", id, name, input: { id } });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: `all of ${id}` });
const turn = (...calls: readonly ReturnType<typeof call>[]) => [
  { role: "assistant", content: calls },
  { role: "user", content: calls.map(({ id }) => result(id)) },
];
const begin = { role: "user", content: "begin" };
const three = [begin, ...turn(call("a")), ...turn(call("b", "plan")), ...turn(call("c"))];
const uses = (value: number) => ({ type: "tool_uses", value });
const clear = (over: Fields = {}) => ({
  type: "clear_tool_uses_20250919",
  trigger: uses(1),
  keep: uses(1),
  ...over,
});

function bodyWith(edits: unknown, over: Fields = {}): Fields {
  const tools = ["read", "plan"].map((name) => ({ name, input_schema: { type: "object" } }));
  const base = { model: "claude-opus-5-5", max_tokens: 100, tools, messages: three };
  return { ...base, context_management: { edits }, ...over };
}

const headers = { "anthropic-beta": betaFor.contextManagement };

function verdict(edits: unknown, over: Fields = {}): string {
  const result = readRawRequest(rawRequest(bodyWith(edits, over), { headers }), {});
  return result.type === "problem" ? result.problem.message : "accepted";
}

type Case = { readonly edits: unknown; readonly over: Fields; readonly message: string };

describe("a request for edits", () => {
  const thinking = { type: "clear_thinking_20251015", keep: "all" };
  const adaptive = { thinking: { type: "adaptive" } };
  const server = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
  const searched = { type: "web_search_tool_result", tool_use_id: "s", content: [] };

  test.each<[string, Case]>([
    ["clearing results", { edits: [clear()], over: {}, message: "accepted" }],
    ["both edits in order", { edits: [thinking, clear()], over: adaptive, message: "accepted" }],
    ["the other order", { edits: [clear(), thinking], over: adaptive, message: "comes first" }],
    ["one edit twice", { edits: [clear(), clear()], over: {}, message: "each edit comes once" }],
    ["clearing reasoning without thinking", { edits: [thinking], over: {}, message: "needs thinking" }],
    ["an unknown edit", { edits: [{ type: "clear_all" }], over: {}, message: "is not known" }],
    ["an unknown field", { edits: [clear({ keeps: 1 })], over: {}, message: "keeps is not known" }],
    ["a number for an amount", { edits: [clear({ keep: 1 })], over: {}, message: "keep has another form" }],
    ["no list", { edits: "all", over: {}, message: "expected objects" }],
    [
      "an old model",
      { edits: [clear()], over: { model: "claude-3-5-sonnet-20241022" }, message: "has no context editing" },
    ],
    [
      "a summary",
      { edits: [{ type: "compact_20260112" }], over: {}, message: "needs the beta compact-2026-01-12" },
    ],
    [
      "an excluded tool that is older",
      { edits: [clear({ exclude_tools: ["plan"] })], over: {}, message: "accepted" },
    ],
    [
      "an excluded tool among the kept",
      { edits: [clear({ exclude_tools: ["read"] })], over: {}, message: "excluded tools count" },
    ],
    [
      "half of the calls of a message",
      {
        edits: [clear({ keep: uses(1) })],
        over: { messages: [begin, ...turn(call("a"), call("b"))] },
        message: "which call of one message",
      },
    ],
    [
      "tools that run at the provider",
      {
        edits: [clear()],
        over: { messages: [...three, { role: "assistant", content: [server, searched] }, begin] },
        message: "tools that run here count",
      },
    ],
  ])("%s", (_name, { edits, over, message }) => {
    expect(verdict(edits, over)).toContain(message);
  });
});

describe("an edit", () => {
  async function ask(edits: unknown, target = "/v1/messages") {
    const read: ParsedRequest[] = [];
    const model = (request: ParsedRequest) => {
      read.push(request);
      return { content: [{ type: "text", text: "Done." } as const] };
    };
    const core = strictCore({ model, clock: steppedClock(1_000), secret: "edits" });
    const { max_tokens: _, ...counted } = bodyWith(edits);
    const body = target.endsWith("count_tokens") ? counted : bodyWith(edits);
    const { chunks } = await core.answer(core.read(rawRequest(body, { headers, target })), 1);
    return {
      answer: JSON.parse(Buffer.concat(chunks).toString()),
      read: JSON.stringify(read[0]?.messages.map(({ content }) => content)),
    };
  }

  test("hides cleared results from the model, and the answer reports their number", async () => {
    const { answer, read } = await ask([clear()]);
    expect(["a", "b", "c"].filter((id) => read.includes(`all of ${id}`))).toEqual(["c"]);
    const [applied] = answer.context_management.applied_edits;
    expect(applied).toMatchObject({ type: "clear_tool_uses_20250919", cleared_tool_uses: 2 });
  });

  test("keeps results of excluded tools, and everything below the trigger", async () => {
    const { read } = await ask([clear({ exclude_tools: ["plan"] })]);
    expect(["a", "b", "c"].filter((id) => read.includes(`all of ${id}`))).toEqual(["b", "c"]);
    const { answer } = await ask([clear({ trigger: uses(3) })]);
    expect(answer.context_management.applied_edits).toEqual([]);
  });

  test("is reported by a count with the tokens before it", async () => {
    const { answer } = await ask([clear()], "/v1/messages/count_tokens");
    expect(answer.context_management.original_input_tokens).not.toBe(answer.input_tokens);
  });
});
