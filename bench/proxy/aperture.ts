import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startApp } from "../../src/cli/index.ts";
import type { ChildStatus } from "./child.ts";

/** Aperture as it runs, in one mode: relay, desk, recorder on its thread, database on its own. */
const [upstream = "0", mode = "observe"] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), "aperture-bench-"));
const target = new URL(`http://127.0.0.1:${upstream}`);
const app = await startApp({
  settings: {
    host: "127.0.0.1",
    port: 0,
    dataDir,
    mode: mode === "auto" ? "auto" : "observe",
    managesLogins: false,
    headers: "compact",
    manifest: "text",
    manifestFill: "shown",
    textCommands: "off",
    arrival: "lossless",
    policy: "auto",
    allowedHosts: [],
    upstreams: { anthropic: target, openai: target, gemini: target, bedrock: target, named: new Map() },
    isRemote: false,
  },
  version: "0.0.0-bench",
  note: () => undefined,
});
const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();

process.on("message", (asked) => {
  if (asked !== "status" && asked !== "memory") return;
  const { waitingBytes, counts } = app.engine.status();
  const { recorderFaults, managed, requests } = app.proxy.metrics();
  const { user, system } = process.cpuUsage();
  // Collecting takes longer than what is measured elsewhere, so it is done only where memory is the question.
  if (asked === "memory") global.gc?.();
  const status: ChildStatus = {
    waitingBytes,
    missed: counts.gaps + counts.unread + recorderFaults,
    requests,
    managed,
    rssBytes: process.memoryUsage().rss,
    cpuMs: (user + system) / 1_000,
    loopMs: loop.percentile(99) / 1e6,
  };
  loop.reset();
  process.send?.(status);
});
process.on("disconnect", () => {
  void app.close().then(() => {
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(0);
  });
});
process.send?.({ port: app.proxy.port });
