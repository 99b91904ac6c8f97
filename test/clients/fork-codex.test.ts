// A managed session continues in the real Codex, through Aperture and without it.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { SessionsPage } from "../../src/queries/answers/index.ts";
import { type DemoModel, startDemoModel } from "../../src/testing/index.ts";
import { openRig, post, type Rig } from "../cli/rig.ts";
import { bareEnvironment, noNetwork } from "./agent-folders.ts";
import { installClients, installMs } from "./install.ts";
import { runProgram } from "./run-program.ts";

let [rig, model]: [Rig, DemoModel] | [null, null] = [null, null];
beforeAll(async () => {
  [rig, model] = [await openRig(), await startDemoModel()];
  await rig.up();
});
afterAll(async () => {
  await model?.close();
  await rig?.close();
});

test("Codex resumes a fork", { timeout: installMs + 120_000 }, async () => {
  if (rig === null || model === null) throw new Error("not prepared");
  const { codex: program } = await installClients();
  const body = { model: "aperture-demo", max_tokens: 100, messages: [{ role: "user", content: prompt }] };
  await post(rig, JSON.stringify(body), { "x-aperture-session": "talk" });
  const { out } = await vi.waitFor(async () => {
    const forked = await (rig as Rig).run(["fork", "--to", "codex", "--json"]);
    expect(forked.code, forked.err).toBe(0);
    return forked;
  }, 10_000);
  const id = (JSON.parse(out) as { readonly resume: string }).resume.split(" ").at(-1) ?? "";
  const env = { ...bareEnvironment(rig.home), ...noNetwork, OPENAI_API_KEY: "sk-test" };
  const resume = (url: string, text: string): Promise<string> => {
    const flags = ["--skip-git-repo-check", "-m", "aperture-demo", "-c", `openai_base_url="${url}"`];
    const args = ["exec", ...flags, "resume", id, text];
    return runProgram({ program, args, cwd: rig?.folder ?? "", env, limitMs: 60_000 });
  };
  expect(await resume(`${rig.url}/openai/v1`, "say through it")).toContain("through it");
  expect(await resume(`${model.url}/v1`, "say without it")).toContain("without it");
  const { rows } = JSON.parse((await rig.run(["sessions", "--json"])).out) as SessionsPage;
  const session = rows.find(({ client }) => client === "codex")?.id ?? "none";
  const sent = await rig.run(["request", "1", "--upstream", "--session", session]);
  expect(sent.out).toContain(prompt);
  expect(sent.out).toContain("say through it");
});

const prompt = "say the keeper is Ismael";
