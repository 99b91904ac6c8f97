import { describe, expect, it } from "vitest";
import { belongingOf, isAgentClient } from "./identify.ts";

const of = (headers: Readonly<Record<string, string>>) => belongingOf({ headers }, null);

describe("what a request says of itself", () => {
  it("knows Claude Code by its session header, and its sub-agents by theirs", () => {
    const headers = {
      "x-claude-code-session-id": "S",
      "user-agent": "claude-cli/2.1.325 (external, sdk-cli)",
    };
    expect(of(headers)).toEqual({ client: "claude-code", sessionKey: "S", agent: null, project: null });
    expect(of({ ...headers, "x-claude-code-agent-id": "a1" }).agent).toBe("agent a1");
  });

  it("puts opencode's sub-agents into their parent's session", () => {
    const headers = {
      "x-session-id": "child",
      "x-parent-session-id": "parent",
      "user-agent": "opencode/1.18",
    };
    expect(of(headers)).toMatchObject({ client: "opencode", sessionKey: "parent", agent: "agent child" });
    expect(of({ "x-session-id": "main" })).toMatchObject({ sessionKey: "main", agent: null });
  });

  it("takes the name the user gave before any other", () => {
    const headers = {
      "x-aperture-session": "mine",
      "x-claude-code-session-id": "S",
      "x-aperture-project": "p",
    };
    expect(of(headers)).toMatchObject({ sessionKey: "mine", project: "p" });
  });

  it("knows SDKs by their user agent, and admits what it does not know", () => {
    expect(of({ "user-agent": "Anthropic/JS 1.8.0" }).client).toBe("anthropic-sdk");
    expect(of({ "user-agent": "ai/6.0 ai-sdk/anthropic/3" }).client).toBe("ai-sdk");
    expect(of({}).client).toBe("unknown");
    expect(isAgentClient("unknown")).toBe(false);
  });

  it("takes no name that could not be printed", () => {
    expect(of({ "x-aperture-session": "a b" }).sessionKey).toBeNull();
    expect(of({ "x-aperture-session": "\u001b[31m" }).sessionKey).toBeNull();
    expect(of({ "x-aperture-session": "x".repeat(201) }).sessionKey).toBeNull();
  });
});
