// A managed session of the real pi continues from a fork, and after `leave`: through Aperture and without it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRig } from "../cli/rig.ts";
import { bareEnvironment, noNetwork } from "./agent-folders.ts";
import { answeredSeq } from "./answered-seq.ts";
import { callLine } from "./claude-script.ts";
import { installClients, installMs } from "./install.ts";
import { refusedIn } from "./managed-bodies.ts";
import { runProgram } from "./run-program.ts";

const quiet = { PI_OFFLINE: "1", PI_TELEMETRY: "0" };
/** A model that binds its reasoning; this pi treats it like the newest model it knows. */
const model = "claude-opus-5-5-like-opus-4-7";

type ForkResult = {
  readonly path: string;
  readonly messages: number;
  readonly left: { readonly reasoning: number };
};

/** Prepares a project, and pi with a home of its own; its settings hold the address. */
function preparePi(program: string, home: string) {
  const project = mkdtempSync(join(tmpdir(), "aperture-pi-"));
  const folder = join(home, ".pi", "agent");
  mkdirSync(folder, { recursive: true });
  const env = { ...bareEnvironment(home), ...noNetwork, ...quiet, ANTHROPIC_API_KEY: "sk-test" };
  const run = (baseUrl: string, ...args: readonly string[]): Promise<string> => {
    // A named session is managed even if it is small.
    const headers = { "x-aperture-session": "pi-talk" };
    const models = [{ id: model, reasoning: true, contextWindow: 1_000_000 }];
    const anthropic = { baseUrl, headers, apiKey: "ANTHROPIC_API_KEY", api: "anthropic-messages", models };
    writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { anthropic } }));
    const all = [program, "-p", "--model", `anthropic/${model}:medium`, ...args];
    return runProgram({ program: process.execPath, args: all, cwd: project, env, limitMs: 120_000 });
  };
  return { project, run, remove: () => rmSync(project, { recursive: true, force: true }) };
}

test("pi continues a fork, and the session that `leave` wrote", {
  timeout: installMs + 180_000,
}, async () => {
  const { pi: program } = await installClients();
  const rig = await openRig();
  await rig.up();
  const pi = preparePi(program, rig.home);
  const write = async (...args: readonly string[]): Promise<ForkResult> => {
    const { code, out, err } = await rig.run([...args, "--dir", pi.project, "--json"]);
    expect([code, err]).toEqual([0, ""]);
    return JSON.parse(out) as ForkResult;
  };
  try {
    writeFileSync(join(pi.project, "a.txt"), "the keeper's name is Ismael\n");
    const read = callLine("read", { path: join(pi.project, "a.txt") });
    await pi.run(rig.url, `${read}\nsay I have read it`);
    const seq = await answeredSeq(rig);
    await pi.run(rig.url, "--continue", "say the second");
    const early = await write("fork", "last", "--at", `${seq}`, "--to", "pi");
    const whole = await write("leave", "last", "--to", "pi");
    expect(early.left.reasoning).toBeGreaterThan(0);
    expect(whole.messages).toBeGreaterThan(early.messages);
    const without = await pi.run(rig.upstream.url, "--session", early.path, "say without");
    const through = await pi.run(rig.url, "--session", early.path, "say through");
    const afterLeave = await pi.run(rig.upstream.url, "--session", whole.path, "say gone");
    expect([without, through, afterLeave].map((output) => output.trim())).toEqual([
      "without",
      "through",
      "gone",
    ]);
    const bodies = rig.upstream.exchanges.map(({ body }) => body.toString());
    const bodyWith = (text: string): string => bodies.findLast((body) => body.includes(text)) ?? "";
    for (const text of ["say without", "say through", "say gone"]) {
      expect(bodyWith(text)).toContain("the keeper's name is Ismael");
    }
    expect(bodyWith("say without")).not.toContain("say the second");
    expect(bodyWith("say gone")).toContain("say the second");
    expect(refusedIn(rig.upstream.exchanges)).toEqual([]);
  } finally {
    pi.remove();
    await rig.close();
  }
});
