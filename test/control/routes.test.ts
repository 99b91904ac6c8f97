import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../src/control/contract.ts";
import type { Written } from "../support/observed-session.ts";
import { serve, type TestControl, token } from "./serve.ts";

const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)> \u001b]0;x\u0007 "quoted" 🔥';

let served: TestControl;
let written: Written;

beforeAll(async () => {
  served = await serve();
  const session = await served.session("shop-1");
  written = await session.talk({ user: hostile, answer: hostile });
  await session.talk({ user: "second", answer: "yes" });
  served.clock.advance(1_000);
  await served.session("shop-2");
});
afterAll(() => served.close());

const pathOf = (path: string) =>
  path
    .replace(":session", "shop-1")
    .replace(":block", "1")
    .replace(":exchange", "1")
    .replace(":approval", "1")
    .replace(/expansion$/, "expansion?block=1")
    .replace(/labels$/, "labels?blocks=1");
const json = routes.filter(({ returns, method }) => method === "GET" && /^[A-Z]/.test(returns));

describe.each(["as written", "after the database was opened again"])("reading, %s", (when) => {
  beforeAll(async () => {
    if (when !== "as written") await served.reopen();
  });

  it.each(json)("$name answers with JSON that is never cached or sniffed", async ({ path }) => {
    const { status, headers, json: parsed } = await served.get(pathOf(path));
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    expect(parsed()).toBeTypeOf("object");
  });

  it("every answer about a session carries its seq", async () => {
    for (const { path } of json.filter((route) => route.path.includes(":session"))) {
      expect((await served.get(pathOf(path))).json()["seq"]).toBe(5);
    }
  });

  it("the list has the newest first, in pages", async () => {
    const page = (await served.get("/api/v1/sessions?limit=1")).json();
    expect(page).toMatchObject({ rows: [{ id: "shop-2" }], damaged: [] });
    const next = String(page["next"]);
    expect((await served.get(`/api/v1/sessions?limit=1&before=${next}`)).json()).toMatchObject({
      rows: [{ id: "shop-1", requests: 2, lastActivity: 1_700_000_000_000 }],
      next: null,
    });
    expect((await served.get("/api/v1/sessions/last")).json()).toMatchObject({ session: { id: "shop-2" } });
  });

  it("the state can be read as of a seq", async () => {
    const then = (await served.get("/api/v1/sessions/shop-1/state?at=3&stream=1")).json();
    expect(then).toMatchObject({ seq: 3, head: 5, blocks: [{ n: 1 }, { n: 2 }] });
  });

  it("a block comes with its content, or a piece of it", async () => {
    const whole = (await served.get("/api/v1/sessions/shop-1/blocks/1")).json();
    expect(whole).toMatchObject({ content: { text: JSON.stringify({ type: "text", text: hostile }) } });
    const piece = (await served.get("/api/v1/sessions/shop-1/blocks/1?from=2&length=4")).json();
    expect(piece).toMatchObject({ content: { text: "type", from: 2, length: 4 } });
  });

  it("requests and frames come in pages", async () => {
    const requests = (await served.get("/api/v1/sessions/shop-1/requests?after=1&limit=1")).json();
    expect(requests).toMatchObject({ total: 2, rows: [{ id: 2, outcome: "complete" }], next: null });
    const frames = (await served.get("/api/v1/sessions/shop-1/frames?after=2&limit=1")).json();
    expect(frames).toEqual({ session: "shop-1", seq: 5, frames: [written.frames[1]], next: 3 });
  });

  it("bodies are the exact bytes, as files to save", async () => {
    for (const [side, bytes] of [
      ["client", written.request],
      ["upstream", written.request],
      ["response", written.response],
    ] as const) {
      const reply = await served.get(`/api/v1/sessions/shop-1/requests/1/${side}`);
      expect(reply.bytes).toEqual(bytes);
      expect(reply.headers["content-type"]).toBe("application/octet-stream");
      expect(reply.headers["content-disposition"]).toMatch(/^attachment; filename="1-[a-z-]+\.bin"$/);
    }
  });
});

