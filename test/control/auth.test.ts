import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../src/control/contract.ts";
import { serve, type TestControl, token } from "./serve.ts";

let served: TestControl;

beforeAll(async () => {
  served = await serve();
  await (await served.session("s1")).talk({ user: "hello", answer: "yes" });
});
afterAll(() => served.close());

const bearer = { authorization: `Bearer ${token}` };
const pathOf = (path: string) =>
  path
    .replace(":session", "s1")
    .replace(":block", "1")
    .replace(":exchange", "1")
    .replace(/expansion$/, "expansion?block=1")
    .replace(/labels$/, "labels?blocks=1");

async function newLink(): Promise<string> {
  const reply = await served.call("/api/v1/login-links", { method: "POST", headers: bearer });
  expect(reply.status).toBe(200);
  return String(reply.json()["path"]);
}

async function loggedIn(): Promise<string> {
  const reply = await served.call(await newLink());
  return String(reply.headers["set-cookie"]?.[0]).split(";", 1)[0] ?? "";
}

describe("without credentials", () => {
  const closed = routes.filter(({ needs }) => needs !== "nothing");

  it("only these are open", () => {
    const open = routes.filter(({ needs }) => needs === "nothing").map(({ path }) => path);
    expect(open).toEqual(["/", "/login", "/healthz", "/readyz"]);
  });

  it.each(closed)("$method $path is refused", async ({ path, method }) => {
    const wrong = [{}, { authorization: "Bearer wrong" }, { cookie: "aperture-00000000=x" }];
    for (const headers of wrong) {
      const reply = await served.call(pathOf(path), { method, headers });
      expect([reply.status, reply.headers["content-type"]]).toEqual([401, "application/json"]);
      expect(reply.json()).toMatchObject({ error: { code: "AP_AUTH_REQUIRED" } });
      expect(reply.headers["set-cookie"]).toBeUndefined();
    }
  });

  it.each(["/api/v1/nothing", "/api/v1", "/s/s1", "/assets/x", "/api/v1/sessions/none"])(
    "it is not revealed whether %s exists",
    async (path) => {
      expect((await served.call(path)).status).toBe(401);
      expect((await served.call(path, { method: "DELETE" })).status).toBe(401);
    },
  );
});

describe("with a cookie", () => {
  it("everything can be read, except what needs the token itself", async () => {
    const cookie = await loggedIn();
    for (const { path, needs } of routes.filter(({ method, name }) => method === "GET" && name !== "login")) {
      const reply = await served.call(pathOf(path), { headers: { cookie } });
      expect([path, reply.status]).toEqual([path, needs === "token" ? 401 : 200]);
    }
  });

  it("a write needs the header and the type that another page cannot send", async () => {
    const cookie = await loggedIn();
    const right = { cookie, "x-aperture-csrf": "1", "content-type": "application/json" };
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await served.call("/api/v1/logout", { method: "POST", headers, body: "{}" })).status;
    expect(await status({ cookie })).toBe(403);
    expect(await status({ cookie, "content-type": "application/json" })).toBe(403);
    expect(await status({ ...right, "content-type": "text/plain" })).toBe(403);
    expect(await status({ ...right, "x-aperture-csrf": "" })).toBe(403);
    expect(await status({ ...right, origin: "http://evil.example" })).toBe(403);
    expect(await status({ ...right, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await status({ ...right, "sec-fetch-site": "same-site" })).toBe(403);
    expect((await served.call("/api/v1/health", { headers: { cookie } })).status).toBe(200);
    expect(await status(right)).toBe(200);
    expect((await served.call("/api/v1/health", { headers: { cookie } })).status).toBe(401);
  });

  it("no login link can be made, so that a borrowed browser gives no lasting access", async () => {
    const cookie = await loggedIn();
    const headers = { cookie, "x-aperture-csrf": "1", "content-type": "application/json" };
    expect((await served.call("/api/v1/login-links", { method: "POST", headers })).status).toBe(401);
  });
});

describe("a login link", () => {
  it("sets the cookie, leads to the start page, and works once", async () => {
    const path = await newLink();
    const first = await served.call(path);
    expect([first.status, first.headers.location]).toEqual([303, "/"]);
    expect(first.headers["set-cookie"]?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/);
    const again = await served.call(path);
    expect([again.status, again.headers["set-cookie"]]).toEqual([401, undefined]);
    expect(again.json()).toMatchObject({ error: { code: "AP_LOGIN_INVALID" } });
  });

  it("leads to the page of a session, or to that of the newest", async () => {
    const locationOf = async (query: string) =>
      (await served.call(`${await newLink()}${query}`)).headers.location;
    expect(await locationOf("&session=s1")).toBe("/s/s1");
    expect(await locationOf("&session=last")).toBe("/s/s1");
    expect(await locationOf("&session=//evil.example")).toBe("/s/%2F%2Fevil.example");
  });

  it("is not used up by HEAD or by a page of another origin", async () => {
    const path = await newLink();
    expect((await served.call(path, { method: "HEAD" })).status).toBe(405);
    expect((await served.call(path, { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
    expect((await served.call(path)).status).toBe(303);
  });

  it("expires after a minute", async () => {
    const path = await newLink();
    served.clock.advance(60_000);
    expect((await served.call(path)).status).toBe(401);
  });

  it("is locked after ten wrong guesses", async () => {
    served.clock.advance(120_000);
    for (let n = 0; n < 10; n += 1) expect((await served.call(`/login?code=${n}`)).status).toBe(401);
    const busy = await served.call(await newLink());
    expect([busy.status, busy.headers["retry-after"]]).toEqual([429, "60"]);
    expect((await served.get("/api/v1/health")).status).toBe(200);
    served.clock.advance(60_001);
    expect((await served.call(await newLink())).status).toBe(303);
  });
});

it("an unfinished body delays neither the answer nor the end of its connection", async () => {
  const headers = { ...bearer, "content-length": "1000000" };
  const reply = await Promise.race([
    served.call("/api/v1/login-links", { method: "POST", headers, body: "{}" }).catch(() => null),
    new Promise<null>((give) => setTimeout(() => give(null), 3_000)),
  ]);
  expect([reply?.status, reply?.headers.connection]).toEqual([200, "close"]);
});
