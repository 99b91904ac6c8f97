// Opens a store with every permission given away by default, and prints what its files ended up with.
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openSqliteStore } from "../../dist/store/index.js";

process.umask(0);
const path = process.argv[2] ?? "";
const store = openSqliteStore({ path });
await store.head("nobody");
await store.backup(join(dirname(path), "backup.db"));
const folder = dirname(path);
const modes = readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]);
console.log(JSON.stringify(Object.fromEntries([["data", modeOf(folder)], ...modes])));
await store.close();

/** @param {string} file */
function modeOf(file) {
  return (statSync(file).mode & 0o777).toString(8);
}
