// The command line: the built program in its own process.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { freePort, type Running, start } from "./processes.ts";

const running: Running[] = [];
const folder = mkdtempSync(join(tmpdir(), "aperture-cli-"));
afterAll(() => {
  for (const each of running) each.kill();
  rmSync(folder, { recursive: true, force: true });
});

function aperture(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const data = { APERTURE_DATA_DIR: join(folder, `data-${running.length}`), ...env };
  const each = start([process.execPath, "dist/cli/main.cjs", ...args], { env: data });
  running.push(each);
  return each;
}

async function outcome(each: Running): Promise<{ code: number | null; output: string }> {
  return { code: await each.exited, output: each.output() };
}

describe("up", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("listens, and ends cleanly on %s", async (signal) => {
    const port = await freePort();
    const each = aperture(["up"], { APERTURE_PORT: `${port}` });
    await each.waitFor(/listening on/, 10_000);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    each.signal(signal);
    expect(await each.exited).toBe(0);
  });

  test("creates a private data directory, and reports that recording works", async () => {
    const port = await freePort();
    const data = join(folder, "mine");
    const each = aperture([], { APERTURE_PORT: `${port}`, APERTURE_DATA_DIR: data });
    await each.waitFor(/listening on/, 10_000);
    await expect
      .poll(() => statSync(join(data, "aperture.db"), { throwIfNoEntry: false })?.mode, { timeout: 5_000 })
      .toBeDefined();
    expect(statSync(data).mode & 0o777).toBe(0o700);
    const ready = await (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
    expect(ready).toMatchObject({ ok: true, storage: "ok", message: null, recording: { on: true } });
  });

  test("starts without a writable data directory, and reports it", async () => {
    const port = await freePort();
    const file = join(folder, "a-file");
    writeFileSync(file, "not a directory");
    const each = aperture([], { APERTURE_PORT: `${port}`, APERTURE_DATA_DIR: join(file, "data") });
    await each.waitFor(/storage degraded: /, 10_000);
    await each.waitFor(/listening on/, 10_000);
    const ready = await (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
    expect(ready).toMatchObject({ ok: true, storage: "degraded" });
  });

  test("names a port that is in use, with a fix", async () => {
    const port = await freePort();
    await aperture([], { APERTURE_PORT: `${port}` }).waitFor(/listening on/, 10_000);
    const { code, output } = await outcome(aperture([], { APERTURE_PORT: `${port}` }));
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} is in use`);
    expect(output).toContain("APERTURE_PORT");
  });

  test("needs a token and a flag for an address that other machines can reach", async () => {
    const attempts = [{}, { APERTURE_TOKEN: "t".repeat(20) }, { APERTURE_ALLOW_REMOTE: "1" }];
    for (const env of attempts) {
      const { code, output } = await outcome(aperture(["up"], { APERTURE_HOST: "0.0.0.0", ...env }));
      expect(code).toBe(2);
      expect(output).toContain("APERTURE_HOST");
    }
  });

  test("reports all invalid settings", async () => {
    const { code, output } = await outcome(
      aperture(["up"], { APERTURE_PORT: "http", APERTURE_MODE: "fast" }),
    );
    expect(code).toBe(2);
    expect(output).toMatch(/APERTURE_PORT must be[\s\S]*APERTURE_MODE must be/);
  });
});

test("--help, --version and an unknown verb", async () => {
  expect(await outcome(aperture(["--help"]))).toMatchObject({
    code: 0,
    output: expect.stringContaining("usage:"),
  });
  expect(await outcome(aperture(["--version"]))).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
  expect(await outcome(aperture(["dance"]))).toMatchObject({
    code: 2,
    output: expect.stringContaining("unknown verb: dance"),
  });
});
