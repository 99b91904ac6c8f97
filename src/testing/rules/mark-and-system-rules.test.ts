import { describe, expect, test } from "vitest";
import { rawRequest } from "../../../test/support/ask.ts";
import { betaFor } from "../betas.ts";
import { readRawRequest } from "../read-raw-request.ts";

type Fields = Record<string, unknown>;

const text = (value: string, more: Fields = {}) => ({ type: "text", text: value, ...more });
const user = (...content: unknown[]) => ({ role: "user", content: content.length === 0 ? "hello" : content });
const assistant = (...content: unknown[]) => ({ role: "assistant", content });
const system = (value: string, more: Fields = {}) => ({ role: "system", content: value, ...more });
const mark = (ttl = "5m") => ({ cache_control: { type: "ephemeral", ttl } });
const tool = (name: string, more: Fields = {}) => ({ name, input_schema: { type: "object" }, ...more });

/** The first broken rule, or "accepted". */
function verdict(fields: Fields, betas: readonly string[] = []): string {
  const body = { model: "claude-opus-5-5", max_tokens: 100, messages: [user()], ...fields };
  const result = readRawRequest(rawRequest(body, { headers: { "anthropic-beta": betas.join(",") } }), {});
  return result.type === "problem" ? result.problem.message : "accepted";
}

describe("cache marks", () => {
  const four = {
    system: [text("a", mark()), text("b", mark())],
    messages: [user(text("c", mark()), text("d", mark()))],
  };
  test.each<[string, Fields, string]>([
    ["four", four, "accepted"],
    ["five", { ...four, tools: [tool("a", mark())] }, "at most 4 marks are allowed, found 5"],
    ["four and the automatic one", { ...four, ...mark() }, "found 5"],
    [
      "long before short",
      { system: [text("a", mark("1h"))], messages: [user(text("b", mark()))] },
      "accepted",
    ],
    [
      "short before long",
      { system: [text("a", mark())], messages: [user(text("b", mark("1h")))] },
      "messages.0.content.0.cache_control.ttl",
    ],
    ["an unknown lifetime", { system: [text("a", mark("2h"))] }, "system.0.cache_control.ttl"],
    [
      "an unknown type",
      { system: [text("a", { cache_control: { type: "eternal" } })] },
      "expected the type ephemeral",
    ],
    ["none, as null", { system: [text("a", { cache_control: null })] }, "accepted"],
    [
      "on a deferred tool",
      { tools: [tool("a", { ...mark(), defer_loading: true })] },
      "tools.0.cache_control: a deferred tool",
    ],
    [
      "on thinking",
      {
        messages: [
          user(),
          assistant({ type: "thinking", thinking: "", signature: "", ...mark() }, text("a")),
          user(),
        ],
      },
      "messages.1.content.0.cache_control: a thinking block",
    ],
  ])("%s", (_name, fields, expected) => {
    expect(verdict(fields)).toContain(expected);
  });

  test("marks inside a tool result count", () => {
    const call = { type: "tool_use", id: "a", name: "x", input: {} };
    const inner = [1, 2, 3].map((n) => text(String(n), mark()));
    const answer = (more: Fields) => ({ type: "tool_result", tool_use_id: "a", content: inner, ...more });
    const messages = (more: Fields) => [user(), assistant(call), user(answer(more))];
    expect(verdict({ messages: messages(mark()) })).toBe("accepted");
    expect(verdict({ ...mark(), messages: messages(mark()) })).toContain("found 5");
  });
});

