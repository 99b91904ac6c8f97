import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadDriver } from "./driver.ts";
import { lostFrames } from "./wal-check.ts";

const folder = mkdtempSync(join(tmpdir(), "aperture-wal-"));
const FRAME_BYTES = 24 + 4096;
let journal = Buffer.alloc(0);

beforeAll(() => {
  const path = join(folder, "a.db");
  const db = new (loadDriver().DatabaseSync)(path);
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a TEXT)");
  for (let n = 0; n < 20; n++) db.exec(`INSERT INTO t VALUES ('${"x".repeat(50)}')`);
  journal = readFileSync(`${path}-wal`);
  db.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

function flipped(at: number): Buffer {
  const copy = Buffer.from(journal);
  copy[at] = (copy[at] ?? 0) ^ 4;
  return copy;
}

describe("a journal", () => {
  const framesIn = (): number => (journal.length - 32) / FRAME_BYTES;

  it("that is complete, empty, short or cut off anywhere has lost nothing", () => {
    expect(framesIn()).toBeGreaterThan(20);
    expect(lostFrames(journal)).toBe(0);
    for (let length = 0; length < journal.length; length += 997)
      expect(lostFrames(journal.subarray(0, length))).toBe(0);
  });

  it("with a changed byte has lost all frames from that one on", () => {
    for (let at = 32; at < journal.length - FRAME_BYTES; at += 1_013) {
      const frame = Math.floor((at - 32) / FRAME_BYTES);
      expect(lostFrames(flipped(at))).toBe(framesIn() - frame);
    }
  });

  it("with a changed header has lost all, and with a changed last frame nothing detectable", () => {
    for (let at = 0; at < 32; at++) expect(lostFrames(flipped(at))).toBe(framesIn());
    expect(lostFrames(flipped(journal.length - 9))).toBe(0);
  });

  it("whose last transaction lost any of its pages was cut off, and is not damaged", () => {
    const path = join(folder, "cut.db");
    const db = new (loadDriver().DatabaseSync)(path);
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('before')");
    const before = readFileSync(`${path}-wal`).length;
    db.exec(`INSERT INTO t VALUES ('${"x".repeat(20_000)}')`);
    const whole = readFileSync(`${path}-wal`);
    db.close();
    expect(whole.length - before).toBeGreaterThan(3 * FRAME_BYTES);
    for (let at = before; at < whole.length; at += FRAME_BYTES) {
      expect(lostFrames(Buffer.from(whole).fill(0, at, at + FRAME_BYTES))).toBe(0);
    }
    const frames = (whole.length - 32) / FRAME_BYTES;
    expect(lostFrames(Buffer.from(whole).fill(0, 32, 32 + FRAME_BYTES))).toBe(frames);
  });

  it("that started over has old frames at its end, which are not lost", () => {
    const fresh = flipped(32 + 5 * FRAME_BYTES + 8);
    for (let at = 5; at < framesIn(); at++)
      fresh.fill(7, 32 + at * FRAME_BYTES + 8, 32 + at * FRAME_BYTES + 16);
    expect(lostFrames(fresh)).toBe(0);
  });
});
