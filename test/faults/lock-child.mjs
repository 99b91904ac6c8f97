// Holds the write lock of a database until its input ends, as another program might.
//   node lock-child.mjs PATH
import { once } from "node:events";
import { loadDriver } from "../../dist/store/driver.js";

const { DatabaseSync } = loadDriver();
const db = new DatabaseSync(process.argv[2] ?? "");
db.exec("PRAGMA busy_timeout=5000");
db.exec("BEGIN EXCLUSIVE");
process.stdout.write("locked\n");
process.stdin.resume();
await once(process.stdin, "end");
db.exec("COMMIT");
db.close();
