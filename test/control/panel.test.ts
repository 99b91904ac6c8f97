import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPanel } from "../../src/control/index.ts";
import { serve, type TestControl, token } from "./serve.ts";

const page = '<!doctype html><script type="module" src="/assets/index-0a1B2c3D.js"></script>';
const script = `console.log("${"x".repeat(4_000)}");`;
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let folder: string;
let served: TestControl;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "aperture-panel-"));
  const panelDir = join(folder, "panel");
  mkdirSync(join(panelDir, "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.js"), "not the panel's");
  writeFileSync(join(panelDir, "index.html"), page);
  writeFileSync(join(panelDir, "assets", "index-0a1B2c3D.js"), script);
  writeFileSync(join(panelDir, "assets", "plain.css"), "body{}");
  writeFileSync(join(panelDir, "assets", "index.js.map"), "{}");
  served = await serve({ panelDir });
  await (await served.session("s1")).talk({ user: "hello", answer: "yes" });
});
afterAll(async () => {
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the page", () => {
  it.each(["/", "/?x=1", "/approvals", "/s/s1", "/s/s1/requests/4?at=12", "/s/none"])(
    "is served at %s to all callers, under the strict policy",
    async (path) => {
      const reply = await served.call(path);
      expect([reply.status, reply.text]).toEqual([200, page]);
      expect(reply.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      });
      expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect((await served.call(path, { method: "HEAD" })).bytes.length).toBe(0);
      expect((await served.call(path, { method: "POST" })).headers.allow).toBe("GET, HEAD");
    },
  );

  it("has no data: that still needs a login", async () => {
    for (const path of ["/api/v1/sessions", "/api/v1/sessions/s1/state", "/api/v1/nothing"]) {
      expect((await served.call(path)).status).toBe(401);
    }
  });

  it("is refused to pages of other origins", async () => {
    for (const headers of [{ origin: "http://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
      expect((await served.call("/", { headers })).status).toBe(403);
      expect((await served.call("/assets/plain.css", { headers })).status).toBe(403);
    }
  });
});

describe("assets", () => {
  it("are cached for good if their name has a hash, and not otherwise", async () => {
    const hashed = await served.call("/assets/index-0a1B2c3D.js");
    expect([hashed.text, hashed.headers["content-type"]]).toEqual([script, "text/javascript; charset=utf-8"]);
    expect(hashed.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const plain = await served.call("/assets/plain.css");
    expect([plain.headers["content-type"], plain.headers["cache-control"]]).toEqual([
      "text/css; charset=utf-8",
      "no-store",
    ]);
  });

  it.each([
    ["gzip", true],
    ["br;q=1.0, gzip;q=0.8", true],
    ["GZIP", true],
    ["gzip;q=0", false],
    ["gzip;q=0.0", false],
    ["br", false],
    ["", false],
  ])("are packed for accept-encoding %j: %s", async (accepts, isPacked) => {
    const reply = await served.call("/assets/index-0a1B2c3D.js", { headers: { "accept-encoding": accepts } });
    expect(reply.headers["content-encoding"]).toBe(isPacked ? "gzip" : undefined);
    expect((isPacked ? gunzipSync(reply.bytes) : reply.bytes).toString("utf8")).toBe(script);
    expect(reply.bytes.length < script.length).toBe(isPacked);
    expect(reply.headers.vary).toBe("accept-encoding");
  });

  it.each([
    "/assets/none.js",
    "/assets/",
    "/assets/../index.html",
    "/assets/../../secret.js",
    "/assets/..%2f..%2fsecret.js",
    "/assets/%2e%2e/%2e%2e/secret.js",
    "/assets/index.js.map",
  ])("are not found outside the folder: %s", async (path) => {
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      const reply = await served.call(path, { headers });
      expect([reply.status, reply.json()]).toMatchObject([404, { error: { code: "AP_ROUTE_UNKNOWN" } }]);
    }
  });
});

it("without a page there is no panel, and `/` says what runs", async () => {
  expect(readPanel(join(folder, "none"))).toBeNull();
  const bare = await serve({ panelDir: join(folder, "none") });
  expect((await bare.call("/")).text).toContain("Aperture 1.2.3");
  expect((await bare.call("/s/s1")).status).toBe(401);
  await bare.close();
});
