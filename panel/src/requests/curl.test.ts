import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { curlText } from "./curl.ts";

const input = { target: "POST /v1/messages?beta=true", upstream: "https://api.example.com/", file: "b.json" };

describe("a curl command", () => {
  it("names the key as a variable", () => {
    expect(curlText({ ...input, body: "{}" })).toBe(
      [
        "curl -X POST 'https://api.example.com/v1/messages?beta=true'",
        "-H 'content-type: application/json'",
        "-H 'anthropic-version: 2023-06-01'",
        '-H "x-api-key: $ANTHROPIC_API_KEY"',
        "--data-binary '{}'",
      ].join(" \\\n  "),
    );
    expect(curlText({ ...input, target: "POST /v1/responses", body: "" })).toContain(
      "Bearer $OPENAI_API_KEY",
    );
  });

  it("quotes any body for the shell", () => {
    const body = JSON.stringify({ text: 'it\'s $HOME `id` \\ "so"\nand on' });
    const line = curlText({ ...input, body }).replace(/^curl/, "printf '%s\\n'");
    const words = execFileSync("sh", ["-c", line], { encoding: "utf8" });
    expect(words).toContain(`--data-binary\n${body}\n`);
  });

  it("refers to a file if the body is long", () => {
    expect(curlText({ ...input, body: "x".repeat(20_000) })).toContain("--data-binary '@b.json'");
  });
});
