// `aperture run`: a client that talks through Aperture and notices nothing of it.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SessionsPage } from "../../src/session/index.ts";
import { api, openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(() => rig.close());

/** A small program as the client. */
function script(name: string, source: string): string {
  const path = join(rig.folder, name);
  writeFileSync(path, source);
  return path;
}

const printEnvironment = `
const names = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"];
console.log(JSON.stringify(Object.fromEntries(names.map((name) => [name, process.env[name] ?? null]))));
`;

const sendOne = `
const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
  method: "POST",
  headers: {
    "content-type": "application/json",
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
    "x-aperture-project": "from-run",
  },
  body: JSON.stringify({
    model: "claude-sonnet-4-5", max_tokens: 50, messages: [{ role: "user", content: "say hello" }],
  }),
});
console.log(response.status, JSON.stringify(await response.json()));
`;

const node = process.execPath;

async function isUp(): Promise<boolean> {
  return await fetch(`${rig.url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

describe("the client", () => {
  test("is told where to go, in an environment of its own, and its exit code is ours", async () => {
    const path = script("env.mjs", `${printEnvironment}process.exit(7);`);
    const { code, out, err } = await rig.run(["run", node, path]);
    expect(code).toBe(7);
    expect(JSON.parse(out)).toEqual({
      ANTHROPIC_BASE_URL: rig.url,
      OPENAI_BASE_URL: `${rig.url}/openai/v1`,
      GOOGLE_GEMINI_BASE_URL: `${rig.url}/gemini`,
      ANTHROPIC_CUSTOM_HEADERS: null,
    });
    const place = `127.0.0.1:${rig.port} -> ${new URL(rig.upstream.url).host}`;
    expect(err).toMatch(new RegExp(`^aperture \\d+\\.\\d+\\.\\d+ {2}proxy ${place} {2}mode auto\\n$`));
    expect(await isUp()).toBe(false);
  });

  test("claude gets the project in a header beside its own, and a hint if nothing came through", async () => {
    const bin = join(rig.folder, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "claude"), `#!${node}\n${printEnvironment}`);
    chmodSync(join(bin, "claude"), 0o755);
    const env = { PATH: `${bin}:${rig.env["PATH"]}`, ANTHROPIC_CUSTOM_HEADERS: "X-Team: a" };
    const { code, out, err } = await rig.run(["run", "claude", "--", "--continue"], env);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ANTHROPIC_BASE_URL: rig.url,
      OPENAI_BASE_URL: null,
      ANTHROPIC_CUSTOM_HEADERS: `X-Team: a\nX-Aperture-Project: ${basename(rig.folder)}`,
    });
    expect(err).toContain("No request came through Aperture");
  });

  test("gets every argument as it is", async () => {
    const path = script("args.mjs", "console.log(JSON.stringify(process.argv.slice(2)));");
    const args = ["--json", "-q", "a b", "", "--", "$HOME", "--port", "1"];
    expect(JSON.parse((await rig.run(["run", node, path, ...args])).out)).toEqual(args);
  });

  test("can send, and what it sent is there afterwards", async () => {
    const path = script("send.mjs", sendOne);
    const { code, out } = await rig.run(["run", "-q", node, path]);
    expect(code).toBe(0);
    expect(out).toMatch(/^200 .*hello/);
    await rig.up();
    const { rows } = (await api(rig, "/api/v1/sessions")) as SessionsPage;
    expect(rows).toMatchObject([{ name: "say hello", project: "from-run", requests: 1 }]);
  });

  test("that is killed by a signal ends us with 128 and its number", async () => {
    const path = script("die.mjs", 'process.kill(process.pid, "SIGKILL");');
    expect((await rig.run(["run", node, path])).code).toBe(137);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("gets %s, and decides itself", async (signal) => {
    const path = script(
      "wait.mjs",
      `process.on("${signal}", () => { console.log("got it"); process.exit(9); });
      setInterval(() => undefined, 1000);
      console.log("ready");`,
    );
    const started = rig.start(["run", node, path]);
    await started.saw(/ready/);
    started.child.kill(signal);
    expect(await started.ended).toMatchObject({ code: 9, signal: null, out: "ready\ngot it\n" });
    expect(await isUp()).toBe(false);
  });
});

describe("a client that cannot run", () => {
  test("is not found: 127, and nothing was started", async () => {
    const { code, err } = await rig.run(["run", "no-such-client"]);
    expect(code).toBe(127);
    expect(err).toContain("no-such-client was not found on PATH");
    expect(existsSync(rig.dataDir)).toBe(false);
  });

  test("is no program: 126, and the proxy has ended", async () => {
    const path = script("plain.txt", "hello");
    const { code, err } = await rig.run(["run", path]);
    expect(code).toBe(126);
    expect(err).toContain("could not be started (EACCES)");
    expect(await isUp()).toBe(false);
  });
});

describe("the proxy", () => {
  test("that runs already is used, and goes on afterwards", async () => {
    await rig.up();
    const path = script("send.mjs", sendOne);
    const { code, out, err } = await rig.run(["run", node, path]);
    expect(code).toBe(0);
    expect(out).toMatch(/^200 /);
    expect(err).toContain("the upstreams it was started with");
    expect(await isUp()).toBe(true);
  });

  test("that ends under a client is replaced, so that the client goes on", async () => {
    const first = await rig.up();
    const path = script(
      "patient.mjs",
      `const url = process.env.ANTHROPIC_BASE_URL + "/healthz";
      const look = () => fetch(url).then(() => true, () => false);
      console.log("ready");
      while (await look()) await new Promise((done) => setTimeout(done, 20));
      console.log("gone");
      while (!(await look())) await new Promise((done) => setTimeout(done, 20));
      console.log("back");
      ${sendOne}`,
    );
    const started = rig.start(["run", node, path]);
    await started.saw(/ready/);
    first.child.kill("SIGTERM");
    const { code, out } = await started.ended;
    expect(code).toBe(0);
    expect(out).toMatch(/^ready\ngone\nback\n200 /);
    expect(await isUp()).toBe(false);
  });

  test("an address that was set before is named, because the client no longer goes there", async () => {
    const path = script("nothing.mjs", "");
    const { err } = await rig.run(["run", node, path], { ANTHROPIC_BASE_URL: "https://gateway.example" });
    expect(err).toContain("ANTHROPIC_BASE_URL was https://gateway.example");
    expect(err).toContain("APERTURE_UPSTREAM_ANTHROPIC");
  });
});
