import { describe, expect, it } from "vitest";
import { loadDriver } from "./driver.ts";

describe("the driver", () => {
  it("has every function of SQLite that is used", () => {
    const { DatabaseSync } = loadDriver();
    const db = new DatabaseSync(":memory:");
    db.exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB) STRICT");
    expect(db.prepare("INSERT INTO t (b) VALUES (?)").run(Buffer.from("x"))).toMatchObject({ changes: 1 });
    expect(db.prepare("SELECT a, b FROM t").get()).toMatchObject({
      a: 1,
      b: new Uint8Array(Buffer.from("x")),
    });
    expect([...db.prepare("SELECT a FROM t").iterate()].length).toBe(1);
    const version = String(db.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
    const [major, minor] = version.split(".").map(Number) as [number, number];
    expect(major > 3 || (major === 3 && minor >= 45)).toBe(true);
    db.close();
  });

  it("leaves the process's warnings as they were", () => {
    const before = process.emitWarning;
    loadDriver();
    expect(process.emitWarning).toBe(before);
  });
});
