import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { curlText } from "./curl.ts";

const asked = { target: "POST /v1/messages?beta=true", upstream: "https://api.example.com/", file: "b.json" };

describe("a request as a command line", () => {
  it("names the key by a variable, and holds none", () => {
    expect(curlText({ ...asked, body: "{}" })).toBe(
      [
        "curl -X POST 'https://api.example.com/v1/messages?beta=true'",
        "-H 'content-type: application/json'",
        "-H 'anthropic-version: 2023-06-01'",
        '-H "x-api-key: $ANTHROPIC_API_KEY"',
        "--data-binary '{}'",
      ].join(" \\\n  "),
    );
    expect(curlText({ ...asked, target: "POST /v1/responses", body: "" })).toContain(
      "Bearer $OPENAI_API_KEY",
    );
  });

  it("gives a shell the body as it is, whatever stands in it", () => {
    const body = JSON.stringify({ text: 'it\'s $HOME `id` \\ "so"\nand on' });
    const line = curlText({ ...asked, body }).replace(/^curl/, "printf '%s\\n'");
    const words = execFileSync("sh", ["-c", line], { encoding: "utf8" });
    expect(words).toContain(`--data-binary\n${body}\n`);
  });

  it("refers to a file where the body is long", () => {
    expect(curlText({ ...asked, body: "x".repeat(20_000) })).toContain("--data-binary '@b.json'");
  });
});
