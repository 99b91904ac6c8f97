import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type ContentHash, hashContent, unwrap } from "../../src/base/index.ts";
import { loadDriver } from "../../src/store/driver.ts";
import { frameDictionary } from "../../src/store/frame-dictionary.ts";
import { type Body, diffRecipe, openSqliteStore } from "../../src/store/index.ts";
import type { SqliteStore } from "../../src/store/sqlite-store.ts";
import { startChild } from "../support/child.ts";
import { body, content, folder, frames, literal, mustPut, noise, session, slice } from "./samples.ts";

const { DatabaseSync } = loadDriver();
const openStores: SqliteStore[] = [];

function open(path: string): SqliteStore {
  const store = openSqliteStore({ path });
  openStores.push(store);
  return store;
}

afterEach(async () => {
  for (const store of openStores.splice(0)) await store.close();
});

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe("space on disk", () => {
  it("grows with what is new in a content that is appended to, not with its size", async () => {
    const path = join(folder(), "aperture.db");
    const store = open(path);
    let text = noise("first", 20_000);
    let added = text.length;
    for (let n = 0; n < 100; n++) {
      const more = noise(`more ${n}`, 400);
      text += more;
      added += more.length;
      await mustPut(store, { contents: [content(text)] });
    }
    await store.close();
    // Empty tables included; every content whole would take about twenty times as much.
    expect(statSync(path).size).toBeLessThan(added * 2);
    const again = open(path);
    expect(Buffer.from(unwrap(await again.content(hashContent(text)))).toString()).toBe(text);
  });

  it("stays so for many files that begin alike and grow by turns", async () => {
    const path = join(folder(), "aperture.db");
    const store = open(path);
    const licence = noise("licence", 2_000);
    const files = Array.from({ length: 8 }, () => licence);
    let unique = licence.length;
    for (let turn = 0; turn < 40; turn++) {
      for (let file = 0; file < files.length; file++) {
        const more = noise(`file ${file} turn ${turn}`, 600);
        files[file] += more;
        unique += more.length;
        await mustPut(store, { contents: [content(files[file] as string)] });
      }
    }
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
    await store.close();
    expect(statSync(path).size).toBeLessThan(unique * 1.5);
    const again = open(path);
    for (const text of files) {
      expect(Buffer.from(unwrap(await again.content(hashContent(text)))).toString()).toBe(text);
    }
  });

  it("of a frame is a few hundred bytes in all", async () => {
    const path = join(folder(), "aperture.db");
    const store = open(path);
    const log = frames(1_000, { contents: [hashContent("told")] });
    await mustPut(store, { frames: log });
    await store.close();
    expect(statSync(path).size / log.length).toBeLessThan(300);
  });

  it("of bodies grows with what is new in them, not with turns x history", async () => {
    const path = join(folder(), "aperture.db");
    const store = open(path);
    let previous: { readonly exchange: number; readonly bytes: Buffer } | null = null;
    let history = "";
    let unique = 0;
    for (let exchange = 1; exchange <= 100; exchange++) {
      const message = content(noise(`said ${exchange}`, 1_000));
      history += `{"text":"${Buffer.from(message.bytes).toString()}"},`;
      unique += 1_000;
      const bytes = Buffer.from(`{"messages":[${history}],"mark":${exchange}}`);
      const slices = [
        { start: bytes.indexOf(message.bytes), length: message.bytes.length, content: message.hash },
      ];
      const from = previous === null ? null : { ...previous, side: "client-request" as const };
      const recipe = diffRecipe({ previous: from, next: bytes, slices });
      await mustPut(store, { contents: [message], bodies: [body({ exchange, bytes, recipe })] });
      previous = { exchange, bytes };
    }
    await store.close();
    expect(statSync(path).size).toBeLessThan(unique * 1.5);
  });

  it("of the journal stays small, and none is left after closing", async () => {
    const path = join(folder(), "aperture.db");
    const store = open(path);
    for (let n = 0; n < 40; n++) await mustPut(store, { contents: [content(noise(`big ${n}`, 300_000))] });
    expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(4 * 1024 * 1024);
    await store.close();
    expect(readdirSync(dirname(path))).toEqual(["aperture.db"]);
  });

  it("is given back by gc", async () => {
    const path = join(folder(), "aperture.db");
    const store = open(path);
    await mustPut(store, { frames: frames(3), contents: [content(noise("loose", 2_000_000))] });
    unwrap(await store.gc());
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
    await store.close();
    expect(statSync(path).size).toBeLessThan(100_000);
  });
});

