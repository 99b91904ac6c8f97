// Opens a store in a folder it may not write to, as a user who is bound by that, and prints what it is told.
import { accessSync, chmodSync, chownSync } from "node:fs";
import { dirname } from "node:path";
import { openSqliteStore } from "../../dist/store/index.js";

const nobody = 65_534;
const path = process.argv[2] ?? "";
if (process.getuid?.() === 0) {
  for (const file of [dirname(dirname(path)), dirname(path), path]) chownSync(file, nobody, nobody);
  process.setgid?.(nobody);
  process.setuid?.(nobody);
  try {
    accessSync(new URL("../../dist/store/worker.js", import.meta.url));
  } catch {
    console.log("no other user can read this repository");
    process.exit();
  }
}
chmodSync(path, 0o400);
chmodSync(dirname(path), 0o500);
const store = openSqliteStore({ path });
const refused = new Promise((resolve) => store.watch(({ code }) => code !== null && resolve(code)));
const appended = store.append({ contents: [] });
console.log(`accepted ${appended.accepted}`);
console.log(`told ${await refused}`);
chmodSync(dirname(path), 0o700);
chmodSync(path, 0o600);
console.log(`durable ${appended.accepted && (await appended.durable).ok}`);
await store.close();
