// The official clients are not installed with Aperture: without them the answer says how to install them.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { expect, it } from "vitest";

it("a provider whose client is not installed says how to install it", () => {
  const folder = mkdtempSync(join(tmpdir(), "aperture-missing-"));
  try {
    const panel = join("dist", "panel") + sep;
    cpSync("dist", join(folder, "dist"), {
      recursive: true,
      filter: (path) => !`${path}${sep}`.includes(panel),
    });
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, "ask.js"), program);
    const printed = execFileSync(process.execPath, ["ask.js"], { cwd: folder, encoding: "utf8" });
    expect(JSON.parse(printed)).toMatchObject([
      {
        code: "AP_PROVIDER_MISSING",
        message: expect.stringContaining("`npm install @anthropic-ai/sdk`"),
        details: { retryable: false },
      },
      {
        code: "AP_PROVIDER_MISSING",
        message: expect.stringContaining(
          "`npm install @aws-sdk/client-bedrock-runtime @smithy/node-http-handler`",
        ),
        details: { retryable: false },
      },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const program = `
import { anthropicProvider } from "./dist/runtime/providers/anthropic-provider.js";
import { bedrockProvider } from "./dist/runtime/providers/bedrock-provider.js";

const request = { model: "m", system: [], messages: [], tools: [], toolChoice: "auto", maxTokens: 1, stopSequences: [], marks: [] };
const askOptions = { signal: new AbortController().signal, onText: () => undefined };
const providers = [anthropicProvider(), bedrockProvider({ api: "invoke" })];
const answers = await Promise.all(providers.map((provider) => provider.ask(request, askOptions)));
console.log(JSON.stringify(answers.map(({ error }) => error)));
`;
