// A managed session of the real pi goes on from a fork, and leaves: through Aperture and without it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRig } from "../cli/rig.ts";
import { bareEnvironment, nowhere } from "./agent-folders.ts";
import { answeredSeq } from "./answered-seq.ts";
import { callOf } from "./claude-script.ts";
import { installClients, installMs } from "./install.ts";
import { refusedIn } from "./managed-lines.ts";
import { runProgram } from "./run-program.ts";

const quiet = { PI_OFFLINE: "1", PI_TELEMETRY: "0" };
/** It binds its reasoning to what it was made behind; this pi takes it for the last one that it knows. */
const model = "claude-opus-5-5-like-opus-4-7";

type Forked = {
  readonly path: string;
  readonly messages: number;
  readonly left: { readonly reasoning: number };
};

/** A project, and pi with a home of its own, led by its settings to one address or the other. */
function preparePi(program: string, home: string) {
  const project = mkdtempSync(join(tmpdir(), "aperture-pi-"));
  const folder = join(home, ".pi", "agent");
  mkdirSync(folder, { recursive: true });
  const env = { ...bareEnvironment(home), ...nowhere, ...quiet, ANTHROPIC_API_KEY: "sk-test" };
  const run = (baseUrl: string, ...args: readonly string[]): Promise<string> => {
    // Named, so that it is managed however small it is.
    const headers = { "x-aperture-session": "pi-talk" };
    const models = [{ id: model, reasoning: true, contextWindow: 1_000_000 }];
    const anthropic = { baseUrl, headers, apiKey: "ANTHROPIC_API_KEY", api: "anthropic-messages", models };
    writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { anthropic } }));
    const all = [program, "-p", "--model", `anthropic/${model}:medium`, ...args];
    return runProgram({ program: process.execPath, args: all, cwd: project, env, limitMs: 120_000 });
  };
  return { project, run, remove: () => rmSync(project, { recursive: true, force: true }) };
}

test("pi goes on with a fork, and with what leave wrote", { timeout: installMs + 180_000 }, async () => {
  const { pi: program } = await installClients();
  const rig = await openRig();
  await rig.up();
  const pi = preparePi(program, rig.home);
  const write = async (...args: readonly string[]): Promise<Forked> => {
    const { code, out, err } = await rig.run([...args, "--dir", pi.project, "--json"]);
    expect([code, err]).toEqual([0, ""]);
    return JSON.parse(out) as Forked;
  };
  try {
    writeFileSync(join(pi.project, "a.txt"), "the keeper's name is Ismael\n");
    const read = callOf("read", { path: join(pi.project, "a.txt") });
    await pi.run(rig.url, `${read}\nsay I have read it`);
    const seq = await answeredSeq(rig);
    await pi.run(rig.url, "--continue", "say the second");
    const early = await write("fork", "last", "--at", `${seq}`, "--to", "pi");
    const whole = await write("leave", "last", "--to", "pi");
    expect(early.left.reasoning).toBeGreaterThan(0);
    expect(whole.messages).toBeGreaterThan(early.messages);
    const without = await pi.run(rig.upstream.url, "--session", early.path, "say without");
    const through = await pi.run(rig.url, "--session", early.path, "say through");
    const left = await pi.run(rig.upstream.url, "--session", whole.path, "say gone");
    expect([without, through, left].map((said) => said.trim())).toEqual(["without", "through", "gone"]);
    const bodies = rig.upstream.exchanges.map(({ body }) => body.toString());
    const sent = (words: string): string => bodies.findLast((body) => body.includes(words)) ?? "";
    for (const words of ["say without", "say through", "say gone"]) {
      expect(sent(words)).toContain("the keeper's name is Ismael");
    }
    expect(sent("say without")).not.toContain("say the second");
    expect(sent("say gone")).toContain("say the second");
    expect(refusedIn(rig.upstream.exchanges)).toEqual([]);
  } finally {
    pi.remove();
    await rig.close();
  }
});
