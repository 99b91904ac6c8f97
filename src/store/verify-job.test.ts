import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  blockId,
  type ContentHash,
  contentHash,
  GENESIS_HASH,
  hashContent,
  seededRandom,
  seqOf,
  sessionId,
  sha256Hex,
  streamId,
  turnOf,
  unwrap,
} from "../base/index.ts";
import { type Frame, sealFrame } from "../engine/frames/index.ts";
import { appendGroup } from "./append.ts";
import { readBodies, readBody } from "./body-table.ts";
import { readContent } from "./content-table.ts";
import { closeQuietly, type Database, openDatabase, truncateJournal } from "./database.ts";
import { StoreFault } from "./database-faults.ts";
import { loadDriver } from "./driver.ts";
import { readFrames, readSessionHeads } from "./frame-table.ts";
import { purgeContents } from "./purge-job.ts";
import type { SqlValue } from "./row-sum.ts";
import { readSnapshot } from "./snapshot-table.ts";
import type { Batch, Body, Damage, HashedContent } from "./store.ts";
import { verifyAll, verifyTail } from "./verify-job.ts";

const driver = loadDriver();
const folder = mkdtempSync(join(tmpdir(), "aperture-verify-"));
const original = join(folder, "original.db");
let openedTimes = 0;
const now = (): Date => new Date(openedTimes * 1_000);

function open(path: string): { readonly db: Database; readonly setAside: boolean } {
  openedTimes += 1;
  const { database, aside } = openDatabase({ path, driver, now });
  return { db: database, setAside: aside !== null };
}

function damageIn(db: Database, check = verifyAll): readonly Damage[] {
  const work = check(db);
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value.damage;
}

function noise(seed: string, length: number): string {
  return Array.from({ length: Math.ceil(length / 64) }, (_, n) => sha256Hex(`${seed} ${n}`))
    .join("")
    .slice(0, length);
}

function content(text: string): HashedContent {
  return { hash: hashContent(text), bytes: Buffer.from(text) };
}

/** Some of everything: a chain of contents, a purged one, copied bodies, two sessions, a snapshot. */
function sample(): readonly Batch[] {
  const start = noise("start", 1_500);
  const contents = [
    content(start),
    content(start + noise("grown", 400)),
    content("short"),
    content(noise("secret", 700)),
  ];
  const text = Buffer.from(`[${start}]`);
  const pieces: Body["recipe"] = [
    { from: "literal", bytes: Buffer.from("[") },
    { from: "content", content: hashContent(start), start: 0, length: start.length },
    { from: "literal", bytes: Buffer.from("]") },
  ];
  const copied: Body["recipe"] = [
    { from: "body", exchange: 1, side: "client-request", start: 3, length: 900 },
  ];
  const one = log("one", 70);
  const last = one[69] as Frame;
  const pages = ["page a", noise("page b", 3_000)].map(
    (page) => [sha256Hex(page).slice(0, 32), Buffer.from(page)] as const,
  );
  return [
    { contents: contents.slice(0, 1) },
    {
      contents,
      frames: [...one, ...log("two", 3)],
      bodies: [bodyOf(1, text, pieces), bodyOf(2, text.subarray(3, 903), copied)],
      snapshots: [
        {
          session: last.session,
          seq: last.seq,
          hash: last.hash,
          root: JSON.stringify({ pages: pages.map(([name]) => name) }),
          pageHashes: pages.map(([name]) => name),
          pages: new Map(pages),
        },
      ],
    },
  ];
}

function bodyOf(exchange: number, bytes: Uint8Array, recipe: Body["recipe"]): Body {
  const key = { session: sessionId("one"), exchange, side: "client-request" } as const;
  return { ...key, hash: hashContent(bytes), length: bytes.length, recipe };
}

function log(name: string, count: number): readonly Frame[] {
  const frames: Frame[] = [];
  for (let seq = 1; seq <= count; seq++) {
    const draft = {
      session: sessionId(name),
      seq: seqOf(seq),
      stream: streamId(1),
      turn: turnOf(seq),
      time: 1_763_230_000_000 + seq,
      actor: "client",
      cause: { type: "request", step: null, reason: noise(name, seq) },
      deltas: [{ type: "tokens-counted", block: blockId(seq), tokens: { count: seq, exact: true } }],
    } as const;
    frames.push(sealFrame(draft, frames.at(-1)?.hash ?? GENESIS_HASH));
  }
  return frames;
}

const secret = hashContent(noise("secret", 700));

/** Everything a reader can get, as text. Reading may fail; that is part of it. */
function dump(db: Database, hashes: readonly ContentHash[]): string {
  const sessions = ["one", "two"].map(sessionId);
  return JSON.stringify({
    heads: readSessionHeads(db),
    frames: sessions.map((session) => readFrames(db, { session, after: 0, limit: 1_000 })),
    contents: hashes.map((hash) => readContent(db, hash)),
    bodies: readBodies(db, sessionId("one")).map((row) => [row, readBody(db, row)]),
    snapshots: sessions.map((session) => {
      const snapshot = readSnapshot(db, session);
      return [snapshot, [...(snapshot?.pages ?? [])]];
    }),
  });
}

function hashesIn(db: Database): readonly ContentHash[] {
  const rows = db.sql("SELECT hash FROM contents ORDER BY id").all();
  return rows.map((row) => contentHash(Buffer.from(row["hash"] as Uint8Array).toString("hex")));
}

