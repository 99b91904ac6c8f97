// Selecting blocks over the API: accepted and refused bodies.
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Reply, serve, type TestControl, token } from "./serve.ts";

const path = "/api/v1/sessions/s1/selection";
const bearer = { authorization: `Bearer ${token}` };

let served: TestControl;
beforeEach(async () => {
  served = await serve();
  const session = await served.session("s1");
  await session.talk({ user: "hello", answer: "yes" });
  await session.talk({ user: "more", answer: "no" });
});
afterEach(() => served.close());

const put = (body: unknown, to = path): Promise<Reply> =>
  served.call(to, {
    method: "PUT",
    headers: bearer,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const chosen = (reply: Reply) => (reply.json()["selected"] as { block: number }[]).map(({ block }) => block);

describe("selecting", () => {
  it("sets exactly the named blocks, is idempotent, and can be read back", async () => {
    const first = await put({ blocks: [3, 1] });
    expect([first.status, first.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(first.json()).toMatchObject({ seq: 6, stream: 1, skipped: [], told: "[user-selected] #1 #3" });
    expect((await put({ blocks: [3, 1] })).json()).toEqual(first.json());
    const { skipped: _, durable: __, ...rest } = first.json();
    expect((await served.get(path)).json()).toEqual(rest);
    expect(chosen(await put({ blocks: [2] }))).toEqual([2]);
    expect(chosen(await put({ blocks: [] }))).toEqual([]);
  });

  it("outlives the process", async () => {
    const { skipped: _, durable: __, ...before } = (await put({ blocks: [2] })).json();
    await served.reopen();
    expect((await served.get(path)).json()).toEqual(before);
  });

  it("names unknown blocks; if all are unknown, the error names the nearest", async () => {
    expect((await put({ blocks: [2, 99] })).json()).toMatchObject({
      skipped: [{ block: 99, code: "AP_BLOCK_UNKNOWN" }],
    });
    const wrong = await put({ blocks: [98, 99] });
    expect(wrong.status).toBe(404);
    expect(wrong.json()).toEqual({
      error: {
        code: "AP_BLOCKS_UNKNOWN",
        message: "There is no block #98, #99 in this view; the nearest are #1, #2, #3, #4.",
      },
    });
    expect(chosen(await served.get(path))).toEqual([2]);
  });

  it("of one stream by its number", async () => {
    expect((await put({ blocks: [1] }, `${path}?stream=1`)).status).toBe(200);
    expect((await put({ blocks: [1] }, `${path}?stream=9`)).json()).toMatchObject({
      error: { code: "AP_STREAM_UNKNOWN" },
    });
    expect((await put({ blocks: [1] }, `${path}?colour=red`)).status).toBe(400);
    expect((await put({ blocks: [1] }, "/api/v1/sessions/none/selection")).status).toBe(404);
  });
});

describe("an invalid selection changes nothing", () => {
  it.each([
    ["nothing", ""],
    ["no JSON", "{blocks"],
    ["no object", "[1]"],
    ["null", "null"],
    ["no list", { blocks: 1 }],
    ["another field", { block: [1] }],
    ["one field too many", { blocks: [1], stream: 1 }],
    ["a text", { blocks: ["1"] }],
    ["a fraction", { blocks: [1.5] }],
    ["zero", { blocks: [0] }],
    ["a negative number", { blocks: [-1] }],
    ["a number that is none", '{"blocks":[1e400]}'],
    ["too many", { blocks: Array.from({ length: 1_001 }, () => 1) }],
  ])("%s", async (_, body) => {
    const { status, json } = await put(body);
    expect([status, json()]).toMatchObject([400, { error: { code: "AP_INPUT_INVALID" } }]);
    expect((await served.get(path)).json()).toMatchObject({ seq: 5, selected: [] });
  });

  it("a body without end", async () => {
    const body = `{"blocks":[${"1,".repeat(60_000)}1]}`;
    const reply = await put(body).catch(() => null);
    // The answer may come while the body is still being written, and the connection ends with it.
    if (reply !== null) expect(reply.status).toBe(413);
    expect((await served.get(path)).json()).toMatchObject({ seq: 5, selected: [] });
  });

  it("a body that breaks off", async () => {
    const socket = connect(served.port, "127.0.0.1");
    const head = `PUT ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n`;
    socket.write(`${head}content-length: 100\r\n\r\n{"blocks":[1]}`);
    await new Promise((done) => setTimeout(done, 50));
    socket.destroy();
    await new Promise((done) => setTimeout(done, 50));
    expect((await served.get(path)).json()).toMatchObject({ seq: 5, selected: [] });
  });

  it("a page of another origin, or a cookie without its header", async () => {
    const origin = { ...bearer, origin: "http://evil.example" };
    expect((await served.call(path, { method: "PUT", headers: origin, body: '{"blocks":[1]}' })).status).toBe(
      403,
    );
    const link = await served.call("/api/v1/login-links", { method: "POST", headers: bearer });
    const login = await served.call(String(link.json()["path"]));
    const cookie = String(login.headers["set-cookie"]?.[0]).split(";", 1)[0] ?? "";
    const send = async (headers: Readonly<Record<string, string>>) =>
      (await served.call(path, { method: "PUT", headers, body: '{"blocks":[1]}' })).status;
    expect(await send({ cookie })).toBe(403);
    const right = { cookie, "x-aperture-csrf": "1", "content-type": "application/json" };
    expect(await send(right)).toBe(200);
  });

  it("other methods", async () => {
    const { status, headers } = await served.call(path, { method: "DELETE", headers: bearer });
    expect([status, headers["allow"]]).toEqual([405, "GET, HEAD, PUT"]);
  });
});

describe("reading back", () => {
  it("the manifest in both forms", async () => {
    await put({ blocks: [1] });
    const summary = (await served.get("/api/v1/sessions/s1/manifest")).json();
    expect(summary).toMatchObject({ detail: "summary", turn: 3, mode: "observe", signatures: 0, ranges: [] });
    expect(summary["text"]).toMatch(/^\[CONTEXT MANIFEST ---- turn 3 /);
    const detailed = (await served.get("/api/v1/sessions/s1/manifest?detail=detailed&stream=1")).json();
    expect(String(detailed["text"]).split("\n").length).toBeGreaterThan(2);
  });

  it("a block and a range of messages", async () => {
    const one = (await served.get("/api/v1/sessions/s1/expansion?block=2")).json();
    expect(one["text"]).toBe("[---- preserved assistant #2, message 2, turn 1]\nyes\n[---- end of #2]");
    const some = (await served.get("/api/v1/sessions/s1/expansion?messages=2..3")).json();
    expect(some).toMatchObject({ rows: [{ block: 2 }, { block: 3 }], left: 0, next: null });
  });
});
