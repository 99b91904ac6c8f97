import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startApp } from "../../src/cli/app/app.ts";
import type { ChildStatus } from "./child.ts";

/** The whole of Aperture in one mode: relay, planner, recorder on its thread, database on another. */
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
    textCommands: "off",
    arrival: "lossless",
    policy: "auto",
    allowedHosts: [],
    upstreams: { anthropic: target, openai: target, gemini: target, bedrock: target, named: new Map() },
    isRemote: false,
  },
  version: "0.0.0-bench",
  notify: () => undefined,
});
const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();

process.on("message", (query) => {
  if (query !== "status" && query !== "memory") return;
  const { waitingBytes, counts } = app.engine.status();
  const { recorderFaults, managed, requests } = app.proxy.metrics();
  const { user, system } = process.cpuUsage();
  // Garbage collection takes longer than other measurements, so it runs only before memory is measured.
  if (query === "memory") global.gc?.();
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
