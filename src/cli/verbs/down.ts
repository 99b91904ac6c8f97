import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HealthAnswer } from "../../control/index.ts";
import { apiPath } from "../api/api-path.ts";
import { holderOf } from "../app/data-lock.ts";
import { exitCodes } from "../exit-codes.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

/** Open requests may take long, so the user is told what it waits for. */
const [reportAfterMs, pauseMs] = [2_000, 50];

export async function down(call: ReadyCall): Promise<number> {
  // It must accept our token: the process of another user is not ours to stop, and a process id may be
  // reused.
  const health = await call.api.json<HealthAnswer>(apiPath("/health"));
  if (!health.ok && health.problem.exit === exitCodes.stopped) {
    const message = `Aperture is not running on ${call.api.url}: nothing to stop.`;
    return reportProblem(call, { exit: exitCodes.stopped, message });
  }
  if (!health.ok) return reportProblem(call, health.problem);
  const dataDir = resolve(call.settings.dataDir);
  const holder = holderOf(dataDir);
  if (holder === null) {
    const message = `Aperture on ${call.api.url} does not use ${dataDir}. Give its directory with --data-dir.`;
    return reportProblem(call, { exit: exitCodes.failed, message });
  }
  if (holder.verb !== "up") {
    const message = `It was started by \`aperture ${holder.verb}\` (process ${holder.pid}) and stops with it.`;
    return reportProblem(call, { exit: exitCodes.failed, message });
  }
  process.kill(holder.pid, "SIGTERM");
  await waitUntilEnded(call, holder.pid, dataDir);
  if (!isQuiet(call)) call.screen.out(`stopped (process ${holder.pid})`);
  return exitCodes.ok;
}

async function waitUntilEnded(call: ReadyCall, pid: number, dataDir: string): Promise<void> {
  const reportAtMs = call.system.nowMs() + reportAfterMs;
  let isReported = isQuiet(call);
  while (holderOf(dataDir)?.pid === pid) {
    if (!isReported && call.system.nowMs() > reportAtMs) {
      isReported = true;
      call.screen.err("waiting for open requests; Ctrl-C stops the waiting, not the requests");
    }
    await sleep(pauseMs);
  }
}
