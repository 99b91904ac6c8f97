import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashContent, unwrap } from "../base/index.ts";
import { appendGroup } from "./append.ts";
import { readContent } from "./content-table.ts";
import { closeQuietly, type Database, openDatabase } from "./database.ts";
import { StoreFault } from "./database-faults.ts";
import { loadDriver } from "./driver.ts";
import { armFailPoint, FailPointError } from "./fail-points.ts";
import { formatOf, latestFormat, type Migration, migrations } from "./migrations.ts";

const driver = loadDriver();
let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-migrate-"));
  path = join(folder, "aperture.db");
});
afterEach(() => {
  armFailPoint(null);
  rmSync(folder, { recursive: true });
});

function open(list: readonly Migration[]): Database {
  return openDatabase({ path, driver, now: () => new Date(0), migrations: list }).database;
}

const stored = { hash: hashContent("told"), bytes: Buffer.from("told") };
const newest = latestFormat(migrations);
const next: Migration = {
  format: newest + 1,
  up: (db) => {
    db.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT) STRICT");
    db.exec("ALTER TABLE sessions ADD COLUMN label TEXT");
  },
};
const broken: Migration = {
  format: newest + 1,
  up: (db) => {
    next.up(db);
    db.exec("INSERT INTO nowhere VALUES (1)");
  },
};

/** A database of the present format with something in it. */
function fill(): void {
  const db = open(migrations);
  for (const result of appendGroup(db, [{ contents: [stored] }])) unwrap(result);
  closeQuietly(db.sqlite);
}

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return null;
}

describe("migrations", () => {
  it("bring an older database to the newest format, keep its content, and back it up first", () => {
    fill();
    const db = open([...migrations, next]);
    expect(formatOf(db.sqlite)).toBe(newest + 1);
    expect(unwrap(readContent(db, stored.hash))).toEqual(stored.bytes);
    closeQuietly(db.sqlite);
    const copy = `${path}.format-${newest}.bak`;
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const old = openDatabase({ path: copy, driver, now: () => new Date(0) }).database;
    expect(formatOf(old.sqlite)).toBe(newest);
    expect(unwrap(readContent(old, stored.hash))).toEqual(stored.bytes);
    closeQuietly(old.sqlite);
  });

  it("make a new database without a backup", () => {
    const db = open([...migrations, next]);
    expect(formatOf(db.sqlite)).toBe(newest + 1);
    closeQuietly(db.sqlite);
    expect(readdirSync(folder).filter((name) => name.includes(".bak"))).toEqual([]);
  });

  it("that fail leave the file as it was and stop", () => {
    fill();
    const image = readFileSync(path);
    const error = thrown(() => open([...migrations, broken]));
    expect(error).toBeInstanceOf(StoreFault);
    expect((error as StoreFault).fault).toMatchObject({
      remedy: "stop",
      error: { code: "AP_STORE_MIGRATION" },
    });
    expect(readFileSync(path).equals(image)).toBe(true);
    const db = open(migrations);
    expect(unwrap(readContent(db, stored.hash))).toEqual(stored.bytes);
    closeQuietly(db.sqlite);
  });

  it("wait for a lock", () => {
    fill();
    const locker = new driver.DatabaseSync(path);
    locker.exec("BEGIN IMMEDIATE");
    const error = thrown(() => open([...migrations, next]));
    expect(error).toMatchObject({ errcode: 5 });
    locker.close();
    closeQuietly(open([...migrations, next]).sqlite);
  });

  it.each(["migration-backup", "migration-run", "migration-commit"] as const)(
    "that die at %s start again from what was there",
    (step) => {
      for (const side of ["before", "after"] as const) {
        rmSync(path, { force: true });
        fill();
        armFailPoint({ name: `${step}-${side}`, hit: 1, action: "throw" });
        expect(thrown(() => open([...migrations, next]))).toBeInstanceOf(FailPointError);
        armFailPoint(null);
        const db = open([...migrations, next]);
        expect(formatOf(db.sqlite)).toBe(newest + 1);
        expect(unwrap(readContent(db, stored.hash))).toEqual(stored.bytes);
        closeQuietly(db.sqlite);
      }
    },
  );

  it("never touch a newer database", () => {
    const newer = open([...migrations, next]);
    closeQuietly(newer.sqlite);
    const image = readFileSync(path);
    const error = thrown(() => open(migrations));
    expect((error as StoreFault).fault).toMatchObject({
      remedy: "stop",
      error: { code: "AP_STORE_NEWER", details: { found: newest + 1, known: newest } },
    });
    expect(readFileSync(path).equals(image)).toBe(true);
  });

  it("are not run again if another process ran them meanwhile", () => {
    fill();
    let ran = 0;
    const counted: Migration = {
      format: newest + 1,
      up: (db) => {
        ran += 1;
        next.up(db);
      },
    };
    closeQuietly(open([...migrations, counted]).sqlite);
    closeQuietly(open([...migrations, counted]).sqlite);
    // Once for the file, and once each time for knowing what it should look like.
    expect(ran).toBe(3);
    expect(existsSync(`${path}.format-${newest + 1}.bak`)).toBe(false);
  });
});
