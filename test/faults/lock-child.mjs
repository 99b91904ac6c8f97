// Holds the write lock of a database for a while, as another program might.
//   node lock-child.mjs PATH MILLISECONDS
import { setTimeout as sleep } from "node:timers/promises";
import { loadDriver } from "../../dist/store/driver.js";

const [path, milliseconds] = process.argv.slice(2);
const { DatabaseSync } = loadDriver();
const db = new DatabaseSync(path);
db.exec("PRAGMA busy_timeout=5000");
db.exec("BEGIN EXCLUSIVE");
process.stdout.write("locked\n");
await sleep(Number(milliseconds));
db.exec("COMMIT");
db.close();
process.stdout.write("released\n");
