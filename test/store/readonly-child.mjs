// Opens a store in a folder it may not write to, without root rights, and prints the reported status.
import { accessSync, chmodSync, chownSync } from "node:fs";
import { dirname } from "node:path";
import { openSqliteStore } from "../../dist/store/index.js";

const nobodyId = 65_534;
const path = process.argv[2] ?? "";
if (process.getuid?.() === 0) {
  for (const file of [dirname(dirname(path)), dirname(path), path]) chownSync(file, nobodyId, nobodyId);
  process.setgid?.(nobodyId);
  process.setuid?.(nobodyId);
  try {
    accessSync(new URL("../../dist/store/store-worker.js", import.meta.url));
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
console.log(`reported ${await refused}`);
chmodSync(dirname(path), 0o700);
chmodSync(path, 0o600);
console.log(`durable ${appended.accepted && (await appended.durable).ok}`);
await store.close();
