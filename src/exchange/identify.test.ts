import { describe, expect, it } from "vitest";
import { identify, isAgentClient } from "./identify.ts";

const identityOf = (headers: Readonly<Record<string, string>>) => identify({ headers });

describe("the identity of a request", () => {
  it("recognises Claude Code and its sub-agents by their headers", () => {
    const headers = {
      "x-claude-code-session-id": "S",
      "user-agent": "claude-cli/2.1.325 (external, sdk-cli)",
    };
    expect(identityOf(headers)).toEqual({
      client: "claude-code",
      sessionKey: "S",
      agent: null,
      project: null,
    });
    expect(identityOf({ ...headers, "x-claude-code-agent-id": "a1" }).agent).toBe("agent a1");
  });

  it("puts opencode's sub-agents into their parent's session", () => {
    const headers = {
      "x-session-id": "child",
      "x-parent-session-id": "parent",
      "user-agent": "opencode/1.18",
    };
    expect(identityOf(headers)).toMatchObject({
      client: "opencode",
      sessionKey: "parent",
      agent: "agent child",
    });
    expect(identityOf({ "x-session-id": "main" })).toMatchObject({ sessionKey: "main", agent: null });
  });

  it("prefers the user's session name to any other", () => {
    const headers = {
      "x-aperture-session": "mine",
      "x-claude-code-session-id": "S",
      "x-aperture-project": "p",
    };
    expect(identityOf(headers)).toMatchObject({ sessionKey: "mine", project: "p" });
  });

  it("recognises SDKs by their user agent, and reports unknown clients as such", () => {
    expect(identityOf({ "user-agent": "Anthropic/JS 1.8.0" }).client).toBe("anthropic-sdk");
    expect(identityOf({ "user-agent": "ai/6.0 ai-sdk/anthropic/3" }).client).toBe("ai-sdk");
    expect(identityOf({}).client).toBe("unknown");
    expect(isAgentClient("unknown")).toBe(false);
  });

  it("rejects names that cannot be printed", () => {
    expect(identityOf({ "x-aperture-session": "a b" }).sessionKey).toBeNull();
    expect(identityOf({ "x-aperture-session": "\u001b[31m" }).sessionKey).toBeNull();
    expect(identityOf({ "x-aperture-session": "x".repeat(201) }).sessionKey).toBeNull();
  });
});
