// Every example of the help and of the documentation runs.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { verbTable } from "../../src/cli/args/verb-table.ts";
import type { SessionsPage, StateRow, StepsPage } from "../../src/queries/answers/index.ts";
import { examplesIn } from "../support/doc-examples.ts";
import { converse, openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

/** These run on, start or stop a process, or need a client. Their own tests run them. */
const elsewhere = ["up", "down", "run", "demo", "leave"];

/**
 * Exit codes of examples that do not end with 0. They need something that this session lacks: an approval, or
 * a step that an earlier example has already undone.
 */
const otherCodes: Readonly<Record<string, number>> = {
  "aperture undo 3f9a 12": 1,
  "aperture approve 3": 4,
  "aperture approve 3 --scope always": 4,
  "aperture deny 3 --reason 'I still need that'": 4,
};

/** The ids of this session, in place of those in the examples. */
type SessionIds = {
  readonly session: string;
  readonly blocks: readonly number[];
  readonly steps: readonly number[];
};

async function readIds(): Promise<SessionIds> {
  const of = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse((await rig.run([...args, "--json"])).out) as T;
  const { rows: sessions } = await of<SessionsPage>("sessions");
  const { blocks } = await of<StateRow>("context");
  const { rows: steps } = await of<StepsPage>("log", "--steps");
  const movable = blocks.filter(({ kind }) => kind === "assistant").map(({ n }) => n);
  return {
    session: sessions[0]?.id.slice(0, 4) ?? "",
    blocks: movable,
    steps: steps.map(({ step }) => step),
  };
}

/** The example with the ids of this session. */
function withRealIds(line: string, { session, blocks, steps }: SessionIds): string {
  const [first = 0] = blocks;
  const last = blocks.at(-1) ?? 0;
  return line
    .replace(/\b3f9a\b/, session)
    .replace(/^(aperture (?:undo|redo)(?: \S+)?) 12$/, `$1 ${steps[0] ?? 0}`)
    .replace(/\b(\d+)\.\.(\d+)\b/, `${first}..${last}`)
    .replace(/(?<=[ #'])(?:12|18|27|31|58)(?=['\s]|$)/g, `${first}`)
    .replace(/\brequest 7\b/, "request 2")
    .replace(/--at \d+/, "--at 5")
    .replace(/(?<=(?:import|analyze) )talk\.jsonl/, "claude.jsonl")
    .replace("[12,27]", `[${first}]`)
    .replace("block-31", `block-${first}`)
    .replaceAll("127.0.0.1:4400", `127.0.0.1:${rig.port}`);
}

function tokenOf({ dataDir }: Rig): string {
  return readFileSync(join(dataDir, "token"), "utf8").trim();
}

function runLine(line: string): { readonly code: number | null; readonly text: string } {
  const program = join(process.cwd(), "dist", "cli", "main.cjs");
  const source = `aperture() { '${process.execPath}' '${program}' "$@"; }\n${line.replaceAll("~/", "$HOME/")}`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", source], {
    encoding: "utf8",
    env: { ...rig.env, SHELL: "/bin/sh", TOKEN: tokenOf(rig) },
    cwd: rig.folder,
    timeout: 20_000,
    input: "",
  });
  return { code: status, text: stdout + stderr };
}

/** The suite of the clients runs the guides of clients. */
const pages = ["README.md", "docs/guide/analyze.md", "docs/reference/api.md", "docs/reference/cli.md"];

/** One command per line, without comments and `npx`. Commands that keep running have their own tests. */
function commandsIn(source: string): readonly string[] {
  const whole = source.replaceAll("\\\n", "").split("\n");
  const bare = whole.map((line) => line.replace(/\s+#.*$|^npx (?=aperture )/g, "").trim());
  return bare.filter(
    (line) => line !== "" && !/^npm |^aperture (?:run|demo|up)|--watch|aperture-demo/.test(line),
  );
}

/** Prepares steps to undo and transcripts to read. */
async function prepare(): Promise<void> {
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, err } = await rig.run(args);
    expect(code, err).toBe(0);
  };
  ids = await vi.waitFor(async () => {
    const found = await readIds();
    expect(found.blocks.length).toBeGreaterThan(2);
    return found;
  }, 10_000);
  for (const block of ids.blocks.slice(0, 3)) await run("pin", `${block}`);
  ids = await readIds();
  await run("fork", "--to", "claude");
  await run("fork", "--to", "codex");
  await run("fork", "--to", "claude", "--out", "claude.jsonl");
}

let ids: SessionIds = { session: "", blocks: [], steps: [] };

describe("examples", () => {
  beforeAll(async () => {
    await rig.up();
    await converse(rig, "first", [
      "say hello about auth flow",
      "say more",
      "say database migration",
      "say done",
    ]);
    await prepare();
    const folders = [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"];
    for (const folder of folders) spawnSync("mkdir", ["-p", join(rig.home, folder)]);
  });

  const lines = verbTable
    .filter(({ name }) => !elsewhere.includes(name))
    .flatMap(({ name, examples }) => examples.map((line) => [name, line] as const))
    .filter(([, line]) => !line.includes("--watch"));

  const documented = pages.flatMap((page) =>
    examplesIn(page, "sh").flatMap(({ line, source }) =>
      commandsIn(source).map((command, at) => [`${page}:${line}, ${at + 1}`, command] as const),
    ),
  );

  // Undo and redo run first, before other examples change the same blocks. Imports run last, because an
  // imported session becomes the most recently used one.
  const orderOf = (line: string) =>
    line.startsWith("aperture import") ? 2 : Number(!/^aperture (?:undo|redo)\b/.test(line));
  const all = [...lines, ...documented].sort(([, one], [, other]) => orderOf(one) - orderOf(other));

  test.each(all)("%s: %s", (_, line) => {
    const { code, text } = runLine(withRealIds(line, ids));
    expect(code, text).toBe(otherCodes[line] ?? 0);
    expect(text).not.toMatch(/^\{"error"/);
  });

  test("every exception names an existing example", () => {
    const known = all.map(([, line]) => line);
    expect(Object.keys(otherCodes).filter((line) => !known.includes(line))).toEqual([]);
  });

  test("every verb that is skipped here has its own test", () => {
    const folder = join(process.cwd(), "test", "cli");
    const files = readdirSync(folder).filter(
      (name) => name.endsWith(".test.ts") && name !== "examples.test.ts",
    );
    const sources = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
    for (const verb of elsewhere) expect(sources).toMatch(new RegExp(`(?:run|start)\\(\\[?"${verb}"`));
  });

  test("every verb has an example", () => {
    for (const { examples } of verbTable) expect(examples.length).toBeGreaterThan(0);
  });
});
