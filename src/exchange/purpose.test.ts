import { describe, expect, it } from "vitest";
import { must } from "../base/index.ts";
import { protocolOf } from "../protocols/index.ts";
import { type Purpose, type PurposeInput, purposeOf } from "./purpose.ts";

const { read } = protocolOf({ protocol: "anthropic" });
const mark = { cache_control: { type: "ephemeral" } };
const tool = { name: "look", input_schema: { type: "object" } };
const user = (text: string, more: object = {}) => ({
  role: "user",
  content: [{ type: "text", text, ...more }],
});
const model = (more: object = {}) => ({
  role: "assistant",
  content: [{ type: "text", text: "done", ...more }],
});

function purpose(over: object, client = "claude-code", kind: PurposeInput["kind"] = "ask"): Purpose {
  const body = { model: "claude-opus-5-5", max_tokens: 99, messages: [user("a")], tools: [tool], ...over };
  const request = must(read.request(Buffer.from(JSON.stringify(body)), null), "the body can be read");
  return purposeOf({ kind, identity: { client }, request });
}

describe("the purpose of a request", () => {
  it("is a turn if nothing speaks against it", () => {
    expect(purpose({})).toBe("turn");
    expect(purpose({ tools: [] }, "unknown")).toBe("turn");
    expect(purpose({ tools: [], max_tokens: 1 }, "unknown")).toBe("turn");
  });

  it("is a count by the path it was sent to", () => {
    expect(purpose({}, "claude-code", "count")).toBe("count");
  });

  it("is a side question if an agent leaves its tools out, and a probe if it wants one token", () => {
    expect(purpose({ tools: [] })).toBe("side");
    expect(purpose({ tools: [] }, "opencode")).toBe("side");
    expect(purpose({ tools: [], max_tokens: 1 })).toBe("probe");
  });

  it("is a compaction if Claude Code marks only the messages of the model", () => {
    const asks = (messages: readonly object[], client = "claude-code") => purpose({ messages }, client);
    expect(asks([user("a"), model(mark), user("b")])).toBe("compaction");
    expect(asks([user("a"), model(mark), user("b", mark)])).toBe("turn");
    expect(asks([user("a"), model(), user("b")])).toBe("turn");
    expect(asks([user("a"), model(mark)])).toBe("turn");
    expect(asks([user("a"), model(mark), user("b")], "unknown")).toBe("turn");
  });
});
