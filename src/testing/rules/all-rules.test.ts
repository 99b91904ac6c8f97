import { describe, expect, test } from "vitest";
import { rawRequest } from "../../../test/support/ask.ts";
import { betaFor } from "../betas.ts";
import { readRawRequest } from "../read-raw-request.ts";

type Fields = Record<string, unknown>;

const tool = { name: "look", input_schema: { type: "object" } };
const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
const result = (id: string, more: Fields = {}) => ({ type: "tool_result", tool_use_id: id, ...more });
const text = (value: string, more: Fields = {}) => ({ type: "text", text: value, ...more });
const user = (...content: unknown[]) => ({ role: "user", content: content.length === 0 ? "hello" : content });
const assistant = (...content: unknown[]) => ({ role: "assistant", content });
const thinking = { type: "thinking", thinking: "hm", signature: "c2ln" };

const older = { model: "claude-sonnet-4-5" };
const manual = { ...older, thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 };

/** The first broken rule, or "accepted". */
function verdict(fields: Fields, betas: readonly string[] = [], version = "2023-06-01"): string {
  const body = { model: "claude-opus-5-5", max_tokens: 100, messages: [user()], ...fields };
  const headers = { "anthropic-version": version, "anthropic-beta": betas.join(",") };
  const result = readRawRequest(rawRequest(body, { headers }), {});
  return result.type === "problem" ? result.problem.message : "accepted";
}

describe("the order of messages", () => {
  test.each<[string, unknown[], string]>([
    ["one user message", [user()], "accepted"],
    ["no message", [], "messages: at least one"],
    ["the assistant first", [assistant(text("a")), user()], "messages.0: the first message"],
    ["two user messages in a row", [user(), user()], "accepted"],
    ["an empty message", [{ role: "user", content: [] }, user()], "messages.0: a message must not be empty"],
    ["an empty string", [{ role: "user", content: "" }], "messages.0: a message must not be empty"],
    ["an unknown role", [{ role: "tool", content: "a" }], "messages.0.role"],
    ["an unknown field", [{ ...user(), id: 1 }], "messages.0.id: this field is not permitted"],
    ["the assistant last", [user(), assistant(text("a"))], "messages.1: this model does not continue"],
    [
      "a paused turn",
      [user(), assistant({ type: "server_tool_use", id: "s", name: "n", input: {} })],
      "accepted",
    ],
  ])("%s", (_name, messages, expected) => {
    expect(verdict({ messages })).toContain(expected);
  });

  test("older models continue an assistant message, even an empty one", () => {
    expect(verdict({ ...older, messages: [user(), assistant(text("a"))] })).toBe("accepted");
    expect(verdict({ ...older, messages: [user(), assistant()] })).toBe("accepted");
  });
});

describe("calls and results", () => {
  const loop = (calls: unknown[], ...results: unknown[]) => [user(), assistant(...calls), user(...results)];
  test.each<[string, unknown[], string]>([
    ["a pair", loop([use("a")], result("a")), "accepted"],
    ["text after the result", loop([use("a")], result("a"), text("and")), "accepted"],
    ["two pairs in any order", loop([use("a"), use("b")], result("b"), result("a")), "accepted"],
    [
      "a result over two user messages",
      [...loop([use("a"), use("b")], result("a")), user(result("b"))],
      "accepted",
    ],
    ["no result", loop([use("a")], text("x")), "messages.1: `tool_use` ids without `tool_result`"],
    ["a call at the end", [user(), assistant(text("x"), use("a"))], "messages.1"],
    ["one of two results", loop([use("a"), use("b")], result("a")), "next turn: b"],
    ["a result without a call", [user(result("a"))], "messages.0.content.0: unexpected `tool_use_id`"],
    ["two results for one call", loop([use("a")], result("a"), result("a")), "content.1: a second"],
    ["text before the result", loop([use("a")], text("x"), result("a")), "before everything else"],
    ["an id twice", [...loop([use("a")], result("a")), ...loop([use("a")], result("a"))], "must be unique"],
    ["an odd id", loop([use("a b")], result("a b")), "messages.1.content.0.id"],
    [
      "a result too late",
      [...loop([use("a")], text("x")), assistant(text("y")), user(result("a"))],
      "messages.1",
    ],
    ["a call by the user", [user(use("a"))], "may not stand in a user message"],
    [
      "an input that is text",
      loop([{ ...use("a"), input: "{}" }], result("a")),
      "content.0.input: expected an object",
    ],
  ])("%s", (_name, messages, expected) => {
    expect(verdict({ messages })).toContain(expected);
  });

  test.each<[string, Fields, string]>([
    ["nothing", {}, "accepted"],
    ["an empty string", { content: "" }, "accepted"],
    ["text", { content: [text("a")] }, "accepted"],
    ["a call", { content: [use("b")] }, "content.0.content.0: a tool result holds"],
    ["blank text", { content: [text(" ")] }, "content.0.content.0: a text block must not be blank"],
    ["a number", { content: 3 }, "content: expected a string or a list"],
    ["a known reference", { content: [{ type: "tool_reference", tool_name: "look" }] }, "accepted"],
    ["an unknown reference", { content: [{ type: "tool_reference", tool_name: "x" }] }, "no tool is named x"],
  ])("a result may hold %s", (_name, fields, expected) => {
    expect(verdict({ tools: [tool], messages: loop([use("a")], result("a", fields)) })).toContain(expected);
  });
});

