import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningServer, startServer } from "./server.ts";

const storage = () => ({ storage: "degraded", message: "The disk is full." }) as const;
let server: RunningServer;
let port: number;

beforeAll(async () => {
  server = await startServer({ host: "127.0.0.1", port: 0, version: "9.9.9", storage });
  port = Number(new URL(server.url).port);
});

afterAll(() => server.close());

type Asked = { readonly path?: string; readonly method?: string; readonly host?: string };

/** Not `fetch`: it does not let a caller choose the Host header. */
function ask({ path = "/", method = "GET", host = `127.0.0.1:${port}` }: Asked) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method, headers: { host }, agent: false };
    const outgoing = request(options, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, body }));
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

describe("routes", () => {
  test("/healthz answers for machines", async () => {
    expect(await ask({ path: "/healthz" })).toEqual({ status: 200, body: '{"ok":true}' });
  });

  test("/readyz says whether recording works, and is ready all the same", async () => {
    const { status, body } = await ask({ path: "/readyz" });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ ok: true, storage: "degraded", message: "The disk is full." });
  });

  test("/ says what this is", async () => {
    const { status, body } = await ask({});
    expect(status).toBe(200);
    expect(body).toContain("Aperture 9.9.9");
  });

  test("a query string does not hide a route", async () => {
    expect((await ask({ path: "/healthz?now=1" })).status).toBe(200);
  });

  test("anything else is 404, another method 405, HEAD has no body", async () => {
    expect((await ask({ path: "/healthz/x" })).status).toBe(404);
    expect((await ask({ method: "POST" })).status).toBe(405);
    expect(await ask({ method: "HEAD", path: "/healthz" })).toEqual({ status: 200, body: "" });
  });
});

describe("host header", () => {
  test("the loopback names with the right port are accepted", async () => {
    for (const host of [`127.0.0.1:${port}`, `[::1]:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
      expect((await ask({ host })).status, host).toBe(200);
    }
  });

  test("every other spelling is refused before routing", async () => {
    const spellings = [
      "127.0.0.1",
      "localhost",
      "127.0.0.1:1",
      ` localhost.:${port}`,
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `127.1:${port}`,
      `0.0.0.0:${port}`,
      `::1:${port}`,
      `user@127.0.0.1:${port}`,
      `127.0.0.1:${port}, localhost:${port}`,
      `127.0.0.1:0${port}`,
    ];
    for (const host of spellings) {
      expect((await ask({ host, path: "/healthz" })).status, JSON.stringify(host)).toBe(421);
    }
  });
});

describe("host headers that no http library would send", () => {
  test.each([
    ["an empty one", "GET /healthz HTTP/1.1\r\nHost:\r\n", 421],
    ["none, as HTTP 1.0 allows", "GET /healthz HTTP/1.0\r\n", 421],
    ["none, as HTTP 1.1 forbids", "GET /healthz HTTP/1.1\r\n", 400],
    [
      "a bad one after a good one",
      "GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\nHost: evil.example\r\n",
      421,
    ],
    [
      "a good one after a bad one",
      "GET /healthz HTTP/1.1\r\nHost: evil.example\r\nHost: localhost:PORT\r\n",
      421,
    ],
    ["a full address as target", "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost:PORT\r\n", 404],
  ])("%s", async (_name, head, status) => {
    expect(await statusOfRaw(head)).toBe(status);
  });
});

function statusOfRaw(head: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(Number(text.split(" ")[1])));
    socket.write(`${head.replace("PORT", `${port}`)}Connection: close\r\n\r\n`);
  });
}

test("a port in use is an error with its code", async () => {
  const second = startServer({ host: "127.0.0.1", port, version: "9.9.9", storage });
  await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
});
