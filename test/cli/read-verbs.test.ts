// The verbs that read: the built program in its own process, against a real proxy.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { RequestsPage, SessionsPage, StateRow } from "../../src/queries/answers/index.ts";
import { freePort } from "../start/processes.ts";
import { api, converse, openRig, post, type Rig, type Sent } from "./rig.ts";

const mark = String.fromCharCode(27);
const evil = `${mark}[31mred${mark}[0m ${mark}]0;title${String.fromCharCode(7)} \u202etxt.exe \u009b2J`;
const last = "/api/v1/sessions/last";

let rig: Rig;
let sent: readonly Sent[];

beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  await converse(rig, "earlier", [evil]);
  sent = await converse(rig, "main", ["say hëllo 👍", "say it again", "and once more"]);
  await vi.waitFor(async () => {
    const { rows } = (await api(rig, `${last}/requests`)) as RequestsPage;
    expect(rows.map(({ outcome }) => outcome)).toEqual(["complete", "complete", "complete"]);
  }, 10_000);
});
afterAll(() => rig.close());

const readers = [
  { args: ["status"], path: null },
  { args: ["sessions"], path: "/api/v1/sessions?limit=20" },
  { args: ["context"], path: `${last}/state` },
  { args: ["context", "--at", "3"], path: `${last}/state?at=3` },
  { args: ["manifest"], path: `${last}/manifest?detail=summary` },
  { args: ["manifest", "--detailed"], path: `${last}/manifest?detail=detailed` },
  { args: ["requests"], path: `${last}/requests?after=0&limit=20` },
  { args: ["requests", "--limit", "2"], path: `${last}/requests?after=1&limit=2` },
  { args: ["request", "2"], path: `${last}/requests/2` },
  { args: ["request", "2", "--diff"], path: `${last}/requests/2/diff` },
  { args: ["request", "3", "--previous"], path: `${last}/requests/3/diff?with=previous` },
  { args: ["request", "3", "--replay"], path: `${last}/requests/3/replay` },
  { args: ["log"], path: `${last}/frames?after=0&limit=20` },
] as const;

describe("every reading verb", () => {
  test.each(readers)("$args prints text without colours into a pipe", async ({ args }) => {
    const { code, out, err } = await rig.run(args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trim().length).toBeGreaterThan(20);
    expect(out).not.toContain(mark);
  });

  test.each(readers.filter(({ path }) => path !== null))(
    "$args --json prints the API's answer",
    async (each) => {
      const { code, out } = await rig.run([...each.args, "--json"]);
      expect(code).toBe(0);
      expect(out.endsWith("\n")).toBe(true);
      expect(JSON.parse(out)).toEqual(await api(rig, each.path ?? ""));
    },
  );

  test.each(readers)("$args has colours with FORCE_COLOR, and none with --no-color", async ({ args }) => {
    const force = { FORCE_COLOR: "1" };
    const verb = args[0];
    const isPlain = verb === "manifest" || (verb === "context" && args.length > 1);
    if (!isPlain) expect((await rig.run(args, force)).out).toContain(mark);
    expect((await rig.run([...args, "--no-color"], force)).out).not.toContain(mark);
    expect((await rig.run(args, { ...force, NO_COLOR: "1" })).out).not.toContain(mark);
  });
});

