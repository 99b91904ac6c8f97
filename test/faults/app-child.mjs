// Aperture in a process of its own, until its input ends. Each line it reads is a share of its memory to
// fill; it reports when that is done. 0 frees the memory.
//   node [--max-old-space-size=MB --expose-gc] app-child.mjs UPSTREAM FOLDER [PORT]
import { createInterface } from "node:readline";
import { getHeapStatistics } from "node:v8";
import { startApp } from "../../dist/cli/app/app.js";
import { settingsFor } from "../support/app-settings.mjs";

const [upstream = "", folder = "", port = "0"] = process.argv.slice(2);
const app = await startApp({
  settings: { ...settingsFor(new URL(upstream), folder), port: Number(port) },
  version: "0.0.0-test",
  deadlineMs: 20_000,
  notify: () => undefined,
});
console.log(JSON.stringify({ url: app.url, token: app.token }));

const pieceBytes = 160_000;
let taken = [];
for await (const line of createInterface({ input: process.stdin })) {
  const share = Number(line);
  if (share === 0) taken = [];
  globalThis.gc?.();
  for (let left = missingBytes(share); left > 0; left -= pieceBytes)
    taken.push(new Array(pieceBytes / 8).fill(0.5));
  console.log(`taken ${share}`);
}
await app.close();

function missingBytes(share) {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return share * (limit - 48 * 1024 * 1024) - used;
}