describe("system messages in the conversation", () => {
  const effort = { role: "system", content: [], output_config: { effort: "low" } };
  test.each<[string, unknown[], string]>([
    ["last, after the user", [user(), system("a")], "accepted"],
    ["before the assistant", [user(), system("a"), assistant(text("b")), user()], "accepted"],
    ["first", [system("a"), user()], "messages.0"],
    ["before the user", [user(), system("a"), user()], "messages.1: a system message is the last one"],
    [
      "after the assistant",
      [user(), assistant(text("a")), system("b")],
      "messages.2: a system message follows",
    ],
    ["twice", [user(), system("a"), system("b")], "messages.1: a system message is the last one"],
    ["blank", [user(), system(" ")], "messages.1.content.0: a text block must not be blank"],
    ["empty", [user(), { role: "system", content: [] }], "messages.1: a message must not be empty"],
    [
      "with an image",
      [user(), { role: "system", content: [{ type: "image" }] }],
      "may not stand in a system message",
    ],
    ["effort only, anywhere", [user(), effort, assistant(text("a")), effort, user(), effort], "accepted"],
    [
      "effort of an unknown kind",
      [user(), { ...effort, output_config: { effort: "x" } }],
      "output_config.effort",
    ],
  ])("%s", (_name, messages, expected) => {
    expect(verdict({ messages })).toContain(expected);
  });

  test("older models have none", () => {
    expect(verdict({ model: "claude-opus-4-7", messages: [user(), system("a")] })).toContain(
      "messages.1.role",
    );
    expect(verdict({ model: "claude-opus-4-8", messages: [user(), system("a")] })).toBe("accepted");
  });

  test("clear_at needs its beta, text and no mark", () => {
    const clear = { clear_at: "next_user_message" };
    const messages = (more: Fields) => ({
      messages: [user(), { role: "system", content: [text("a")], ...clear, ...more }],
    });
    expect(verdict(messages({}))).toContain("messages.1.clear_at: needs the beta");
    expect(verdict(messages({}), [betaFor.clearAt])).toBe("accepted");
    expect(verdict(messages({ clear_at: "soon" }), [betaFor.clearAt])).toContain(
      "messages.1.clear_at: expected",
    );
    expect(verdict(messages({ content: [text("a", mark())] }), [betaFor.clearAt])).toContain(
      "cannot be marked",
    );
  });
});

describe("tool changes", () => {
  const change = (type: string, tool_: unknown) => [
    user(),
    { role: "system", content: [{ type, tool: tool_ }] },
  ];
  const reference = (name: string) => ({ type: "tool_reference", name });
  const definition = { type: "tool_definition", definition: tool("fresh") };
  const tools = [tool("here"), tool("later", { defer_loading: true })];
  const betas = [betaFor.toolChanges, betaFor.inlineTools];

  test.each<[string, unknown[], string]>([
    ["adding a deferred tool", change("tool_addition", reference("later")), "accepted"],
    ["adding one that is there", change("tool_addition", reference("here")), "there already"],
    ["adding an unknown one", change("tool_addition", reference("x")), "no tool has this name"],
    ["adding by value", change("tool_addition", definition), "accepted"],
    [
      "adding a bad definition",
      change("tool_addition", { type: "tool_definition", definition: { name: "a" } }),
      "tool.definition.input_schema",
    ],
    ["removing", change("tool_removal", reference("here")), "accepted"],
    ["removing an unknown one", change("tool_removal", reference("x")), "no such tool"],
    ["removing by value", change("tool_removal", definition), "removed by reference"],
    ["naming nothing", change("tool_addition", {}), "expected a reference"],
  ])("%s", (_name, messages, expected) => {
    expect(verdict({ tools, messages }, betas)).toContain(expected);
  });

  test("each form needs its beta", () => {
    const added = { tools, messages: change("tool_addition", reference("later")) };
    expect(verdict(added, [betaFor.inlineTools])).toContain(betaFor.toolChanges);
    expect(verdict({ messages: change("tool_addition", definition) }, [])).toContain(betaFor.inlineTools);
  });
});

describe("compaction", () => {
  const ask = { compaction: { type: "summarize" } };
  const betas = [betaFor.compaction, betaFor.contextManagement];

  test.each<[string, Fields, string]>([
    ["alone", {}, "accepted"],
    ["with context editing", { context_management: { edits: [] } }, "excludes context_management"],
    ["with stop sequences", { stop_sequences: ["a"] }, "excludes stop_sequences"],
    [
      "with a format",
      { output_config: { format: { type: "json_schema" } } },
      "excludes output_config.format",
    ],
    ["with a budget", { output_config: { task_budget: { remaining: 1 } } }, "excludes task_budget"],
    ["of another type", { compaction: { type: "x" } }, "compaction.type"],
    [
      "with forced tools",
      { model: "claude-opus-4-6", tools: [tool("a")], tool_choice: { type: "any" } },
      "excludes forced",
    ],
  ])("%s", (_name, fields, expected) => {
    expect(verdict({ ...ask, ...fields }, betas)).toContain(expected);
  });

  test("a signed summary must be first and alone, and needs its betas", () => {
    const summary = { type: "compaction", content: "a", signature: "b" };
    expect(verdict({ messages: [assistant(summary), user()] })).toBe("accepted");
    expect(verdict({ messages: [user(), assistant(summary), user()] })).toContain("messages.1.content.0");
    expect(verdict({ messages: [user(summary, text("a"))] })).toContain("messages.0.content.0");
    expect(verdict(ask)).toContain(`needs the beta ${betaFor.compaction}`);
    expect(verdict({ context_management: {} })).toContain(`needs the beta ${betaFor.contextManagement}`);
  });
});
