import { describe, expect, test } from "vitest";
import { clientEnvironment, isClaude, projectName } from "./client-environment.ts";

const launch = {
  url: "http://127.0.0.1:4400",
  cwd: "/srv/fix-auth",
  relayToken: null,
  env: { PATH: "/bin" },
};

describe("the environment of a client", () => {
  test("claude gets its address and the name of the project", () => {
    expect(clientEnvironment({ ...launch, program: "claude" })).toEqual({
      PATH: "/bin",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:4400",
      ANTHROPIC_CUSTOM_HEADERS: "X-Aperture-Project: fix-auth",
    });
  });

  test("the user's headers stay, and none is added twice", () => {
    const headers = (existing: string, relayToken: string | null = null) =>
      clientEnvironment({
        ...launch,
        program: "/opt/bin/claude",
        env: { ANTHROPIC_CUSTOM_HEADERS: existing },
        relayToken,
      })["ANTHROPIC_CUSTOM_HEADERS"];
    expect(headers("X-Team: a\n")).toBe("X-Team: a\nX-Aperture-Project: fix-auth");
    expect(headers("x-aperture-project: mine")).toBe("x-aperture-project: mine");
    expect(headers("", "secret")).toBe("X-Aperture-Project: fix-auth\nX-Aperture-Token: secret");
  });

  test("any other program gets an address per provider", () => {
    expect(clientEnvironment({ ...launch, program: "python" })).toEqual({
      PATH: "/bin",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:4400",
      OPENAI_BASE_URL: "http://127.0.0.1:4400/openai/v1",
      GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:4400/gemini",
    });
  });
});

test("a project name is valid in a header", () => {
  expect(projectName("/srv/my project")).toBe("my-project");
  expect(projectName("/srv/größe\n")).toBe("gr-e-");
  expect(projectName("/")).toBe("");
  expect(projectName(`/${"x".repeat(300)}`)).toHaveLength(200);
  expect([isClaude("claude"), isClaude("/a/claude"), isClaude("claudette")]).toEqual([true, true, false]);
});
