// A plain database without Aperture, to test the test itself: each commit is reported as soon as it is done.
//   node power-plain-child.mjs FOLDER SYNCHRONOUS
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { loadDriver } from "../../dist/store/driver.js";

const [folder = "", synchronous = ""] = process.argv.slice(2);
const said = openSync(join(folder, "said"), "a");
const db = new (loadDriver().DatabaseSync)(join(folder, "aperture.db"));
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (n, words)");
db.exec(`PRAGMA synchronous = ${synchronous}`);
for (let n = 1; n <= 30; n += 1) {
  db.exec(`INSERT INTO t VALUES (${n}, '${"words ".repeat(300)}')`);
  writeSync(said, `${n}\n`);
}