describe("files", () => {
  it("are readable by their owner alone, whatever the umask", async () => {
    const path = join(folder(), "deep", "data", "aperture.db");
    const child = startChild("test/store/umask-child.mjs", [path]);
    const { stderr } = await child.ended;
    expect(stderr).toBe("");
    const modes: Record<string, string> = JSON.parse(child.lines.join(""));
    expect(modes).toEqual({
      data: "700",
      "aperture.db": "600",
      "aperture.db-shm": "600",
      "aperture.db-wal": "600",
      "backup.db": "600",
    });
    expect(modeOf(dirname(path))).toBe("700");
  });

  it("leave a folder with other files as it is", async () => {
    const path = join(folder(), "aperture.db");
    writeFileSync(join(dirname(path), "holiday.jpg"), "");
    chmodSync(dirname(path), 0o755);
    await mustPut(open(path), { frames: frames(1) });
    expect(modeOf(dirname(path))).toBe("755");
    expect(modeOf(path)).toBe("600");
  });

  it("close a folder that holds only our files to others, and add no permission", async () => {
    const path = join(folder(), "aperture.db");
    const kept = [
      "aperture.db-wal",
      "aperture.damaged-2026-11-15T23-36-29-000Z.db",
      "aperture.db.format-1.bak",
    ];
    for (const name of kept) writeFileSync(join(dirname(path), name), "");
    chmodSync(dirname(path), 0o755);
    await mustPut(open(path), { frames: frames(1) });
    expect(modeOf(dirname(path))).toBe("700");
  });

  it("are never folders: a folder at the path is reported as one", async () => {
    const path = join(folder(), "aperture.db");
    mkdirSync(path);
    const answer = await open(path).sessions();
    expect(answer).toMatchObject({ ok: false, error: { code: "AP_STORE_IO" } });
    expect(answer.ok ? "" : answer.error.message).toContain(`${path} is a folder`);
  });
});

describe("a journal that was not closed", () => {
  const pageBytes = 4096;

  /** The files of a store in use, as a crash would leave them. */
  async function crashed(change: (journal: Buffer) => Buffer): Promise<SqliteStore> {
    const path = join(folder(), "aperture.db");
    const live = open(path);
    for (const one of frames(30)) await mustPut(live, { frames: [one] });
    const copy = join(folder(), "copy.db");
    copyFileSync(path, copy);
    writeFileSync(`${copy}-wal`, change(readFileSync(`${path}-wal`)));
    return open(copy);
  }

  it("reports committed frames lost to a flipped byte, on opening and in every check", async () => {
    const store = await crashed((journal) => {
      const middle = Math.floor(journal.length / 2);
      journal[middle] = (journal[middle] ?? 0) ^ 1;
      return journal;
    });
    const report = unwrap(await store.verify("all"));
    expect(report.frames).toBeLessThan(30);
    expect(report.damage).toMatchObject([{ where: "journal" }]);
    expect(unwrap(await store.verify("tail")).damage).toEqual(report.damage);
    expect(store.status()).toMatchObject({ storage: "ok", code: "AP_STORE_CORRUPT" });
    expect(store.status().message).toMatch(/journal: \d+ frames/);
    await mustPut(store, { frames: frames(30).slice(report.frames) });
  });

  it("has lost nothing if it is complete, or if the last write was cut off", async () => {
    const changes: readonly ((journal: Buffer) => Buffer)[] = [
      (journal) => journal,
      (journal) => journal.subarray(0, journal.length - 100),
      (journal) => journal.subarray(0, journal.length - pageBytes - 24),
      (journal) => journal.fill(0, journal.length - 100),
      (journal) => journal.subarray(0, 20),
    ];
    for (const change of changes) {
      const store = await crashed(change);
      expect(unwrap(await store.verify("all")).damage).toEqual([]);
      expect(store.status()).toMatchObject({ storage: "ok", code: null });
    }
  });
});

