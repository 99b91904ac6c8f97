// Behaviour at a terminal: colours, bodies without control characters, and Ctrl-C.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../start/processes.ts";
import { needsTerminals } from "../support/needs.ts";
import { openRig, post, type Rig } from "./rig.ts";

const mark = String.fromCharCode(27);
const controlC = String.fromCharCode(3);

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  const messages = [{ role: "user", content: "say hello" }];
  const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 50, messages });
  // A line end is valid white space in JSON; an escape after the value is not, so a parser refuses it.
  await post(rig, `${body}\n`);
  await post(rig, `${body}${mark}[2J\u202e`);
});
afterAll(() => rig.close());

type Terminal = {
  readonly child: ChildProcess;
  readonly text: () => string;
  readonly ended: Promise<number | null>;
};

function onTerminal(args: readonly string[]): Terminal {
  const quoted = [process.execPath, join(process.cwd(), "dist/cli/main.cjs"), ...args].map(
    (word) => `'${word}'`,
  );
  const options = { env: { ...rig.env, TERM: "xterm" }, cwd: rig.folder };
  const child = spawn("script", ["-qec", `exec ${quoted.join(" ")}`, "/dev/null"], options);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<number | null>((done) => child.once("close", (code) => done(code)));
  return { child, text: () => text, ended };
}

test("colours are on by default", async (context) => {
  needsTerminals(context);
  const { ended, text } = onTerminal(["status"]);
  expect(await ended).toBe(0);
  expect(text()).toContain(`${mark}[2m`);
});

test("a body is printed without control characters, with a hint", async (context) => {
  needsTerminals(context);
  const sessions = JSON.parse((await rig.run(["sessions", "--json"])).out) as { rows: { id: string }[] };
  const shown: string[] = [];
  for (const { id } of sessions.rows) {
    for (const n of ["1", "2"]) {
      const { ended, text } = onTerminal(["request", n, "--client", "--session", id]);
      if ((await ended) === 0) shown.push(text());
    }
  }
  expect(shown).toHaveLength(2);
  for (const text of shown) {
    expect(text).toContain("say hello");
    expect(text).toContain("without control characters");
    expect(text).not.toContain(mark);
    expect(text).not.toContain("\u202e");
  }
});

test("Ctrl-C reaches the client once, and the client decides", async (context) => {
  needsTerminals(context);
  const path = join(rig.folder, "count.mjs");
  writeFileSync(
    path,
    `let count = 0;
    process.on("SIGINT", () => { count += 1; });
    setTimeout(() => { console.log("ready"); }, 10);
    setTimeout(() => { console.log("count " + count); process.exit(4); }, 1500);`,
  );
  const { child, ended, text } = onTerminal(["run", "-q", process.execPath, path]);
  for (let tried = 0; tried < 100 && !text().includes("ready"); tried += 1) {
    await new Promise((done) => setTimeout(done, 20));
  }
  child.stdin?.write(controlC);
  expect(await ended).toBe(4);
  expect(text()).toContain("count 1");
});

test("up prints a login link at a terminal, and none to a file", async (context) => {
  needsTerminals(context);
  const port = await freePort();
  const options = ["--port", `${port}`, "--data-dir", join(rig.folder, "at-terminal")];
  const { child, ended, text } = onTerminal(["up", ...options]);
  await expect.poll(text, { timeout: 10_000 }).toContain("listening on");
  const link = /panel: (http\S+\/login\?code=\S+) /.exec(text())?.[1] ?? "";
  expect((await fetch(link, { redirect: "manual" })).status).toBe(303);
  child.stdin?.write(controlC);
  expect(await ended).toBe(0);
  const piped = rig.start(["up", ...options]);
  await piped.saw(/listening on/);
  expect(piped.out()).not.toContain("code=");
  piped.child.kill("SIGTERM");
  expect((await piped.ended).code).toBe(0);
}, 30_000);

test("long work shows its progress, and verbs work as in a pipe", async (context) => {
  needsTerminals(context);
  expect((await rig.run(["fork", "--to", "claude"])).code).toBe(0);
  const verbs = ["--help", "analyze", "import", "sessions", "context", "export", "replay", "cost", "verify"];
  for (const verb of verbs) {
    const { ended, text } = onTerminal([verb]);
    expect(await ended, `${verb}: ${text()}`).toBe(0);
    expect(text()).not.toContain("Error");
    // One session takes long enough to show progress, because a thread starts for it.
    if (verb === "analyze") expect(text()).toMatch(/\[[#.]{24}\] [01]\/1 sessions analyzed/);
  }
}, 60_000);
