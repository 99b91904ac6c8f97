// `aperture run`: a client that runs through Aperture unchanged.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SessionsPage } from "../../src/queries/answers/index.ts";
import { needsTerminals } from "../support/needs.ts";
import { api, openRig, post, type Rig } from "./rig.ts";

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
  test("gets the addresses in its own environment, and its exit code is passed on", async () => {
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
    const [head, panel, ...rest] = err.trimEnd().split("\n");
    expect(head).toMatch(new RegExp(`^aperture \\d+\\.\\d+\\.\\d+ {2}proxy ${place} {2}mode auto$`));
    expect(panel).toMatch(new RegExp(`^panel {4}${rig.url}/login\\?code=\\S+ `));
    expect(rest).toEqual([expect.stringMatching(/^managed /), expect.stringMatching(/^relayed /)]);
    expect(await isUp()).toBe(false);
  });

  test("claude gets the first-party variable only if requests go to Anthropic", async () => {
    const bin = join(rig.folder, "bin");
    mkdirSync(bin);
    const name = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";
    writeFileSync(join(bin, "claude"), `#!${node}\nconsole.log(process.env.${name} ?? "not set");`);
    chmodSync(join(bin, "claude"), 0o755);
    const env = { PATH: `${bin}:${rig.env["PATH"]}` };
    const official = { ...env, APERTURE_UPSTREAM_ANTHROPIC: "https://api.anthropic.com" };
    const variable = async (more: Readonly<Record<string, string>>) =>
      (await rig.run(["run", "claude"], more)).out.trim();
    expect(await variable(env)).toBe("not set");
    expect(await variable(official)).toBe("1");
    expect(await variable({ ...official, [name]: "0" })).toBe("0");
    // A running Aperture reports its own upstreams.
    await rig.up();
    expect(await variable(official)).toBe("not set");
  }, 60_000);

  test("claude gets the project as a header, and a hint if no request came through", async () => {
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

  test("gets every argument unchanged", async () => {
    const path = script("args.mjs", "console.log(JSON.stringify(process.argv.slice(2)));");
    const args = ["--json", "-q", "a b", "", "--", "$HOME", "--port", "1"];
    expect(JSON.parse((await rig.run(["run", node, path, ...args])).out)).toEqual(args);
  });

  test("can send requests, which are recorded", async () => {
    const path = script("send.mjs", sendOne);
    const { code, out } = await rig.run(["run", "-q", node, path]);
    expect(code).toBe(0);
    expect(out).toMatch(/^200 .*hello/);
    await rig.up();
    const { rows } = (await api(rig, "/api/v1/sessions")) as SessionsPage;
    expect(rows).toMatchObject([{ name: "say hello", project: "from-run", requests: 1 }]);
  });

  test("that is killed by a signal gives 128 plus its number", async () => {
    const path = script("die.mjs", 'process.kill(process.pid, "SIGKILL");');
    expect((await rig.run(["run", node, path])).code).toBe(137);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("gets %s and decides itself", async (signal) => {
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

describe("a client that cannot start", () => {
  test("is not found: 127, and Aperture is not started", async () => {
    const { code, err } = await rig.run(["run", "no-such-client"]);
    expect(code).toBe(127);
    expect(err).toContain("no-such-client was not found on PATH");
    expect(err).toContain("`aperture demo` needs no client");
    expect(existsSync(rig.dataDir)).toBe(false);
  });

  test("is not executable: 126, and Aperture is stopped", async () => {
    const path = script("plain.txt", "hello");
    const { code, err } = await rig.run(["run", path]);
    expect(code).toBe(126);
    expect(err).toContain("could not be started (EACCES)");
    expect(await isUp()).toBe(false);
  });
});

describe("the proxy", () => {
  test("that is already running is used, and keeps running", async () => {
    await rig.up();
    const path = script("send.mjs", sendOne);
    const { code, out, err } = await rig.run(["run", node, path]);
    expect(code).toBe(0);
    expect(out).toMatch(/^200 /);
    expect(err).toContain(`-> ${new URL(rig.upstream.url).host}  mode auto`);
    expect(await isUp()).toBe(true);
    const link = /http\S+\/login\S+/.exec(err)?.[0] ?? "";
    const login = await fetch(link, { redirect: "manual" });
    expect(login.status).toBe(303);
    expect(login.headers.get("set-cookie")).toContain("HttpOnly");
    expect((await fetch(link, { redirect: "manual" })).headers.get("set-cookie")).toBeNull();
  });

  test("that ends before its client is replaced", async () => {
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

  test("reports an address that it overrides", async () => {
    const path = script("nothing.mjs", "");
    const { err } = await rig.run(["run", node, path], { ANTHROPIC_BASE_URL: "https://gateway.example" });
    expect(err).toContain("ANTHROPIC_BASE_URL was https://gateway.example");
    expect(err).toContain("APERTURE_UPSTREAM_ANTHROPIC");
  });
});

/** A program with the name of a client that prints how it was started. */
function fakeClient(name: string): Readonly<Record<string, string>> {
  const bin = join(rig.folder, "bin");
  mkdirSync(bin, { recursive: true });
  const source = `import { readFileSync } from "node:fs";
const { OPENCODE_CONFIG_CONTENT, GEMINI_CLI_CUSTOM_HEADERS, GOOGLE_GEMINI_BASE_URL } = process.env;
const args = process.argv.slice(2);
const file = args[0] === "-e" ? readFileSync(args[1], "utf8") : null;
const env = { OPENCODE_CONFIG_CONTENT, GEMINI_CLI_CUSTOM_HEADERS, GOOGLE_GEMINI_BASE_URL };
console.log(JSON.stringify({ args, env, file }));`;
  writeFileSync(join(bin, `${name}.mjs`), source);
  writeFileSync(join(bin, name), `#!/bin/sh\nexec '${node}' '${join(bin, `${name}.mjs`)}' "$@"\n`, {
    mode: 0o755,
  });
  return { PATH: `${bin}:${rig.env["PATH"]}` };
}

type FakeClientOutput = {
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly file: string;
};

describe("known clients", () => {
  async function started(name: string, more: Readonly<Record<string, string>> = {}) {
    const { out, err } = await rig.run(["run", name, "--", "hello"], { ...fakeClient(name), ...more });
    return { ...(JSON.parse(out) as FakeClientOutput), err };
  }

  test("codex gets the address on its command line, and is not managed", async () => {
    const { args, err } = await started("codex");
    expect(args).toEqual(["-c", `openai_base_url="${rig.url}/openai/v1"`, "hello"]);
    expect(err).toMatch(/^relayed {2}everything: codex is not managed yet/m);
    expect(err).not.toMatch(/^managed/m);
  });

  test("gemini and opencode get the address in their environment, merged with the user's", async () => {
    const gemini = await started("gemini", { GEMINI_CLI_CUSTOM_HEADERS: "X-Team: a" });
    expect(gemini.env["GOOGLE_GEMINI_BASE_URL"]).toBe(`${rig.url}/gemini`);
    expect(gemini.env["GEMINI_CLI_CUSTOM_HEADERS"]).toBe(
      `X-Team: a, X-Aperture-Project: ${basename(rig.folder)}`,
    );
    const own = JSON.stringify({ theme: "dark", provider: { openai: { options: { timeout: 5 } } } });
    const { env, err } = await started("opencode", { OPENCODE_CONFIG_CONTENT: own });
    expect(JSON.parse(env["OPENCODE_CONFIG_CONTENT"] ?? "")).toMatchObject({
      theme: "dark",
      provider: { openai: { options: { timeout: 5, baseURL: `${rig.url}/openai/v1` } } },
    });
    expect(err).toMatch(/^managed {2}Claude models: /m);
    expect(err).toMatch(/^relayed {2}other models: /m);
  });

  test("pi gets a temporary extension", async () => {
    const { args, file } = await started("pi");
    expect(args.slice(2)).toEqual(["hello"]);
    expect(file).toContain("registerProvider");
    expect(file).toContain(`"baseUrl":"${rig.url}"`);
    expect(existsSync(args[1] ?? "")).toBe(false);
  });

  test("a mode holds for the client alone", async () => {
    const { err } = await rig.run(["run", "--mode", "observe", node, script("nothing.mjs", "")]);
    expect(err).toContain("mode observe");
    expect(err).toMatch(/^relayed {2}everything: in mode observe/m);
    expect((await rig.run(["run", "--mode", "bold", node, script("nothing.mjs", "")])).code).toBe(2);
  });
});

test("a running Aperture keeps its mode, and the banner says so", async () => {
  await rig.up();
  const { err } = await rig.run(["run", "--mode", "ask", node, script("nothing.mjs", "")]);
  expect(err).toMatch(/ mode auto\nmode {5}not ask: the running Aperture keeps its own/);
  // A client whose requests can carry the mode is observed nevertheless.
  const claude = await rig.run(["run", "--mode", "observe", "claude"], fakeClient("claude"));
  expect(claude.err).toMatch(/ mode observe\n/);
  expect(claude.err).not.toMatch(/^mode |^managed /m);
  // Any other client is not started, because it would be managed.
  const other = await rig.run(["run", "--mode", "observe", node, script("told.mjs", "console.log('here')")]);
  expect([other.code, other.out]).toEqual([1, ""]);
  expect(other.err).toContain("cannot ask it only to observe");
});

describe("a subscription login", () => {
  const config = () => join(rig.home, ".config", "aperture", "config.json");

  function runWithAnswer(answer: string, args: readonly string[] = []): string {
    mkdirSync(join(rig.home, ".claude"), { recursive: true });
    writeFileSync(join(rig.home, ".claude", ".credentials.json"), "not for us");
    const words = [node, join(process.cwd(), "dist/cli/main.cjs"), ...args, "run", "claude"].map(
      (word) => `'${word}'`,
    );
    const env = { ...rig.env, ...fakeClient("claude"), TERM: "dumb" };
    const options = { env, cwd: rig.folder, input: answer, encoding: "utf8" as const, timeout: 20_000 };
    return spawnSync("script", ["-qec", words.join(" "), "/dev/null"], options).stdout;
  }

  /** Sends a request with the login. Returns whether the upstream got other bytes than the client wrote. */
  async function isManaged(session: string): Promise<boolean> {
    const messages = [{ role: "user", content: "say hello" }];
    const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 50, messages });
    const login = { authorization: "Bearer sk-ant-oat01-not-a-real-login", "x-aperture-session": session };
    const { sent } = await post(rig, body, login);
    return rig.upstream.exchanges.at(-1)?.body.equals(sent) === false;
  }

  test("is managed by a running Aperture as soon as its owner agrees", async (context) => {
    needsTerminals(context);
    await rig.up();
    expect(await isManaged("before")).toBe(false);
    expect(runWithAnswer("y\n")).toMatch(/^managed {2}conversations with tools/m);
    expect(await isManaged("after")).toBe(true);
  }, 60_000);

  test("is not managed by a running Aperture that does not know of the consent, and the banner says so", async () => {
    await rig.up();
    await rig.run(["config", "set", "manageLogins", "1"]);
    const env = { ...fakeClient("claude"), CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-not-a-real-login" };
    const { err } = await rig.run(["run", "claude"], env);
    expect(err).toMatch(/^relayed {2}everything: sessions on a subscription login.*restart Aperture/m);
    expect(await isManaged("after")).toBe(false);
  });

  test("is asked about once, at a terminal, and the answer is stored", async (context) => {
    needsTerminals(context);
    expect(runWithAnswer("", ["--no-input"])).not.toContain("Manage sessions");
    await rig.run(["run", "claude"], fakeClient("claude"));
    expect(existsSync(config())).toBe(false);
    expect(runWithAnswer("y\n")).toContain("Manage sessions of this login too?");
    expect(JSON.parse(readFileSync(config(), "utf8"))).toEqual({ manageLogins: "1" });
    const again = runWithAnswer("n\n");
    expect(again).not.toContain("Manage sessions");
    expect(again).toMatch(/^managed {2}conversations with tools/m);
  }, 60_000);

  test("without consent is only observed, and not asked about again", (context) => {
    needsTerminals(context);
    expect(runWithAnswer("\n")).toContain("Manage sessions of this login too?");
    expect(JSON.parse(readFileSync(config(), "utf8"))).toEqual({ manageLogins: "0" });
    const again = runWithAnswer("\n");
    expect(again).not.toContain("Manage sessions");
    expect(again).toMatch(/^relayed {2}everything: sessions on a subscription login/m);
  });
});
