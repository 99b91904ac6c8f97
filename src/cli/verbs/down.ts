import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HealthAnswer } from "../../control/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { holderOf } from "../data-lock.ts";
import { exitCodes } from "../usage.ts";

/** Requests in flight may take long; somebody who waits for them is told. */
const [saysAfterMs, pauseMs] = [2_000, 50];

export async function down(call: ReadyCall): Promise<number> {
  // It must know our token: the process of another user is not ours to end, and a number may be used anew.
  const health = await call.api.json<HealthAnswer>(apiPath("/health"));
  if (!health.ok && health.problem.exit === exitCodes.stopped) {
    const message = `Aperture is not running on ${call.api.url}; there is nothing to stop.`;
    return giveUp(call, { exit: exitCodes.stopped, message });
  }
  if (!health.ok) return giveUp(call, health.problem);
  const dataDir = resolve(call.settings.dataDir);
  const holder = holderOf(dataDir);
  if (holder === null) {
    const message = `Aperture on ${call.api.url} does not use ${dataDir}; name its directory with --data-dir.`;
    return giveUp(call, { exit: exitCodes.failed, message });
  }
  if (holder.verb !== "up") {
    const message = `It was started by \`aperture ${holder.verb}\` (process ${holder.pid}) and ends with that.`;
    return giveUp(call, { exit: exitCodes.failed, message });
  }
  process.kill(holder.pid, "SIGTERM");
  await ended(call, holder.pid, dataDir);
  if (!isQuiet(call)) call.screen.out(`stopped (process ${holder.pid})`);
  return exitCodes.ok;
}

async function ended(call: ReadyCall, pid: number, dataDir: string): Promise<void> {
  const saysAtMs = call.world.nowMs() + saysAfterMs;
  let isSaid = isQuiet(call);
  while (holderOf(dataDir)?.pid === pid) {
    if (!isSaid && call.world.nowMs() > saysAtMs) {
      isSaid = true;
      call.screen.err("waiting for requests in flight; Ctrl-C stops waiting, not them");
    }
    await sleep(pauseMs);
  }
}