describe("their output", () => {
  test("status: address, storage, sessions and requests", async () => {
    const { out } = await rig.run(["status"]);
    expect(out).toContain(rig.url);
    expect(out).toMatch(/^storage +ok$/m);
    expect(out).toMatch(/^recording +on, nothing missed$/m);
    expect(out).toMatch(/^sessions +2, 0 active, 2 managed, 0 observed$/m);
    expect(out).toMatch(/^requests +4 since the start, 0 open$/m);
    expect(out).toMatch(/^upstreams +anthropic http:\/\/127[^ ]+ 4 2xx$/m);
    const data: unknown = JSON.parse((await rig.run(["status", "--json"])).out);
    expect(data).toMatchObject({ v: 1, running: true, url: rig.url, sessions: { known: 2, managed: 2 } });
  });

  test("requests and request: how each was sent", async () => {
    const { out } = await rig.run(["requests"]);
    const [headings = "", first = ""] = out.split("\n");
    expect(headings).toMatch(/\brole +sent +model\b/);
    expect(first).toMatch(/\bmanaged\b/);
    expect((await rig.run(["request", "1"])).out).toMatch(/^sent +managed: rendered by Aperture/m);
  });

  test("sessions: most recently used first; -q prints no headings", async () => {
    const { out } = await rig.run(["sessions"]);
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^id +name +client/);
    expect(lines[1]).toContain("say hëllo 👍");
    expect(lines[1]).toMatch(/\bmanaged\b/);
    const quiet = (await rig.run(["sessions", "-q"])).out.trimEnd().split("\n");
    const timeless = (line: string) => line.replace(/\S+ \S+ ago$|now$/, "");
    expect(quiet.map(timeless)).toEqual(lines.slice(1).map(timeless));
  });

  test("sessions --limit: mentions that there are more", async () => {
    const { out, err } = await rig.run(["sessions", "--limit", "1"]);
    expect(out.trimEnd().split("\n")).toHaveLength(2);
    expect(err).toContain("There are more");
  });

  test("context: the API's figures as a line, a strip and rows", async () => {
    const state = (await api(rig, `${last}/state`)) as StateRow;
    const [head, strip, ...rows] = (await rig.run(["context"])).out.trimEnd().split("\n");
    expect(head).toContain(`${state.window.used} / 200k`);
    expect(head).toContain(`seq ${state.seq}`);
    expect(strip).toMatch(/^\[[PMRo]+\.+\]$/);
    expect(strip).toHaveLength(62);
    expect(rows.join("\n")).toMatch(/^ P {2}primacy +1 block +~\d+/m);
  });

  test("a session is found by its id, by the start of it, and with --session", async () => {
    const { rows } = (await api(rig, "/api/v1/sessions")) as SessionsPage;
    const id = rows[1]?.id ?? "";
    const whole = await rig.run(["context", id, "--json"]);
    expect(JSON.parse(whole.out)).toMatchObject({ session: id });
    for (const args of [
      ["context", id.slice(0, 8)],
      ["context", "--session", id.slice(0, 8)],
    ]) {
      expect((await rig.run([...args, "--json"])).out).toBe(whole.out);
    }
  });

  test("log: frames in words, the newest last", async () => {
    const lines = (await rig.run(["log"])).out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^ +1 {2}\d\d:\d\d:\d\d {2}client +session +session of/);
    expect(lines.at(-1)).toMatch(/model +response +.*request 3 complete 200, \d+ in, \d+ out$/);
    const few = (await rig.run(["log", "--limit", "2"])).out.trimEnd().split("\n");
    expect(few).toEqual(lines.slice(-2));
  });

  test("control characters of a session never reach the terminal", async () => {
    const { rows } = (await api(rig, "/api/v1/sessions")) as SessionsPage;
    const id = rows[1]?.id ?? "";
    for (const args of [["sessions"], ["sessions", "--json"], ["context", id], ["log", "--session", id]]) {
      const { out, err } = await rig.run(args);
      for (const bad of [mark, String.fromCharCode(7), "\u202e", "\u009b"])
        expect(out + err).not.toContain(bad);
    }
  });
});

describe("the bytes of a request", () => {
  test("are exact for the client, upstream and response side", async () => {
    for (const [at, { sent: up, body }] of sent.entries()) {
      const n = `${at + 1}`;
      expect((await rig.run(["request", n, "--client"])).bytes.equals(up), `${n} client`).toBe(true);
      const { bytes } = await rig.run(["request", n, "--upstream"]);
      // The session has a name and is managed, so the upstream body is not the client's.
      expect(bytes.equals(up), `${n} upstream`).toBe(false);
      expect(rig.upstream.exchanges.some((one) => one.body.equals(bytes))).toBe(true);
      expect((await rig.run(["request", n, "--response"])).bytes.equals(body), `${n} response`).toBe(true);
    }
  });

  test("are printed one side at a time, and not as JSON", async () => {
    expect(await rig.run(["request", "1", "--client", "--response"])).toMatchObject({ code: 2, out: "" });
    expect(await rig.run(["request", "1", "--client", "--json"])).toMatchObject({ code: 2, out: "" });
  });
});

describe("log --watch", () => {
  test("prints every new frame once, and ends with 130 when interrupted", async () => {
    await converse(rig, "watched", ["say one"]);
    const watching = rig.start(["log", "--watch"]);
    await watching.saw(/request 1 complete/);
    const [{ id } = { id: "" }] = ((await api(rig, "/api/v1/sessions")) as SessionsPage).rows;
    await converse(rig, "watched", ["say one", "say two"]);
    await watching.saw(/request [23] complete/);
    watching.child.kill("SIGINT");
    const { code, out } = await watching.ended;
    expect(code).toBe(130);
    const seqs = out
      .trimEnd()
      .split("\n")
      .map((line) => Number(line.trim().split(" ")[0]));
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    const events = rig.start(["log", "--watch", "--json", "--session", id]);
    await events.saw(/"type":"frame"/);
    events.child.kill("SIGINT");
    const lines = (await events.ended).out.trimEnd().split("\n");
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ session: id });
  });
});