beforeAll(() => {
  const { db } = open(original);
  for (const result of appendGroup(db, sample())) unwrap(result);
  purgeContents(db, [secret]);
  truncateJournal(db);
  closeQuietly(db.sqlite);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Values that differ by one bit or one letter. */
function flippedValues(value: SqlValue): readonly SqlValue[] {
  if (value === null) return [0, Uint8Array.of(0)];
  if (typeof value === "number") return [value ^ 1, value + 256];
  if (typeof value === "string") return [`${value}x`, `y${value.slice(1)}`];
  return [0, value.length >> 1, value.length - 1].flatMap((at) =>
    [1, 128].map((bit) => value.map((byte, index) => (index === at ? byte ^ bit : byte))),
  );
}

describe("verify", () => {
  it("finds no damage in a new database", () => {
    const { db } = open(original);
    expect(damageIn(db)).toEqual([]);
    expect(damageIn(db, verifyTail)).toEqual([]);
    closeQuietly(db.sqlite);
  });

  it("finds a changed bit in every column of every table", () => {
    const path = join(folder, "columns.db");
    copyFileSync(original, path);
    const { db } = open(path);
    db.sqlite.exec("PRAGMA foreign_keys = OFF");
    const tables = db
      .sql("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map((row) => String(row["name"]));
    expect(tables.length).toBe(7);
    const missed: string[] = [];
    let tried = 0;
    for (const table of tables) {
      for (const { change, what } of columnChanges(db, table)) {
        tried += 1;
        db.sqlite.exec("BEGIN");
        if (change() && damageIn(db).length === 0) missed.push(what);
        db.sqlite.exec("ROLLBACK");
      }
    }
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(200);
    closeQuietly(db.sqlite);
  });

  it("finds damage at the end of a session in the quick check", () => {
    const path = join(folder, "tail.db");
    copyFileSync(original, path);
    const { db } = open(path);
    db.sqlite.exec("UPDATE frames SET sum = sum + 1 WHERE session = 1 AND seq = 7");
    expect(damageIn(db, verifyTail).length).toBe(1);
    db.sqlite.exec("UPDATE frames SET sum = sum - 1 WHERE session = 1 AND seq = 7");
    db.sqlite.exec("DELETE FROM frames WHERE session = 1 AND seq = 70");
    expect(damageIn(db, verifyTail)).toEqual([
      { where: "session one", problem: "does not end with its last frame" },
    ]);
    closeQuietly(db.sqlite);
  });

  it("finds any changed byte of the file, or the byte changes nothing that can be read", () => {
    const { db: sound } = open(original);
    const hashes = hashesIn(sound);
    const expected = dump(sound, hashes);
    closeQuietly(sound.sqlite);
    const image = readFileSync(original);
    // Unused bytes are zero; nine of ten flips go where there is data.
    const used = [...image.keys()].filter((at) => image[at] !== 0);
    const random = seededRandom(20_261_115);
    const path = join(folder, "flipped.db");
    const missed: string[] = [];
    let harmless = 0;
    for (let round = 0; round < 200; round++) {
      const at = round % 10 === 0 ? random.below(image.length) : random.pick(used);
      const flipped = Buffer.from(image);
      flipped[at] = (image[at] as number) ^ (1 << random.below(8));
      writeFileSync(path, flipped);
      for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
      const found = isDamageFound(path, (db) => {
        harmless += 1;
        if (dump(db, hashes) !== expected) missed.push(`byte ${at}`);
      });
      if (found) rmSync(path, { force: true });
    }
    expect(missed).toEqual([]);
    expect(harmless).toBeLessThan(100);
  });
});

/** True if opening or checking finds damage; if not, calls `look` with the database. */
function isDamageFound(path: string, look: (db: Database) => void): boolean {
  let opened: ReturnType<typeof open>;
  try {
    opened = open(path);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreFault);
    return true;
  }
  const found = opened.setAside || damageIn(opened.db).length > 0;
  if (!found) look(opened.db);
  closeQuietly(opened.db.sqlite);
  return found;
}

type ColumnChange = { readonly what: string; readonly change: () => boolean };

/** Changes to every column of the first, a middle and the last row. */
function columnChanges(db: Database, table: string): readonly ColumnChange[] {
  const columns = db.sqlite.prepare(`PRAGMA table_info(${table})`).all();
  const keys = columns.filter((column) => column["pk"] !== 0).map((column) => String(column["name"]));
  const rows = db.sqlite.prepare(`SELECT * FROM ${table} ORDER BY ${keys.join(", ")}`).all();
  const picked = rows.filter((_, at) => [0, 1, rows.length >> 1, rows.length - 1].includes(at));
  return picked.flatMap((row, at) =>
    columns.flatMap((column) => {
      const name = String(column["name"]);
      return flippedValues(row[name] ?? null).map((value) => ({
        what: `${table}.${name} of row ${at}: ${String(row[name])} to ${String(value)}`,
        change: () => tryUpdate(db, { table, name, value, keys: keys.map((key) => [key, row[key] ?? null]) }),
      }));
    }),
  );
}

type ColumnUpdate = {
  readonly table: string;
  readonly name: string;
  readonly value: SqlValue;
  readonly keys: readonly (readonly [string, SqlValue])[];
};

/** False if the table refuses the value, so that no accident can store it through SQL. */
function tryUpdate(db: Database, { table, name, value, keys }: ColumnUpdate): boolean {
  const where = keys.map(([key]) => `${key} = ?`).join(" AND ");
  try {
    const values = keys.map(([, key]) => key);
    return (
      db.sqlite.prepare(`UPDATE ${table} SET ${name} = ? WHERE ${where}`).run(value, ...values).changes === 1
    );
  } catch {
    return false;
  }
}