describe("blocks", () => {
  test.each<[string, unknown, string]>([
    ["text", text("a"), "accepted"],
    ["blank text", text(" \n"), "messages.0.content.0: a text block must not be blank"],
    ["text without text", { type: "text" }, "messages.0.content.0.text: this field is required"],
    ["an unknown type", { type: "memory" }, "no block has the type"],
    ["a type that is a property of every object", { type: "constructor" }, "no block has the type"],
    ["an unknown field", text("a", { note: 1 }), "messages.0.content.0.note: this field is not permitted"],
    ["a null field", text("a", { citations: null }), "accepted"],
    [
      "an image",
      { type: "image", source: { type: "base64", media_type: "image/png", data: "" } },
      "accepted",
    ],
    ["an image without data", { type: "image", source: { type: "base64" } }, "source.data"],
    ["thinking of the user", thinking, "may not stand in a user message"],
    ["a number", 7, "messages.0.content.0: a block is an object"],
  ])("%s", (_name, block, expected) => {
    expect(verdict({ messages: [user(block)] })).toContain(expected);
  });
});

describe("top-level fields", () => {
  test.each<[string, Fields, string]>([
    ["no limit", { max_tokens: null }, "max_tokens: this field is required"],
    ["a negative limit", { max_tokens: -1 }, "max_tokens: expected a whole number"],
    ["a limit of 0", { max_tokens: 0 }, "accepted"],
    ["a limit of 0, streamed", { max_tokens: 0, stream: true }, "max_tokens: 0 excludes streaming"],
    ["a stream that is text", { stream: "yes" }, "stream: expected true or false"],
    ["something unknown", { safeguards: { a: 1 } }, "accepted"],
    ["a system prompt", { system: "you" }, "accepted"],
    ["a blank block in it", { system: [text(" ")] }, "system.0: a text block must not be blank"],
    ["an image in it", { system: [{ type: "image" }] }, "system.0: a system prompt consists of text"],
    ["an unknown model", { model: "gpt-6" }, "model: gpt-6"],
    ["a thread", { thread: { type: "create" } }, "thread: threads are not supported"],
    ["stop sequences that are blank", { stop_sequences: [" "] }, "stop_sequences"],
  ])("%s", (_name, fields, expected) => {
    expect(verdict(fields)).toContain(expected);
  });

  test("a thread is refused with a code, so that clients send the whole conversation", () => {
    const raw = rawRequest({ model: "claude-opus-5-5", max_tokens: 1, messages: [user()], thread: {} });
    expect(readRawRequest(raw, {})).toMatchObject({
      problem: { code: "thread_unsupported_request", status: 400 },
    });
  });

  test("the version of late 2026 has fewer fields", () => {
    const cited = { messages: [user(text("a", { citations: [] }))] };
    expect(verdict({ temperature: 1 })).toBe("accepted");
    expect(verdict({ temperature: 1 }, [], "2026-10-21")).toContain("temperature");
    expect(verdict(cited)).toBe("accepted");
    expect(verdict(cited, [], "2026-10-21")).toContain("messages.0.content.0.citations");
    const shown = [user(), assistant({ type: "document", source: { type: "text" } }), user()];
    expect(verdict({ messages: shown })).toBe("accepted");
    expect(verdict({ messages: shown }, [], "2026-10-21")).toContain("messages.1.content.0");
  });
});

