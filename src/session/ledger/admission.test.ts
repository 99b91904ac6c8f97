import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import { asksForSummary, type Candidate, isAdmitted, isBeside, lifetimeMs } from "./admission.ts";

const tool = { name: "look", input_schema: { type: "object" } };
const mark = (ttl?: string) => ({
  cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) },
});
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
  return must(ingestRequest(Buffer.from(JSON.stringify(body)), null), "the body can be read");
}

const words = (tokens: number) => user("word ".repeat(tokens));

function admits(over: Partial<Candidate>): boolean {
  const usual = { request: request({ messages: [words(20_000)] }), client: "claude-code", isAsked: false };
  return isAdmitted({ ...usual, needsConsent: false, isRecording: true, isCold: false, ...over });
}

describe("a stream is managed", () => {
  test("from its first request if it is large and has tools", () => {
    expect(admits({})).toBe(true);
    expect(admits({ request: request() })).toBe(false);
    expect(admits({ request: request({ messages: [words(20_000)], tools: [] }), client: "unknown" })).toBe(
      false,
    );
  });

  test("however small, if the user asked", () => {
    expect(admits({ request: request(), isAsked: true })).toBe(true);
    expect(admits({ request: request({ tools: [] }), client: "unknown", isAsked: true })).toBe(true);
  });

  test("never without consent, without a record, or for what an agent asks beside its talk", () => {
    expect(admits({ isAsked: true, needsConsent: true })).toBe(false);
    expect(admits({ isAsked: true, isRecording: false })).toBe(false);
    expect(admits({ request: request({ tools: [] }), isAsked: true })).toBe(false);
  });

  test("at once by what is said, not by what its client says before everything", () => {
    const head = { system: "word ".repeat(40_000) };
    const others = (over: object) => admits({ request: request(over), client: "gemini-cli" });
    expect(others(head)).toBe(false);
    expect(others({ ...head, messages: [words(20_000)] })).toBe(true);
    expect(admits({ request: request(head), client: "claude-code" })).toBe(true);
  });

  const opencode = (over: object, isCold = false) =>
    admits({ request: request(over), client: "opencode", isCold });

  test("later where something may come of it: nothing is cached, or the user has just spoken", () => {
    const grown = (tokens: number) => ({ messages: [words(tokens), model(), user("go on")] });
    expect(opencode(grown(60_000))).toBe(true);
    expect(opencode({ ...grown(60_000), model: "claude-opus-4-6" })).toBe(true);
    expect(opencode(grown(30_000))).toBe(false);
    expect(opencode(grown(30_000), true)).toBe(true);
    expect(opencode(grown(1_000), true)).toBe(false);
  });

  test("inside a run only where room will be needed", () => {
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "done" }] };
    const call = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] };
    const running = (tokens: number) => ({ messages: [words(tokens), call, result] });
    expect(opencode(running(60_000))).toBe(false);
    expect(opencode(running(120_000))).toBe(true);
    expect(opencode(running(30_000), true)).toBe(true);
  });

  test("early where the talks of its client last", () => {
    const grown = { messages: [user("a"), model(), words(20_000)] };
    expect(admits({ request: request(grown) })).toBe(true);
    expect(admits({ request: request(grown), client: "opencode" })).toBe(false);
  });
});

test("only agents ask beside their talk, and without tools", () => {
  expect(isBeside("claude-code", request({ tools: [] }))).toBe(true);
  expect(isBeside("claude-code", request())).toBe(false);
  expect(isBeside("unknown", request({ tools: [] }))).toBe(false);
});

test("a summary is asked for with marks on nothing but the model's words", () => {
  const asks = (messages: readonly object[], client = "claude-code") =>
    asksForSummary(client, request({ messages }));
  expect(asks([user("a"), model(mark()), user("b")])).toBe(true);
  expect(asks([user("a"), model(mark()), user("b", mark())])).toBe(false);
  expect(asks([user("a"), model(), user("b")])).toBe(false);
  expect(asks([user("a"), model(mark())])).toBe(false);
  expect(asks([user("a"), model(mark()), user("b")], "unknown")).toBe(false);
});

test("a cache lives as long as the longest mark says", () => {
  expect(lifetimeMs(request())).toBe(300_000);
  expect(lifetimeMs(request({ messages: [user("a", mark())] }))).toBe(300_000);
  expect(lifetimeMs(request({ messages: [user("a", mark("1h"))] }))).toBe(3_600_000);
  expect(lifetimeMs(request({ tools: [{ ...tool, ...mark("1h") }] }))).toBe(3_600_000);
});
