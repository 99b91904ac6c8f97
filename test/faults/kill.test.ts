import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { hashContent, seededRandom, sessionId, unwrap } from "../../src/base/index.ts";
import { emptyState, replayFrames } from "../../src/engine/index.ts";
import { type FailPointName, failPointNames } from "../../src/store/fail-points.ts";
import { openSqliteStore, type Store } from "../../src/store/index.ts";
import { startChild } from "../support/child.ts";
import { isLong } from "../support/runs.ts";

const script = "test/faults/append-child.mjs";
const session = sessionId("killed");
const seed = Number(process.env["APERTURE_TEST_SEED"] ?? 20_261_115);

describe("a process that is killed while it records", () => {
  const kills = isLong ? 2_000 : 20;

  it(`loses no durable frame and needs no repair: ${kills} kills at random moments`, async () => {
    const lanes = await Promise.all([lane(seed, kills / 2), lane(seed + 1, kills / 2)]);
    const tally = { kills: lanes[0].kills + lanes[1].kills, acknowledged: lanes[0].frames + lanes[1].frames };
    console.log(`${tally.kills} kills, ${tally.acknowledged} acknowledged frames, 0 lost (seed ${seed})`);
    expect(tally.kills).toBe(kills);
    expect(tally.acknowledged).toBeGreaterThan(kills);
  });
});

/** Kills the process of one database again and again, and checks the database each time. */
async function lane(
  laneSeed: number,
  kills: number,
): Promise<{ readonly kills: number; readonly frames: number }> {
  const random = seededRandom(laneSeed);
  const folder = mkdtempSync(join(tmpdir(), "aperture-kill-"));
  let path = "";
  let [done, frames] = [0, 0];
  while (done < kills) {
    if (done % 10 === 0) path = join(folder, `${done}.db`);
    const child = startChild(script, [JSON.stringify({ path, session, scenario: "append" })]);
    // Every fifth is killed without waiting, maybe while it opens or recovers.
    if (done % 5 !== 4) await child.said(() => true);
    await sleep(random.below(done % 5 === 4 ? 400 : 120));
    child.process.kill("SIGKILL");
    const { signal, stderr } = await child.ended;
    expect({ signal, stderr }).toEqual({ signal: "SIGKILL", stderr: "" });
    frames += await expectWhole(path, child.lines);
    done += 1;
  }
  rmSync(folder, { recursive: true });
  return { kills: done, frames };
}

describe("a process that dies at a chosen write", () => {
  const reachable = failPointNames.filter((name) => !name.startsWith("migration-backup"));
  const hits = isLong ? [1, 2, 3, 7] : [1];

  it.each(reachable)("loses no durable frame: %s", async (name) => {
    for (const hit of hits) {
      const folder = mkdtempSync(join(tmpdir(), "aperture-point-"));
      const path = join(folder, "aperture.db");
      if (name.startsWith("aside")) writeFileSync(path, "this is not a database ".repeat(300));
      const child = startChild(script, [JSON.stringify(scenarioFor({ path, name, hit }))]);
      const { signal } = await child.ended;
      const died = signal === "SIGKILL";
      if (hit === 1) expect(died, `${name} is passed at least once`).toBe(true);
      await expectWhole(path, child.lines);
      rmSync(folder, { recursive: true });
    }
  });
});

function scenarioFor({ path, name, hit }: { path: string; name: FailPointName; hit: number }): unknown {
  return { path, session, scenario: "all", failPoint: { name, hit, action: "kill" } };
}

/** Opens the database without any repair, and checks every frame that was reported durable. */
async function expectWhole(path: string, lines: readonly string[]): Promise<number> {
  const store = openSqliteStore({ path });
  const acknowledged = lines.map(Number);
  expect(acknowledged).toEqual([...acknowledged].sort((a, b) => a - b));
  const last = acknowledged.at(-1) ?? 0;
  const frames = unwrap(await store.frames({ session, after: 0, limit: 100_000 }));
  expect(frames.length).toBeGreaterThanOrEqual(last);
  unwrap(replayFrames(emptyState(session), frames));
  for (let seq = Math.max(1, last - 9); seq <= last; seq += 1) await expectContent(store, seq);
  const report = unwrap(await store.verify("all"));
  expect(report.damage).toEqual([]);
  expect(store.status().storage).toBe("ok");
  await store.close();
  return acknowledged.length;
}

async function expectContent(store: Store, seq: number): Promise<void> {
  const bytes = unwrap(await store.body({ session, exchange: seq, side: "client-request" }));
  expect(hashContent(bytes)).toBe(hashContent(Buffer.from(`content of frame ${seq} `.repeat(40))));
}