describe("tools", () => {
  test.each<[string, Fields, string]>([
    ["one", { tools: [tool] }, "accepted"],
    ["one of the provider", { tools: [{ type: "bash_20250124", name: "bash" }] }, "accepted"],
    ["two with one name", { tools: [tool, tool] }, "tools.1.name: tool names must be unique"],
    ["a bad name", { tools: [{ ...tool, name: "a b" }] }, "tools.0.name"],
    ["no schema", { tools: [{ name: "a" }] }, "tools.0.input_schema: this field is required"],
    [
      "a schema of a list",
      { tools: [{ name: "a", input_schema: { type: "array" } }] },
      "tools.0.input_schema.type",
    ],
    ["a choice", { tools: [tool], tool_choice: { type: "auto" } }, "accepted"],
    ["a choice of nothing", { tool_choice: { type: "auto" } }, "there are no tools"],
    ["an unknown choice", { tools: [tool], tool_choice: { type: "maybe" } }, "tool_choice.type"],
    ["a forced choice", { tools: [tool], tool_choice: { type: "any" } }, "this model cannot be forced"],
    ["a forced choice elsewhere", { ...older, tools: [tool], tool_choice: { type: "any" } }, "accepted"],
    [
      "a forced unknown",
      { ...older, tools: [tool], tool_choice: { type: "tool", name: "x" } },
      "tool_choice.name",
    ],
    ["force and thought", { ...manual, tools: [tool], tool_choice: { type: "any" } }, "exclude each other"],
  ])("%s", (_name, fields, expected) => {
    expect(verdict(fields)).toContain(expected);
  });
});

describe("thinking", () => {
  const budget = { type: "enabled", budget_tokens: 1024 };
  test.each<[string, Fields, string]>([
    ["adaptive", { thinking: { type: "adaptive" } }, "accepted"],
    ["enabled on a new model", { thinking: budget, max_tokens: 2000 }, 'does not support "enabled"'],
    ["enabled on an old model", manual, "accepted"],
    ["adaptive on an old model", { ...older, thinking: { type: "adaptive" } }, 'does not support "adaptive"'],
    ["disabled on a new model", { thinking: { type: "disabled" } }, 'does not support "disabled"'],
    ["between tools there", { thinking: { type: "between_tools" } }, "accepted"],
    ["a budget beyond the limit", { ...manual, max_tokens: 1000 }, "smaller than max_tokens"],
    ["no budget", { ...older, thinking: { type: "enabled" } }, "thinking.budget_tokens"],
    ["an unknown display", { thinking: { type: "adaptive", display: "loud" } }, "thinking.display"],
    ["controls without a beta", { thinking: { type: "adaptive", block_binding: {} } }, "needs the beta"],
    [
      "last in its message",
      { messages: [user(), assistant(text("a"), thinking), user()] },
      "cannot be `thinking`",
    ],
  ])("%s", (_name, fields, expected) => {
    expect(verdict(fields)).toContain(expected);
  });

  test("controls need known values", () => {
    const controls = (prefix_mismatch_behavior: string) => ({
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior } },
    });
    expect(verdict(controls("drop_block"), [betaFor.bindingControls])).toBe("accepted");
    expect(verdict(controls("shrug"), [betaFor.bindingControls])).toContain("prefix_mismatch_behavior");
  });

  test("in manual mode the turn whose results arrive starts with thinking", () => {
    const messages = (...first: unknown[]) => [user(), assistant(...first, use("a")), user(result("a"))];
    expect(verdict({ ...manual, messages: messages() })).toContain(
      "messages.1.content.0.type: Expected `thinking`",
    );
    expect(verdict({ ...manual, messages: messages(thinking) })).toBe("accepted");
    expect(verdict({ ...manual, messages: [...messages(), assistant(text("a")), user()] })).toBe("accepted");
  });
});
