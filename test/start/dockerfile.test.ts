// Docker may be missing, so this test parses the Dockerfile and runs its steps in plain folders: every copied
// path exists, every step runs, and the result starts and passes its own health check.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, type Running, start } from "./processes.ts";

type Step = { readonly word: string; readonly rest: string };
type Stage = { readonly name: string; readonly steps: readonly Step[] };

const stages = read(readFileSync("Dockerfile", "utf8"));
const [build, final] = stages;
const folder = mkdtempSync(join(tmpdir(), "aperture-docker-"));
let running: Running | null = null;

afterAll(() => {
  running?.kill();
  rmSync(folder, { recursive: true, force: true });
});

function read(text: string): readonly Stage[] {
  const found: { name: string; steps: Step[] }[] = [];
  for (const line of text.split("\n")) {
    const [, word = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (word === "FROM") found.push({ name: / AS (\w+)$/.exec(rest)?.[1] ?? "", steps: [] });
    else if (word !== "") found.at(-1)?.steps.push({ word, rest });
    else if (line !== "" && !line.startsWith("#")) throw new Error(`unknown instruction: ${line}`);
  }
  return found;
}

function all(stage: Stage | undefined, word: string): readonly string[] {
  return (stage?.steps ?? []).filter((step) => step.word === word).map(({ rest }) => rest);
}

const variables = Object.fromEntries(all(final, "ENV").map((line) => line.split("=", 2)));
const listIn = (text: string): readonly string[] => JSON.parse(text.slice(text.indexOf("["))) as string[];

describe("the Dockerfile", () => {
  test("runs unprivileged, with one volume, one port and a health check", () => {
    expect(stages.map(({ name }) => name)).toEqual(["build", ""]);
    expect(all(final, "USER")).toEqual(["node"]);
    expect(all(final, "VOLUME")).toEqual([variables["APERTURE_DATA_DIR"]]);
    expect(all(final, "EXPOSE")).toEqual(["4400"]);
    expect(all(final, "HEALTHCHECK")[0]).toContain("/healthz");
    const words = final?.steps.map(({ word }) => word) ?? [];
    expect(words.indexOf("USER")).toBeGreaterThan(words.lastIndexOf("RUN"));
  });

  test("copies exactly the files that its context allows", () => {
    const lines = readFileSync(".dockerignore", "utf8").split("\n");
    const allowed = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    const copied = all(build, "COPY").flatMap((line) => line.split(" ").slice(0, -1));
    expect([...copied].sort()).toEqual([...allowed].sort());
    for (const path of copied) expect(existsSync(path), path).toBe(true);
  });
});

describe("its steps, in plain folders", () => {
  const [built, shipped] = [join(folder, "build"), join(folder, "app")];

  beforeAll(() => {
    mkdirSync(built);
    mkdirSync(shipped);
    for (const { word, rest } of build?.steps ?? []) {
      if (word === "COPY") copy(rest.split(" "), { from: process.cwd(), to: built });
      if (word === "RUN") execFileSync("sh", ["-c", rest], { cwd: built, env: plain(), stdio: "pipe" });
    }
    for (const line of all(final, "COPY")) {
      const [, source = "", target = ""] = /^--from=build \/app\/(\S+) (\S+)$/.exec(line) ?? [];
      copy([source, target], { from: built, to: shipped });
    }
  }, 180_000);

  test("the image starts, passes its health check, and requires the token", async () => {
    expect(existsSync(join(shipped, "node_modules", "vitest"))).toBe(false);
    const [port, token] = [await freePort(), "t".repeat(32)];
    const dataDir = join(folder, "data");
    const own = { APERTURE_PORT: `${port}`, APERTURE_DATA_DIR: dataDir, APERTURE_TOKEN: token };
    const env = { ...variables, ...own };
    const command = [...listIn(all(final, "ENTRYPOINT")[0] ?? ""), ...listIn(all(final, "CMD")[0] ?? "")];
    running = start(command, { cwd: shipped, env });
    await running.waitFor(/listening on/, 30_000);
    const [check = "", ...args] = listIn(all(final, "HEALTHCHECK")[0] ?? "");
    const isHealthy = () => spawnSync(check, args, { env: { ...plain(), ...env } }).status === 0;
    expect(isHealthy()).toBe(true);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(answer.status).toBe(401);
    expect(existsSync(join(dataDir, "aperture.db"))).toBe(true);
    running.signal("SIGTERM");
    expect(await running.exited).toBe(0);
    expect(isHealthy()).toBe(false);
  });
});

type CopyFolders = { readonly from: string; readonly to: string };

/** Copies as Docker does: the contents of a folder into the target folder, files into it or as it. */
function copy(words: readonly string[], { from, to }: CopyFolders): void {
  const target = words.at(-1) ?? "";
  for (const source of words.slice(0, -1)) {
    const path = join(from, source);
    const isInto = statSync(path).isFile() && target === "./";
    cpSync(path, isInto ? join(to, basename(source)) : join(to, target), { recursive: true });
  }
}

function plain(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:APERTURE_|VITEST|NODE_ENV$)/.test(name));
  return Object.fromEntries(kept);
}
