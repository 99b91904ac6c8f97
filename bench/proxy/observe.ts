import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProxy } from "../../src/proxy/index.ts";
import { startEngine } from "../../src/session/index.ts";

/** Aperture as it runs, in observe: relay, recorder on its thread, database on its own. */
const [upstream = "0"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "aperture-bench-"));
const engine = startEngine({ path: join(folder, "aperture.db"), windows: [] });
const target = new URL(`http://127.0.0.1:${upstream}`);
const proxy = await startProxy({
  host: "127.0.0.1",
  port: 0,
  allowedHosts: [],
  upstreams: { anthropic: target, openai: target, gemini: target, bedrock: target, named: new Map() },
  relayToken: null,
  recorder: engine,
  credentialKey: new Uint8Array(32),
  own: (_request, response) => response.end(),
  ownPaths: (path) => path === "/healthz",
});

process.on("message", (asked) => {
  if (asked !== "status") return;
  const { waitingBytes, counts } = engine.status();
  const { recorderFaults } = proxy.metrics();
  process.send?.({ waitingBytes, counts, recorderFaults, rssBytes: process.memoryUsage().rss });
});
process.on("disconnect", () => {
  void engine.close().then(() => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  });
});
process.send?.({ port: proxy.port });
