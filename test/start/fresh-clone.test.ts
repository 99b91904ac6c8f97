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
});

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

async function startClone(port: number): Promise<Running> {
  const env = { APERTURE_PORT: `${port}`, APERTURE_DATA_DIR: join(folder, "data") };
  const npm = start(["npm", "start"], { cwd: clone, env });
  running.push(npm);
  await npm.waitFor(/^Aperture \d+\.\d+\.\d+ listening on http:\/\/127\.0\.0\.1:\d+$/m);
  return npm;
}

async function expectHealthy(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
}

/** The demo draws its first strip while an Aperture runs. */
async function expectDemo(): Promise<void> {
  const env = { APERTURE_PORT: `${await freePort()}` };
  const demo = start([process.execPath, "dist/cli/main.cjs", "demo"], { cwd: clone, env });
  running.push(demo);
  await demo.waitFor(/\[[PMR]+\.+\] [\d.]+k \/ /);
  demo.signal("SIGINT");
  expect(await demo.exited, demo.output()).toBe(0);
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

test("npm start works on a fresh clone, and installs and builds nothing the second time", async () => {
  copyRepository();
  const port = await freePort();

  const first = await startClone(port);
  expect(first.output()).toContain("installing packages (first run)...");
  expect(first.output()).toContain("building...");
  expect(first.output()).toContain(`data directory: ${join(folder, "data")}`);
  expect(first.output()).toContain("`aperture open` logs your browser in");
  await expectHealthy(port);
  await expectDemo();
  process.kill(serverBelow(first), "SIGTERM");
  expect(await first.exited, first.output()).toBe(0);

  const second = await startClone(port);
  expect(second.output()).not.toMatch(/installing|building/);
  await expectHealthy(port);
  // This signal goes to npm alone, as a process manager sends it. The server must not survive.
  second.signal("SIGTERM");
  await second.exited;
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow("fetch failed");
});
