// The scripts behind `npm start` and `npm test`: every other result depends on them.
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { withLock } from "../../scripts/lock.mjs";
import { judge } from "../../scripts/test.mjs";
import { start } from "./processes.ts";

const folder = mkdtempSync(join(tmpdir(), "aperture-tasks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const each = start([process.execPath, "scripts/run.mjs", ...args]);
  return { code: await each.exited, output: each.output() };
}

describe("tasks", () => {
  test("an unknown task or suite is refused, with the list", async () => {
    expect(await run("dance")).toMatchObject({
      code: 2,
      output: expect.stringContaining("start|test|check"),
    });
    const { code, output } = await run("test", "unit", "dance");
    expect(code).toBe(2);
    expect(output).toContain("unknown suite: dance");
    expect(output).toContain("usage: npm test");
  });

  test("npm test -- --help lists the suites", async () => {
    const { code, output } = await run("test", "--help");
    expect(code).toBe(0);
    expect(output).toMatch(/^ {2}unit /m);
  });
});

describe("the verdict on a suite", () => {
  const clean = { passed: 3, failed: 0, failures: [], skipped: [], errors: 0 };

  test.each([
    { name: "all passed", result: clean, code: 0, failed: 0 },
    { name: "one failed", result: { ...clean, failed: 1 }, code: 1, failed: 1 },
    { name: "no tests at all", result: { ...clean, passed: 0 }, code: 1, failed: 1 },
    { name: "a skip without a reason", result: { ...clean, skipped: [{ name: "a" }] }, code: 0, failed: 1 },
    {
      name: "a skip with one",
      result: { ...clean, skipped: [{ name: "a", reason: "no server" }] },
      code: 0,
      failed: 0,
    },
    { name: "a file that does not load", result: { ...clean, errors: 1 }, code: 1, failed: 1 },
    { name: "a bad exit after good tests", result: clean, code: 1, failed: 1 },
    { name: "no result", result: undefined, code: 0, failed: 1 },
  ])("$name", ({ result, code, failed }) => {
    expect(judge(result, code).failed).toBe(failed);
  });
});

describe("the set-up lock", () => {
  test("lets one in at a time", async () => {
    const path = join(folder, "a.lock");
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} in`);
      await sleep(30);
      events.push(`${name} out`);
    };
    await Promise.all([withLock(path, work("first")), withLock(path, work("second"))]);
    expect(events).toEqual(["first in", "first out", "second in", "second out"]);
    expect(existsSync(path)).toBe(false);
  });

  test("is taken over from a process that died", async () => {
    const path = join(folder, "b.lock");
    const dead = start([process.execPath, "-e", "console.log(process.pid)"]);
    await dead.exited;
    writeFileSync(path, dead.output().trim());
    expect(await withLock(path, async () => readFileSync(path, "utf8"))).toBe(`${process.pid}`);
  });

  test("is taken over if it was not refreshed, even if its process id is in use again", async () => {
    const path = join(folder, "c.lock");
    writeFileSync(path, `${process.pid}`);
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(path, longAgo, longAgo);
    expect(await withLock(path, async () => "in")).toBe("in");
  });

  test("is released when the work fails", async () => {
    const path = join(folder, "d.lock");
    await expect(withLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(existsSync(path)).toBe(false);
  });
});
