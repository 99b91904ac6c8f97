// The demo, as a new user meets it.
import { mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

test("plays a whole day, needs nothing and leaves nothing behind", { timeout: 120_000 }, async () => {
  const before = demoFolders();
  const { code, out, err } = await rig.run(["demo", "--pace", "1", "--once"]);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^A scripted model does a day's work: 10 prompts, 53 answers\. No key, no network\.$/m);
  expect(out).toMatch(/^panel {2}http:\/\/127\.0\.0\.1:\d+\/login\?code=\S+&session=last$/m);
  expect(out).toMatch(/free [\d.]+k {2}seq \d+\n\[\w+\.+\]\n +\|\n P {2}primacy/);
  expect(out).toMatch(/Claude pinned "read \S+"/);
  expect(out).toMatch(/Claude archived \d+ blocks \(frees ~[\d.]+k\)/);
  expect(out).toMatch(/Aperture trimmed "(?:read|run) [^"]+" \(frees ~/);
  expect(out).toMatch(/you undid: archived \d+ blocks/);
  expect(out).toMatch(/1 command waiting for you$/m);
  expect(out).toMatch(
    /^The day is over\. The last prompt had [\d.]+k tokens, \d+ % less than the client's own history \(~[\d.]+k\)\.$/m,
  );
  expect(rig.upstream.exchanges).toEqual([]);
  expect(demoFolders()).toEqual(before);
});

test("keeps running afterwards, with a login link that is still valid", { timeout: 120_000 }, async () => {
  const started = rig.start(["demo", "--pace", "1"]);
  const links = await vi.waitFor(() => {
    const seen = started.out().match(/http:\S+\/login\?code=\S+/g) ?? [];
    expect(seen).toHaveLength(2);
    return seen;
  }, 90_000);
  expect(started.out()).toContain("The day is over.");
  expect(links[0]).not.toBe(links[1]);
  const way = started.out().match(/^verbs {2}aperture (context --data-dir \S+ --port \d+) {2}\(in another/m);
  const looked = await rig.run((way?.[1] ?? "").split(" "));
  expect([looked.code, looked.err]).toEqual([0, ""]);
  expect(looked.out).toMatch(/^Users are logged out.* 200k /);
  const answer = await fetch(links[1] ?? "", { redirect: "manual" });
  expect([answer.status, answer.headers.get("set-cookie")]).toEqual([
    303,
    expect.stringContaining("aperture-"),
  ]);
  started.child.kill("SIGINT");
  expect((await started.ended).code).toBe(0);
});

test("ends on Ctrl-C at any time", { timeout: 60_000 }, async () => {
  const started = rig.start(["demo", "--pace", "60000"]);
  await started.saw(/Why did no test find it/);
  started.child.kill("SIGINT");
  expect((await started.ended).code).toBe(0);
});

describe("a terminal that closes", () => {
  const startDemo = async (name: string) => {
    const folder = join(rig.folder, name);
    mkdirSync(folder);
    const started = rig.start(["demo", "--pace", "200"], { TMPDIR: folder });
    await started.saw(/Why did no test find it/);
    expect(demoFolders(folder)).toHaveLength(1);
    return { started, folder };
  };

  test("ends the demo and leaves nothing behind", { timeout: 60_000 }, async () => {
    const { started, folder } = await startDemo("hung-up");
    started.child.kill("SIGHUP");
    started.child.kill("SIGHUP");
    expect((await started.ended).signal).toBeNull();
    expect(demoFolders(folder)).toEqual([]);
  });

  test("leaves nothing behind if its output is closed", { timeout: 60_000 }, async () => {
    const { started, folder } = await startDemo("unread");
    started.child.stdout?.destroy();
    expect((await started.ended).signal).toBeNull();
    expect(demoFolders(folder)).toEqual([]);
  });
});

function demoFolders(folder = tmpdir()): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith("aperture-demo-"));
}
