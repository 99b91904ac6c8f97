// Writes as fast as it can and exits without closing, like a program that is stopped.
import { hashContent } from "../../dist/base/index.js";
import { openSqliteStore } from "../../dist/store/index.js";

const store = openSqliteStore({ path: process.argv[2] ?? "" });
let count = 0;
function write() {
  for (let n = 0; n < 5; n += 1) {
    count += 1;
    const bytes = Buffer.from(`content ${count} `.repeat(300));
    store.append({ contents: [{ hash: hashContent(bytes), bytes }] });
  }
  setImmediate(write);
}
write();
await store.head("nobody");
setTimeout(() => process.exit(7), Number(process.argv[3]));