describe("a purged content", () => {
  const canary = "CANARY-7f3a-do-not-keep-me";

  it("is in no file, and in no value of any table, however it was stored", async () => {
    const path = join(folder(), "aperture.db");
    const store = open(path);
    const filler = noise("filler", 3_000);
    const plain = content(canary);
    const deflated = content(`${canary} `.repeat(200));
    const base = content(`${filler}${canary}`);
    const grown = content(`${filler}${canary}${noise("grown", 500)}`);
    const kept = content(`${filler}nothing to hide`);
    const all = [plain, deflated, base, grown];
    const bytes = Buffer.concat([plain.bytes, base.bytes, Buffer.from("end")]);
    const first = body({
      exchange: 1,
      bytes,
      recipe: [slice(plain), slice(base), literal(Buffer.from("end"))],
    });
    const next = Buffer.concat([bytes.subarray(0, -3), deflated.bytes]);
    const second = body({
      exchange: 2,
      bytes: next,
      recipe: diffRecipe({
        previous: { exchange: 1, side: "client-request", bytes },
        next,
        slices: [{ start: bytes.length - 3, length: deflated.bytes.length, content: deflated.hash }],
      }),
    });
    for (const one of [...all, kept]) await mustPut(store, { contents: [one] });
    await mustPut(store, {
      frames: frames(2, { contents: all.map(({ hash }) => hash) }),
      bodies: [first, second],
    });
    expect(holders(path)).not.toEqual([]);
    expect(unwrap(await store.purge(all.map(({ hash }) => hash)))).toEqual({ contents: 4, bodies: 2 });
    expect(holders(path)).toEqual([]);
    expect(await codes(store, [kept.hash, base.hash])).toEqual(["ok", "AP_CONTENT_PURGED"]);
    const copy = join(dirname(path), "backup.db");
    unwrap(await store.backup(copy));
    expect(holders(copy)).toEqual([]);
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
  });

  async function codes(store: SqliteStore, hashes: readonly ContentHash[]): Promise<readonly string[]> {
    const read = await Promise.all(hashes.map((hash) => store.content(hash)));
    return read.map((result) => (result.ok ? "ok" : result.error.code));
  }

  /** Every file and every stored value the canary can be found in, as it is or inflated. */
  function holders(path: string): readonly string[] {
    const files = readdirSync(dirname(path))
      .filter((name) => name.startsWith(path.slice(dirname(path).length + 1)))
      .filter((name) => readFileSync(join(dirname(path), name)).includes(canary));
    const db = new DatabaseSync(path, { readOnly: true });
    const tables = ["frames", "contents", "bodies", "snapshots", "pages", "sessions", "meta"];
    const values = tables.flatMap((table) =>
      db
        .prepare(`SELECT * FROM ${table}`)
        .all()
        .flatMap((row) => Object.entries(row).map(([name, value]) => ({ name: `${table}.${name}`, value }))),
    );
    db.close();
    return [...files, ...values.filter(({ value }) => holds(value)).map(({ name }) => name)];
  }

  function holds(value: unknown): boolean {
    if (!(value instanceof Uint8Array)) return String(value).includes(canary);
    const dictionary = Buffer.from(frameDictionary);
    const readings = [
      () => value,
      () => inflateRawSync(value.subarray(1)),
      () => inflateRawSync(value, { dictionary }),
    ];
    return readings.some((read) => {
      try {
        return Buffer.from(read()).includes(canary);
      } catch {
        return false;
      }
    });
  }
});

describe("bodies", () => {
  it("can be read as long as the file exists, by another process too", async () => {
    const path = join(folder(), "aperture.db");
    const writer = open(path);
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    const held: Body = body({ exchange: 1, bytes, recipe: [literal(bytes)] });
    await mustPut(writer, { bodies: [held] });
    const reader = open(path);
    expect(unwrap(await reader.body(held))).toEqual(new Uint8Array(bytes));
    expect(unwrap(await reader.bodies(session)).length).toBe(1);
  });
});
