// Users rename, export and delete sessions while their clients go on.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionsPage, StateRow, StepsPage } from "../../src/queries/answers/index.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { type Answer, ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";
import { prefixBreaks, rejections, TestClient } from "../support/test-client.ts";

const secret = "the plan is called heron";
const key = `sk-ant-${"api03-aB3dE6".repeat(5)}`;
let upstream: StrictUpstream;
let app: TestApp;
const talker = new TestClient({ session: "first" });
const other = new TestClient({ session: "second" });

beforeAll(async () => {
  upstream = await startStrictUpstream({
    model: () => ({
      content: [
        { type: "thinking", thinking: "a thought of it" },
        { type: "text", text: "said" },
      ],
    }),
  });
  app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } });
  for (const prompt of ["one", `${secret}, its key ${key}`]) await talker.turn(app.url, prompt);
  await other.turn(app.url, "another talk");
  await app.recorded();
}, 60_000);
afterAll(async () => {
  await app.remove();
  await upstream.close();
});

const sessions = async () => jsonIn<SessionsPage>(await app.api("/sessions")).rows;
const first = async () => (await sessions()).find(({ requests }) => requests === 2)?.id ?? "";

async function write(method: "PUT" | "POST" | "DELETE", path: string, body: unknown): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = { authorization: `Bearer ${app.token}`, "content-length": `${Buffer.byteLength(text)}` };
  return await ask(`${app.url}/api/v1/sessions/${path}`, { method, headers, body: text });
}

async function verify(): Promise<unknown> {
  const headers = { authorization: `Bearer ${app.token}` };
  return jsonIn(await ask(`${app.url}/api/v1/verify`, { method: "POST", headers, body: "{}" }));
}

describe("a name", () => {
  it("is shown in every list, is one step, and can be undone", async () => {
    const id = await first();
    const named = await write("PUT", `${id}/name`, { name: " fix\u202e-auth\n" });
    expect([named.status, jsonIn(named)]).toMatchObject([200, { session: id, name: "fix -auth" }]);
    expect((await sessions()).find((row) => row.id === id)?.name).toBe("fix -auth");
    const steps = jsonIn<StepsPage>(await app.api(`/sessions/${id}/steps`)).rows;
    expect(steps.at(-1)).toMatchObject({ actor: "user", said: 'named the session "fix -auth"', blocks: [] });
    await write("POST", `${id}/undo`, {});
    expect((await sessions()).find((row) => row.id === id)?.name).toMatch(/^one/);
  });

  it.each([{}, { name: 7 }, { name: "\u200e" }, { name: "x", more: 1 }])("is refused as %j", async (body) => {
    const { status, body: answerBody } = await write("PUT", `${await first()}/name`, body);
    expect([status, answerBody.toString()]).toEqual([400, expect.stringContaining("AP_INPUT_INVALID")]);
  });
});

describe("an export", () => {
  it.each(["jsonl", "md", "html", "har"])("as %s is a file to be saved, without secrets", async (format) => {
    const answer = await app.api(`/sessions/${await first()}/export?format=${format}`);
    const text = answer.body.toString();
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/octet-stream"]);
    expect(answer.headers["content-disposition"]).toMatch(
      new RegExp(`^attachment; filename="aperture-.{8}\\.${format}"$`),
    );
    expect(text).toContain(secret);
    expect(text).not.toContain(key);
    expect(text).toContain("[masked]");
  });

  it("as jsonl holds every frame, block and request", async () => {
    const id = await first();
    const text = (await app.api(`/sessions/${id}/export`)).body.toString().trimEnd();
    const types = text.split("\n").map((line) => (JSON.parse(line) as { readonly type: string }).type);
    const count = (type: string) => types.filter((each) => each === type).length;
    const { head, total } = jsonIn<StateRow>(await app.api(`/sessions/${id}/state`));
    expect([count("frame"), count("block"), count("request")]).toEqual([head, total, 2]);
  });

  it("is refused if the format or the session is unknown", async () => {
    expect((await app.api(`/sessions/${await first()}/export?format=pdf`)).status).toBe(400);
    expect((await app.api("/sessions/nobody/export")).status).toBe(404);
  });
});

describe("deleting a session", () => {
  it("needs its full id", async () => {
    for (const body of [{}, { confirm: "last" }, { confirm: "" }]) {
      expect((await write("DELETE", await first(), body)).status).toBe(400);
    }
    expect(await sessions()).toHaveLength(2);
  });

  it("leaves no byte of it on the disk, and keeps all other sessions", async () => {
    const id = await first();
    const before = jsonIn<StateRow>(await app.api(`/sessions/${id}/state`));
    const deleted = await write("DELETE", id, { confirm: id });
    expect([deleted.status, jsonIn(deleted)]).toMatchObject([200, { session: id, frames: before.head }]);
    expect((await app.api(`/sessions/${id}/state`)).status).toBe(404);
    expect(await sessions()).toHaveLength(1);
    for (const name of readdirSync(app.dataDir)) {
      expect(readFileSync(join(app.dataDir, name)).includes(secret), name).toBe(false);
    }
    const report = await verify();
    expect(report).toMatchObject({ sessions: 1, damage: [] });
  });

  it("does not disturb its client: later requests are answered and recorded as a new session", async () => {
    await talker.turn(app.url, "three");
    await talker.turn(app.url, "four");
    await app.recorded();
    const own = upstream.exchanges.map(({ body }) => body).filter((body) => body.includes(secret));
    expect([own.length, rejections(upstream.exchanges), prefixBreaks(own)]).toEqual([3, [], 0]);
    const [row] = (await sessions()).filter(({ requests }) => requests === 2);
    const state = jsonIn<StateRow>(await app.api(`/sessions/${row?.id}/state`));
    expect(state.blocks.filter(({ kind }) => kind === "user").length).toBeGreaterThanOrEqual(4);
    expect(await verify()).toMatchObject({ sessions: 2, damage: [] });
  });
});