describe("open routes", () => {
  it("report that it runs, and nothing that is recorded", async () => {
    const welcome = await served.call("/");
    expect(welcome.text).toContain("Aperture 1.2.3");
    expect(welcome.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect((await served.call("/healthz")).json()).toEqual({ ok: true });
    expect((await served.call("/readyz")).json()).toEqual({
      ok: true,
      storage: "ok",
      message: null,
      recording: { on: true, missed: 0, since: null },
    });
  });

  it("figures need the token and have our prefix", async () => {
    const { text } = await served.get("/metrics");
    expect(text).toContain('aperture_requests_total{outcome="complete"} 2');
    expect(text).toContain("aperture_viewers 0");
  });
});

describe("a request that cannot be answered", () => {
  it.each([
    ["/api/v1/sessions/unknown", 404, "AP_SESSION_UNKNOWN"],
    ["/api/v1/sessions/SHOP-1/state", 404, "AP_SESSION_UNKNOWN"],
    ["/api/v1/sessions/%2e%2e/state", 404, "AP_SESSION_UNKNOWN"],
    ["/api/v1/sessions/shop-1/blocks/99", 404, "AP_BLOCK_UNKNOWN"],
    // A block of another session is unknown, too.
    ["/api/v1/sessions/shop-2/blocks/1", 404, "AP_BLOCK_UNKNOWN"],
    ["/api/v1/sessions/shop-2/requests/1", 404, "AP_EXCHANGE_UNKNOWN"],
    ["/api/v1/sessions/shop-1/requests/9/client", 404, "AP_EXCHANGE_UNKNOWN"],
    ["/api/v1/sessions/shop-1/requests/9/diff", 404, "AP_EXCHANGE_UNKNOWN"],
    ["/api/v1/sessions/shop-1/requests/9/replay", 404, "AP_EXCHANGE_UNKNOWN"],
    ["/api/v1/sessions/shop-1/requests/1/replay?with=previous", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/requests/1/diff?with=previous", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/requests/1/diff?with=next", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/state?at=99", 404, "AP_SEQ_UNKNOWN"],
    ["/api/v1/sessions/shop-1/state?stream=9", 404, "AP_STREAM_UNKNOWN"],
    ["/api/v1/sessions/shop-1/state?at=x", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/selection?stream=9", 404, "AP_STREAM_UNKNOWN"],
    ["/api/v1/sessions/shop-1/manifest?detail=long", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/manifest?stream=9", 404, "AP_STREAM_UNKNOWN"],
    ["/api/v1/sessions/shop-1/expansion", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/expansion?block=1&messages=1", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/expansion?messages=3..1", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/expansion?messages=one", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/expansion?block=99", 404, "AP_BLOCKS_UNKNOWN"],
    ["/api/v1/sessions/shop-1/expansion?messages=98..99", 404, "AP_MESSAGES_UNKNOWN"],
    ["/api/v1/sessions/shop-1/labels", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions/shop-1/labels?blocks=1,x", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions?limit=1001", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions?before=x", 400, "AP_QUERY_INVALID"],
    ["/api/v1/sessions?colour=red", 400, "AP_QUERY_INVALID"],
    ["/api/v1/events?session=unknown", 404, "AP_SESSION_UNKNOWN"],
    ["/api/v1/nothing", 404, "AP_ROUTE_UNKNOWN"],
    ["/s/shop-1", 404, "AP_ROUTE_UNKNOWN"],
    ["/assets/<script>", 404, "AP_ROUTE_UNKNOWN"],
  ])("%s is %d %s", async (path, status, code) => {
    const reply = await served.get(path);
    expect([reply.status, reply.headers["content-type"]]).toEqual([status, "application/json"]);
    expect(reply.json()).toEqual({ error: { code, message: expect.stringMatching(/^[A-Z].*\.$/) } });
  });

  it.each(routes)("$name refuses other methods and names the allowed ones", async ({ path }) => {
    const right = routes.filter((route) => route.path === path).map(({ method }) => method as string);
    for (const wrong of ["DELETE", "PUT", "POST", "GET"].filter((method) => !right.includes(method))) {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await served.call(pathOf(path), { method: wrong, headers });
      const allowed = reply.headers.allow?.split(", ").filter((method) => method !== "HEAD");
      expect([reply.status, allowed]).toEqual([405, right]);
      expect(reply.json()).toMatchObject({ error: { code: "AP_METHOD_INVALID" } });
    }
  });
});

describe("whether subscription logins are managed", () => {
  const put = (body: string) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return served.call("/api/v1/manage-logins", { method: "PUT", headers, body });
  };
  const managesLogins = async () => (await served.get("/api/v1/health")).json()["managesLogins"];

  it("can be set while it runs, and health reports it", async () => {
    expect(await managesLogins()).toBe(false);
    expect((await put('{"managesLogins":true}')).json()).toEqual({ managesLogins: true });
    expect(await managesLogins()).toBe(true);
    expect((await put('{"managesLogins":false}')).status).toBe(200);
    expect(await managesLogins()).toBe(false);
  });

  it.each(["{}", '{"managesLogins":1}', '{"managesLogins":true,"more":1}', "nothing"])(
    "stays as it is after %s",
    async (body) => {
      expect((await put(body)).json()).toMatchObject({ error: { code: "AP_INPUT_INVALID" } });
      expect(await managesLogins()).toBe(false);
    },
  );
});

describe("every answer", () => {
  it("has the security headers, allows no other origin, and is never HTML", async () => {
    const paths = [...routes.map(({ path }) => pathOf(path)), "/api/v1/nothing", "/s/x", "/assets/x.html"];
    for (const path of paths) {
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
        for (const authorization of [`Bearer ${token}`, ""]) {
          const headers = { authorization, origin: `http://127.0.0.1:${served.port}` };
          const reply = await served.call(path, { method, headers });
          expect(reply.headers).toMatchObject({
            "x-content-type-options": "nosniff",
            "cross-origin-resource-policy": "same-origin",
            "cache-control": "no-store",
            "content-security-policy": expect.stringMatching(/^default-src 'none'/),
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
          });
          expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
          expect(reply.headers["content-type"]).not.toMatch(/html|xml|svg|javascript/);
        }
      }
    }
  });

  it("to HEAD is that to GET without its body", async () => {
    const gets = routes.filter(({ method, returns }) => method === "GET" && returns !== "redirect");
    for (const { path } of gets) {
      const headers = { authorization: `Bearer ${token}` };
      const head = await served.call(pathOf(path), { method: "HEAD", headers });
      const get = await served.call(pathOf(path), { headers });
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
      expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
      expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    }
  });
});
