// Aperture under load with an engine that hangs again and again, until it was replaced often enough.
//   node stuck-child.mjs UPSTREAM REPLACEMENTS
// Its last line is a JSON object: requests, failed, replaced, frames, damage.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../dist/cli/app/app.js";
import { openSqliteStore } from "../../dist/store/index.js";
import { settingsFor } from "../support/app-settings.mjs";

const upstream = new URL(process.argv[2] ?? "");
const enough = Number(process.argv[3]);
const dataDir = mkdtempSync(join(tmpdir(), "aperture-stuck-"));
const app = await startApp({
  settings: { ...settingsFor(upstream, dataDir), mode: "observe" },
  version: "0.0.0-test",
  notify: () => undefined,
  faults: { stickAfter: 10, stuckMs: 200 },
});
const lanes = 8;
let requests = 0;
let failed = 0;
await Promise.all(Array.from({ length: lanes }, () => lane()));
const { replaced } = app.engine.status();
await app.close();
const store = openSqliteStore({ path: join(dataDir, "aperture.db") });
const { value } = await store.verify("all");
await store.close();
rmSync(dataDir, { recursive: true });
console.log(JSON.stringify({ requests, failed, replaced, frames: value.frames, damage: value.damage }));

async function lane() {
  while (app.engine.status().replaced < enough) {
    requests += 1;
    const content = `say hello\n${`line ${requests} of a file\n`.repeat(500)}`;
    const answer = await fetch(`${app.url}/v1/messages`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": "test-key-0123456789",
        "anthropic-version": "2023-06-01",
        "x-claude-code-session-id": `s-${requests % 40}`,
      },
      body: JSON.stringify({
        model: "claude-opus-4-8",
        max_tokens: 9,
        messages: [{ role: "user", content }],
      }),
    }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status !== 200) failed += 1;
    await new Promise((resume) => setTimeout(resume, 20));
  }
}