describe("a missing thing", () => {
  test.each([
    { args: ["context", "no-such-session"], code: 4, message: "There is no session no-such-session" },
    { args: ["request", "99"], code: 4, message: "There is no request 99" },
    { args: ["context", "--at", "99999"], code: 4, message: "There is no seq 99999" },
    { args: ["request", "seven"], code: 2, message: "is not the number of a request" },
    { args: ["log", "--limit", "5000"], code: 2, message: "limit" },
    { args: ["sesions"], code: 2, message: "did you mean sessions?" },
    { args: ["status", "--port", "http"], code: 2, message: "APERTURE_PORT must be" },
  ])("$args ends with $code", async ({ args, code, message }) => {
    const ended = await rig.run(args);
    expect(ended).toMatchObject({ code, out: "" });
    expect(ended.err).toContain(message);
  });

  test("a wrong or missing token is reported with its source", async () => {
    const other = join(rig.folder, "other");
    mkdirSync(other);
    const none = await rig.run(["sessions", "--data-dir", other]);
    expect(none.code).toBe(6);
    expect(none.err).toContain(`there is none in ${join(other, "token")}`);
    writeFileSync(join(other, "token"), "wrong\n");
    const wrong = await rig.run(["sessions", "--data-dir", other]);
    expect(wrong.code).toBe(6);
    expect(wrong.err).toContain(`rejected the token from ${join(other, "token")}`);
    const given = await rig.run(["sessions"], { APERTURE_TOKEN: "wrong" });
    expect(given.code).toBe(6);
    expect(given.err).toContain("from APERTURE_TOKEN");
    expect(given.err).not.toContain("wrong");
    rmSync(other, { recursive: true });
  });

  test.each([
    ["status"],
    ["sessions"],
    ["context"],
    ["manifest"],
    ["select"],
    ["select", "1"],
    ["expand", "1"],
    ["requests"],
    ["request", "1"],
    ["log"],
  ])("%s without a running Aperture explains how to start one", async (...args) => {
    const ended = await rig.run([...args, "--port", "1"]);
    expect(ended).toMatchObject({ code: 5, out: "" });
    expect(ended.err).toBe(
      "Aperture is not running on http://127.0.0.1:1. Start it with `aperture up`, or give its port with --port.\n",
    );
  });

  test("status --json reports it in JSON", async () => {
    const { code, out } = await rig.run(["status", "--json", "--port", "1"]);
    expect(code).toBe(5);
    expect(JSON.parse(out)).toEqual({ v: 1, running: false, url: "http://127.0.0.1:1" });
  });

  test("another program on the port is recognised", async () => {
    const server = createServer((_, response) => response.writeHead(404).end("<h1>no</h1>"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const ended = await rig.run(["sessions", "--port", `${port}`]);
    expect(ended.code).toBe(1);
    expect(ended.err).toContain("is not Aperture");
    await new Promise((done) => server.close(done));
  });
});

test("options override the environment, for up and for all other verbs", async () => {
  const [port, dataDir] = [`${await freePort()}`, join(rig.folder, "elsewhere")];
  const options = ["--port", port, "--data-dir", dataDir];
  const started = rig.start(["up", ...options]);
  await started.saw(new RegExp(`listening on http://127.0.0.1:${port}`));
  const { code, out } = await rig.run([...options, "status"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^sessions +0, 0 active, 0 managed, 0 observed$/m);
  expect(out).toContain(dataDir);
  expect(await rig.run(["sessions", ...options])).toMatchObject({ code: 0, out: "" });
  expect((await rig.run(["context", ...options])).err).toContain("No session has been recorded yet");
  started.child.kill("SIGTERM");
  expect((await started.ended).code).toBe(0);
});

describe("help", () => {
  test("for every verb, with examples; and the version", async () => {
    const { out } = await rig.run(["--help"]);
    expect(out).toMatch(/^usage: aperture[\s\S]*first steps:\n {2}aperture demo /);
    expect(out.split("\n").length).toBeLessThanOrEqual(31);
    expect((await rig.run(["help", "all"])).out).toMatch(/exit codes:[\s\S]*130 +interrupted\n$/);
    expect((await rig.run(["help", "look"])).out).toMatch(/^look: [\s\S]*\n {2}context \[SESSION\] /);
    for (const args of [
      ["help", "context"],
      ["context", "--help"],
      ["context", "-h"],
    ]) {
      const help = await rig.run(args);
      expect(help).toMatchObject({ code: 0, err: "" });
      expect(help.out).toMatch(/usage: aperture context \[SESSION\][\s\S]*--at SEQ[\s\S]*examples:/);
    }
    expect((await rig.run(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("a closed pipe is no failure", async () => {
    const started = rig.start(["--help"]);
    started.child.stdout?.destroy();
    expect((await started.ended).err).toBe("");
  });
});

test("request --replay: a refusal has the model's message and an exit code", async () => {
  const messages = [{ role: "assistant", content: "I begin." }];
  const body = JSON.stringify({ model: "claude-opus-4-6", max_tokens: 10, messages });
  expect((await post(rig, body, { "x-aperture-session": "refused" })).status).toBe(400);
  const args = ["request", "1", "--replay", "--session", "name:refused"];
  const { code, out } = await vi.waitFor(async () => {
    const ran = await rig.run(args);
    expect(ran.out).not.toBe("");
    return ran;
  }, 20_000);
  expect(code).toBe(1);
  expect(out.trimEnd().split("\n")).toEqual([
    "request 1, checked with the built-in strict model; nothing was sent",
    "refused: 400 invalid_request_error",
    "messages.0: the first message must have the role user",
  ]);
  const { code: ofJson, out: text } = await rig.run([...args, "--json"]);
  expect([ofJson, JSON.parse(text)]).toMatchObject([1, { verdict: { accepted: false, status: 400 } }]);
});
