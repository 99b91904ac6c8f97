import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { succeed } from "../outcome.ts";
import { type Api, openApi, warnUntilDurable } from "./api-client.ts";

const dataDir = mkdtempSync(join(tmpdir(), "aperture-client-"));
let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function apiAgainst(listener: RequestListener, token?: string): Promise<Api> {
  const opened = createServer(listener);
  server = opened;
  await new Promise<void>((done) => opened.listen(0, "127.0.0.1", done));
  const { port } = opened.address() as AddressInfo;
  const location = { host: "127.0.0.1", port, dataDir };
  return openApi(token === undefined ? location : { ...location, token }, 300);
}

/** A server that gives the same answer to every request. */
function alwaysAnswer(status: number, body: string): RequestListener {
  return (_, response) => response.writeHead(status).end(body);
}

const refusal = (code: string) => JSON.stringify({ error: { code, message: `this is ${code}` } });

async function problemOf(listener: RequestListener) {
  const outcome = await (await apiAgainst(listener, "t")).json("/x");
  return outcome.ok ? null : outcome.problem;
}

describe("an error answer sets the exit code", () => {
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
    expect(await problemOf(alwaysAnswer(status, refusal(code)))).toEqual({
      exit,
      message: `this is ${code}`,
    });
  });

  test("401, with the source of the token", async () => {
    const problem = await problemOf(alwaysAnswer(401, refusal("AP_AUTH_REQUIRED")));
    expect(problem?.exit).toBe(exitCodes.refused);
    expect(problem?.message).toContain("from APERTURE_TOKEN");
  });
});

describe("an invalid answer", () => {
  test.each([
    ["a page", alwaysAnswer(200, "<html>")],
    ["a page with an error", alwaysAnswer(502, "<html>")],
    ["an error of another shape", alwaysAnswer(500, '{"error":"no"}')],
    ["null", alwaysAnswer(404, "null")],
  ])("%s is not Aperture", async (_, listener) => {
    const problem = await problemOf(listener);
    expect(problem?.exit).toBe(exitCodes.failed);
    expect(problem?.message).toContain("is not Aperture");
  });

  test("silence ends with the time-out", async () => {
    const problem = await problemOf(() => undefined);
    expect(problem?.exit).toBe(exitCodes.failed);
    expect(problem?.message).toContain("did not answer within");
  });

  test("a longer time-out waits longer", async () => {
    const api = await apiAgainst((_, response) => void setTimeout(() => response.end("1"), 600), "t");
    expect((await api.json("/x")).ok).toBe(false);
    expect((await api.json("/x", 10_000)).ok).toBe(true);
  });

  test("a truncated answer is a problem", async () => {
    const problem = await problemOf((_, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("{", () => response.destroy());
    });
    expect(problem?.message).toContain("closed the connection early");
  });
});

describe("the token", () => {
  const echo: RequestListener = (request, response) =>
    response.end(JSON.stringify(request.headers.authorization ?? null));
  const sent = async (token?: string) => {
    const outcome = await (await apiAgainst(echo, token)).json<string | null>("/x");
    return outcome.ok ? outcome.value.value : outcome.problem;
  };

  test("comes from the settings, else from the file, else it is left out", async () => {
    expect(await sent("given")).toBe("Bearer given");
    expect(await sent()).toBe(null);
    writeFileSync(join(dataDir, "token"), "kept\n");
    expect(await sent()).toBe("Bearer kept");
    writeFileSync(join(dataDir, "token"), "two\nlines\n");
    expect(await sent()).toBe(null);
  });
});

test("a wildcard address is called by loopback", () => {
  expect(openApi({ host: "0.0.0.0", port: 1, dataDir }).url).toBe("http://127.0.0.1:1");
  expect(openApi({ host: "::", port: 1, dataDir }).url).toBe("http://[::1]:1");
});

test("a change that is not on disk yet gives a warning", async () => {
  const warnings: string[] = [];
  const answerWith = (value: unknown) => () => Promise.resolve(succeed({ value, text: "" }));
  const countWarnings = async (value: unknown) => {
    const api = { put: answerWith(value), post: answerWith(value) } as unknown as Api;
    const warning = warnUntilDurable(api, { err: (line) => warnings.push(line) });
    expect(await warning.post("/ops", {})).toEqual(await warning.put("/mode", {}));
    return warnings.splice(0).length;
  };
  expect(await countWarnings({ durable: false })).toBe(2);
  for (const value of [{ durable: true }, {}, null]) expect(await countWarnings(value)).toBe(0);
});
