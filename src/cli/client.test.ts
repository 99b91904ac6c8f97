import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type Api, openApi } from "./client.ts";
import { exitCodes } from "./usage.ts";

const dataDir = mkdtempSync(join(tmpdir(), "aperture-client-"));
let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function against(listener: RequestListener, token?: string): Promise<Api> {
  const opened = createServer(listener);
  server = opened;
  await new Promise<void>((done) => opened.listen(0, "127.0.0.1", done));
  const { port } = opened.address() as AddressInfo;
  const place = { host: "127.0.0.1", port, dataDir };
  return openApi(token === undefined ? place : { ...place, token }, 300);
}

/** A server that answers everything in one way. */
function answering(status: number, body: string): RequestListener {
  return (_, response) => response.writeHead(status).end(body);
}

const refusal = (code: string) => JSON.stringify({ error: { code, message: `this is ${code}` } });

async function problemOf(listener: RequestListener) {
  const outcome = await (await against(listener, "t")).json("/x");
  return outcome.ok ? null : outcome.problem;
}

describe("what was refused ends with its code", () => {
  test.each([
    [404, "AP_SESSION_UNKNOWN", exitCodes.missing],
    [410, "AP_CONTENT_PURGED", exitCodes.missing],
    [400, "AP_QUERY_INVALID", exitCodes.usage],
    [503, "AP_STORE_LOCKED", exitCodes.storage],
    [503, "AP_ENGINE_DOWN", exitCodes.storage],
    [503, "AP_VIEWERS_FULL", exitCodes.failed],
    [404, "AP_ROUTE_UNKNOWN", exitCodes.failed],
    [500, "AP_CONTROL_FAULT", exitCodes.failed],
  ])("%d %s", async (status, code, exit) => {
    expect(await problemOf(answering(status, refusal(code)))).toEqual({ exit, message: `this is ${code}` });
  });

  test("401, with the place the token came from", async () => {
    const problem = await problemOf(answering(401, refusal("AP_AUTH_REQUIRED")));
    expect(problem?.exit).toBe(exitCodes.refused);
    expect(problem?.message).toContain("from APERTURE_TOKEN");
  });
});

describe("what is no answer", () => {
  test.each([
    ["a page", answering(200, "<html>")],
    ["a page with an error", answering(502, "<html>")],
    ["an error of another shape", answering(500, '{"error":"no"}')],
    ["null", answering(404, "null")],
  ])("%s is not Aperture", async (_, listener) => {
    const problem = await problemOf(listener);
    expect(problem?.exit).toBe(exitCodes.failed);
    expect(problem?.message).toContain("it is not Aperture");
  });

  test("silence ends after the time it may take", async () => {
    const problem = await problemOf(() => undefined);
    expect(problem?.exit).toBe(exitCodes.failed);
    expect(problem?.message).toContain("did not answer within");
  });

  test("what may take longer is waited for", async () => {
    const api = await against((_, response) => void setTimeout(() => response.end("1"), 600), "t");
    expect((await api.json("/x")).ok).toBe(false);
    expect((await api.json("/x", 10_000)).ok).toBe(true);
  });

  test("an answer that breaks off is no answer", async () => {
    const problem = await problemOf((_, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("{", () => response.destroy());
    });
    expect(problem?.message).toContain("broke off");
  });
});

describe("the token", () => {
  const echo: RequestListener = (request, response) =>
    response.end(JSON.stringify(request.headers.authorization ?? null));
  const sent = async (token?: string) => {
    const outcome = await (await against(echo, token)).json<string | null>("/x");
    return outcome.ok ? outcome.value.value : outcome.problem;
  };

  test("comes from the settings, else from the file, else is left out", async () => {
    expect(await sent("given")).toBe("Bearer given");
    expect(await sent()).toBe(null);
    writeFileSync(join(dataDir, "token"), "kept\n");
    expect(await sent()).toBe("Bearer kept");
    writeFileSync(join(dataDir, "token"), "two\nlines\n");
    expect(await sent()).toBe(null);
  });
});

test("every address is called by one that can be reached", () => {
  expect(openApi({ host: "0.0.0.0", port: 1, dataDir }).url).toBe("http://127.0.0.1:1");
  expect(openApi({ host: "::", port: 1, dataDir }).url).toBe("http://[::1]:1");
});
