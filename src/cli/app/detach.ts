import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { HealthAnswer } from "../../control/index.ts";
import { openApi } from "../api/api-client.ts";
import { apiPath } from "../api/api-path.ts";
import { exitCodes } from "../exit-codes.ts";
import { printableLines } from "../format/printable.ts";
import { loadSettings } from "../load-settings.ts";
import type { Screen } from "../screen.ts";
import { stateFolderOf } from "../user-folders.ts";
import type { SystemInfo } from "../verb-call.ts";

const [readyMsMax, pauseMs, askMs] = [20_000, 50, 2_000];
const program = fileURLToPath(new URL("../main.js", import.meta.url));

/** Starts `aperture up` in the background. Returns when it answers, or reports why it ended. */
export async function detach(screen: Screen, system: SystemInfo): Promise<number> {
  const read = loadSettings(system);
  if (!read.ok) {
    for (const problem of read.problems) screen.err(problem);
    return exitCodes.usage;
  }
  const api = openApi(read.settings, askMs);
  const running = await api.json<HealthAnswer>(apiPath("/health"));
  if (running.ok) {
    screen.out(`Aperture ${running.value.value.version} is already running on ${api.url}`);
    return exitCodes.ok;
  }
  if (running.problem.exit !== exitCodes.stopped) {
    screen.err(running.problem.message);
    return running.problem.exit;
  }
  const log = join(stateFolderOf(system), "aperture.log");
  const child = spawnUp(log, system);
  const isReady = await waitUntilReady(child, async () => (await api.json(apiPath("/health"))).ok);
  if (!isReady) {
    screen.err(`Aperture did not start. The end of its log, ${log}:\n${logTail(log)}`);
    return exitCodes.failed;
  }
  screen.out(`Aperture listening on ${api.url} (process ${child.pid})`);
  screen.err(`log: ${log}; \`aperture down\` stops it`);
  return exitCodes.ok;
}

/** The log holds the output of `up`, which never contains a credential. */
function spawnUp(log: string, { env }: SystemInfo): ChildProcess {
  mkdirSync(join(log, ".."), { recursive: true, mode: 0o700 });
  const file = openSync(log, "w", 0o600);
  const child = spawn(process.execPath, [program, "up"], {
    env: { ...env },
    detached: true,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  child.unref();
  return child;
}

async function waitUntilReady(child: ChildProcess, answers: () => Promise<boolean>): Promise<boolean> {
  const untilMs = performance.now() + readyMsMax;
  while (child.exitCode === null && child.signalCode === null && performance.now() < untilMs) {
    if (await answers()) return true;
    await sleep(pauseMs);
  }
  return false;
}

function logTail(log: string): string {
  try {
    return printableLines(readFileSync(log, "utf8").trimEnd().split("\n").slice(-5).join("\n"));
  } catch {
    return "(none)";
  }
}
