// Runs every example of the guides with its client: the commands that a reader types work.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, openRig, type Rig } from "../cli/rig.ts";
import { type Example, examplesIn } from "../support/doc-examples.ts";
import { noNetwork } from "./agent-folders.ts";
import { type Clients, installClients, installMs } from "./install.ts";

let [rig, clients]: [Rig | null, Clients | null] = [null, null];

beforeAll(async () => {
  clients = await installClients();
  rig = await openRig();
  prepare(rig, clients);
  await rig.up();
  await converse(rig, "first", ["say the keeper is Ismael", "say more"]);
}, installMs + 60_000);
afterAll(() => rig?.close());

/** Puts the commands that the pages mention on the path. */
function prepare(
  { folder, home }: Rig,
  { claudeCode, codex, gemini, opencode, pi, moduleUrl }: Clients,
): void {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const inNode = (name: string, path: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${path}' "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  };
  inNode("aperture", join(process.cwd(), "dist", "cli", "main.cjs"));
  inNode("gemini", gemini);
  inNode("pi", pi);
  symlinkSync(claudeCode("2.1.325"), join(bin, "claude"));
  symlinkSync(codex, join(bin, "codex"));
  symlinkSync(opencode, join(bin, "opencode"));
  const modules = new URL(moduleUrl("@anthropic-ai/sdk")).pathname.split("/node_modules/")[0] ?? "";
  symlinkSync(join(modules, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(home, ".gemini"));
  const auth = { security: { auth: { selectedType: "gemini-api-key" } } };
  writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(auth));
}

const keys = { ANTHROPIC_API_KEY: "sk-test", OPENAI_API_KEY: "sk-test", GEMINI_API_KEY: "test" };
const quiet = {
  PI_OFFLINE: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
};

type ExampleResult = { readonly code: number | null; readonly text: string };

/** The pages use port 4400, which may be taken. */
function runExample(source: string, program = "bash"): Promise<ExampleResult> {
  if (rig === null) throw new Error("not prepared");
  const { folder, port, env } = rig;
  const example = source.replaceAll("127.0.0.1:4400", `127.0.0.1:${port}`);
  const PATH = `${join(folder, "bin")}:${env["PATH"]}`;
  const all = { ...env, PATH, ...keys, ...quiet, ...noNetwork };
  const file = join(folder, program === "bash" ? "example.sh" : "example.mjs");
  writeFileSync(file, example);
  const child = spawn(program, program === "bash" ? ["-e", file] : [file], {
    cwd: folder,
    env: all,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 100_000,
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

const pages = [
  "claude-code",
  "codex",
  "gemini-cli",
  "opencode",
  "pi",
  "anthropic-sdk",
  "ai-sdk",
  "anything-else",
];
const shellExamples = pages.flatMap((name) => examplesIn(`docs/guide/${name}.md`, "sh"));
const nameOf = ({ page, line }: Example) => `${basename(page)}:${line}`;

describe("a shell example runs", () => {
  test.each(shellExamples.map((example) => [nameOf(example), example] as const))(
    "%s",
    { timeout: 120_000 },
    async (_, { source, exits, prints }) => {
      const { code, text } = await runExample(source);
      expect(code, text).toBe(exits);
      for (const expected of prints) expect(text).toContain(expected);
    },
  );
});

describe("a program example runs", () => {
  test.each([
    ["anthropic-sdk", "hello from the SDK"],
    ["ai-sdk", "hello from the ai SDK"],
  ])("%s", { timeout: 60_000 }, async (name, expected) => {
    const [example, ...more] = examplesIn(`docs/guide/${name}.md`, "js");
    expect(more).toEqual([]);
    const { code, text } = await runExample(example?.source ?? "", process.execPath);
    expect([code, text.trim()]).toEqual([0, expected]);
  });
});
