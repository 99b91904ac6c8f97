import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { protocolOf, type WireRequest } from "../../protocols/index.ts";
import { type AdmissionCandidate, isAdmitted } from "./admission.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

const tool = { name: "look", input_schema: { type: "object" } };
const user = (text: string, over: object = {}) => ({
  role: "user",
  content: [{ type: "text", text, ...over }],
});
const model = (over: object = {}) => ({
  role: "assistant",
  content: [{ type: "text", text: "yes", ...over }],
});

function request(over: object = {}): WireRequest {
  const body = { model: "claude-opus-5-5", tools: [tool], messages: [user("a")], ...over };
  return must(readRequest(Buffer.from(JSON.stringify(body)), null), "the body can be read");
}

const words = (tokens: number) => user("word ".repeat(tokens));

function admits(over: Partial<AdmissionCandidate>): boolean {
  const usual = {
    request: request({ messages: [words(20_000)] }),
    client: "claude-code",
    purpose: "turn",
    isSessionNamed: false,
  } as const;
  return isAdmitted({ ...usual, isRecording: true, isCold: false, ...over });
}

describe("a stream is managed", () => {
  test("from its first request if it is large and has tools", () => {
    expect(admits({})).toBe(true);
    expect(admits({ request: request() })).toBe(false);
    expect(admits({ request: request({ messages: [words(20_000)], tools: [] }), client: "unknown" })).toBe(
      false,
    );
  });

  test("at any size if the user named its session", () => {
    expect(admits({ request: request(), isSessionNamed: true })).toBe(true);
    expect(admits({ request: request({ tools: [] }), client: "unknown", isSessionNamed: true })).toBe(true);
  });

  test("never without a record, or for a side question of an agent", () => {
    expect(admits({ isSessionNamed: true, isRecording: false })).toBe(false);
    expect(admits({ purpose: "side", isSessionNamed: true })).toBe(false);
  });

  test("at once by the size of its messages, not by its system text", () => {
    const head = { system: "word ".repeat(40_000) };
    const others = (over: object) => admits({ request: request(over), client: "gemini-cli" });
    expect(others(head)).toBe(false);
    expect(others({ ...head, messages: [words(20_000)] })).toBe(true);
    expect(admits({ request: request(head), client: "claude-code" })).toBe(true);
  });

  const opencode = (over: object, isCold = false) =>
    admits({ request: request(over), client: "opencode", isCold });

  test("later if its cache has expired or the user has just spoken", () => {
    const grown = (tokens: number) => ({ messages: [words(tokens), model(), user("go on")] });
    expect(opencode(grown(60_000))).toBe(true);
    expect(opencode({ ...grown(60_000), model: "claude-opus-4-6" })).toBe(true);
    expect(opencode(grown(30_000))).toBe(false);
    expect(opencode(grown(30_000), true)).toBe(true);
    expect(opencode(grown(1_000), true)).toBe(false);
  });

  test("inside a run only if the window will fill up", () => {
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "done" }] };
    const call = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] };
    const running = (tokens: number) => ({ messages: [words(tokens), call, result] });
    expect(opencode(running(60_000))).toBe(false);
    expect(opencode(running(120_000))).toBe(true);
    expect(opencode(running(30_000), true)).toBe(true);
  });

  test("early if its client has long conversations", () => {
    const grown = { messages: [user("a"), model(), words(20_000)] };
    expect(admits({ request: request(grown) })).toBe(true);
    expect(admits({ request: request(grown), client: "opencode" })).toBe(false);
  });
});
