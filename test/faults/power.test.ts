import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom, unwrap } from "../../src/base/index.ts";
import { emptyState, replayFrames, type State } from "../../src/engine/index.ts";
import { readContent } from "../../src/store/content-table.ts";
import { closeQuietly, type Database, openDatabase } from "../../src/store/database.ts";
import { loadDriver } from "../../src/store/driver.ts";
import { readFrames, readSessionHeads } from "../../src/store/frame-table.ts";
import { verifyAll } from "../../src/store/verify-job.ts";
import { needsProgram } from "../support/needs.ts";
import { CutDisk, type Left, type Step, watchedRun } from "../support/power-cut.ts";
import { isLong } from "../support/runs.ts";

const random = seededRandom(Number(process.env["APERTURE_TEST_SEED"] ?? 20_261_117));
let folder = "";

beforeEach(async (context) => {
  await needsProgram(context, "strace");
  folder = mkdtempSync(join(tmpdir(), "aperture-power-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type PowerCut = { readonly folder: string; readonly lines: readonly string[]; readonly left: Left };

/** Cuts the power at chosen moments of a run, and checks the disk each time. */
function cutAt(
  steps: readonly Step[],
  isMoment: (step: Step) => boolean,
  check: (cut: PowerCut) => void,
): number {
  const disk = new CutDisk();
  const lines: string[] = [];
  let cuts = 0;
  for (const step of steps) {
    disk.take(step);
    if (step.type === "said") lines.push(...step.text.trim().split("\n"));
    if (!isMoment(step)) continue;
    for (const left of ["none", random] as const) {
      const diskFolder = join(folder, `cut-${cuts}`);
      mkdirSync(diskFolder);
      disk.leave(diskFolder, left);
      check({ folder: diskFolder, lines, left });
      rmSync(diskFolder, { recursive: true });
      cuts += 1;
    }
  }
  return cuts;
}

describe("a disk that loses unsynced writes", () => {
  /** Reported commits that are missing, over all cuts. */
  function lostOf(synchronous: string): number {
    const run = [folder, synchronous];
    const steps = watchedRun("test/faults/power-plain-child.mjs", run, join(folder, "aperture.db"));
    let lost = 0;
    const cuts = cutAt(
      steps,
      ({ type }) => type === "said",
      (cut) => {
        const db = new (loadDriver().DatabaseSync)(join(cut.folder, "aperture.db"));
        const [row] = db.prepare("SELECT count(*) AS n FROM t").all();
        const [whole] = db.prepare("PRAGMA integrity_check").all();
        db.close();
        expect(whole).toEqual({ integrity_check: "ok" });
        if (cut.left === "none") lost += Math.max(0, Number(cut.lines.at(-1)) - Number(row?.["n"]));
      },
    );
    expect(cuts).toBe(60);
    return lost;
  }

  test("loses commits that SQLite does not sync: this test can fail", () => {
    expect(lostOf("NORMAL")).toBeGreaterThan(100);
  });

  test("loses no commit that SQLite syncs", () => {
    expect(lostOf("FULL")).toBe(0);
  });
});

describe("after a power cut", () => {
  test("every acknowledged act of user and model is there, and the log is whole", () => {
    const turns = isLong ? 60 : 4;
    const database = join(folder, "aperture.db");
    const steps = watchedRun("test/faults/power-app-child.mjs", [folder, String(turns)], database);
    let notes = 0;
    const isMoment = (step: Step): boolean =>
      step.type === "said" || ((step.type === "write" || step.type === "sync") && random.below(20) === 0);
    const cuts = cutAt(steps, isMoment, (cut) => {
      const { state, texts } = reopen(join(cut.folder, "aperture.db"));
      for (const line of cut.lines) {
        const { seq = 0, note = null } = JSON.parse(line);
        expect(state?.seq ?? 0).toBeGreaterThanOrEqual(seq);
        if (note !== null) expect(texts).toContain(note);
      }
      notes = Math.max(notes, texts.length);
    });
    const acks = steps.filter(({ type }) => type === "said").length;
    console.log(`${cuts} power cuts, ${acks} acknowledged acts, 0 lost`);
    expect([acks, notes]).toEqual([turns * 3, turns]);
  });
});

type LogContent = { readonly state: State | null; readonly texts: readonly string[] };

/** Opens the database as the store's thread does. Whatever the cut took, the rest must be whole. */
function reopen(path: string): LogContent {
  const { database, aside } = openDatabase({ path, driver: loadDriver(), now: () => new Date(0) });
  const check = verifyAll(database);
  let checked = check.next();
  while (!checked.done) checked = check.next();
  expect([checked.value.damage, aside]).toEqual([[], null]);
  const [head] = readSessionHeads(database);
  const found = head === undefined ? { state: null, texts: [] } : readLog(database, head.session);
  closeQuietly(database.sqlite);
  return found;
}

function readLog(database: Database, session: State["session"]): LogContent {
  const frames = unwrap(readFrames(database, { session, after: 0, limit: 100_000 }));
  const state = unwrap(replayFrames(emptyState(session), frames));
  const texts = frames.flatMap(({ deltas }) =>
    deltas.flatMap((delta) => {
      if (delta.type !== "block-added" || delta.block.kind !== "memory") return [];
      const bytes = unwrap(readContent(database, delta.block.content));
      return [JSON.parse(Buffer.from(bytes).toString("utf8")).text];
    }),
  );
  return { state, texts };
}
