import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePort, type Running, start } from "./processes.ts";

const folder = mkdtempSync(join(tmpdir(), "aperture-start-"));
const clone = join(folder, "clone");
const running: Running[] = [];

afterAll(() => {
  for (const each of running) each.kill();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

/** Copies the files that a clone would contain: no packages, no build. */
function copyRepository(): void {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { encoding: "utf8" });
  for (const path of listed.split("\0")) {
    if (path !== "" && existsSync(path)) cpSync(path, join(clone, path));
  }
  expect(existsSync(join(clone, "node_modules"))).toBe(false);
  expect(existsSync(join(clone, "dist"))).toBe(false);
  expect(dirname(clone)).toBe(folder);
}

async function startClone(port: number): Promise<{ npm: Running; readyMs: number }> {
  const startedMs = performance.now();
  const env = { APERTURE_PORT: `${port}`, APERTURE_DATA_DIR: join(folder, "data") };
  const npm = start(["npm", "start"], { cwd: clone, env });
  running.push(npm);
  await npm.waitFor(/^Aperture \d+\.\d+\.\d+ listening on http:\/\/127\.0\.0\.1:\d+$/m, 150_000);
  return { npm, readyMs: performance.now() - startedMs };
}

async function expectHealthy(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
}

/** The time until the demo draws its first strip, while an Aperture runs. */
async function timeToFirstStrip(): Promise<number> {
  const startedMs = performance.now();
  const env = { APERTURE_PORT: `${await freePort()}` };
  const demo = start([process.execPath, "dist/cli/main.cjs", "demo"], { cwd: clone, env });
  running.push(demo);
  await demo.waitFor(/\[[PMR]+\.+\] [\d.]+k \/ /, 30_000);
  const took = performance.now() - startedMs;
  demo.signal("SIGINT");
  expect(await demo.exited, demo.output()).toBe(0);
  return took;
}

/** The server is a grandchild of npm, behind a shell. */
function serverBelow(npm: Running): number {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((row) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []);
  const family = new Set([npm.pid]);
  for (const [, pid, parent] of rows) if (family.has(Number(parent))) family.add(Number(pid));
  const server = rows.find(
    ([, pid, , args]) => family.has(Number(pid)) && /^\S*node .*run\.mjs start/.test(args ?? ""),
  );
  return Number(server?.[1]);
}

test("npm start works on a fresh clone, and is quick the second time", { timeout: 180_000 }, async () => {
  copyRepository();
  const port = await freePort();

  const first = await startClone(port);
  expect(first.npm.output()).toContain("installing packages (first run)...");
  expect(first.npm.output()).toContain("building...");
  expect(first.npm.output()).toContain(`data directory: ${join(folder, "data")}`);
  expect(first.npm.output()).toContain("`aperture open` logs your browser in");
  await expectHealthy(port);
  const stripMs = await timeToFirstStrip();
  process.kill(serverBelow(first.npm), "SIGTERM");
  expect(await first.npm.exited, first.npm.output()).toBe(0);

  const second = await startClone(port);
  expect(second.npm.output()).not.toMatch(/installing|building/);
  await expectHealthy(port);
  // This signal goes to npm alone, as a process manager sends it. The server must not survive.
  second.npm.signal("SIGTERM");
  await second.npm.exited;
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow("fetch failed");
  const seconds = [first.readyMs, stripMs, second.readyMs].map((ms) => (ms / 1_000).toFixed(1));
  console.log(`npm start ${seconds[0]} s, the demo's first strip ${seconds[1]} s, again ${seconds[2]} s`);
  expect(stripMs).toBeLessThan(10_000);
  // Generous for a busy machine; the point is that nothing is installed or built again.
  expect(second.readyMs).toBeLessThan(10_000);
});
