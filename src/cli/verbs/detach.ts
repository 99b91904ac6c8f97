import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { HealthAnswer } from "../../control/index.ts";
import { apiPath } from "../api-path.ts";
import type { Screen, World } from "../call.ts";
import { openApi } from "../client.ts";
import { printableLines } from "../format/printable.ts";
import { loadSettings } from "../load-settings.ts";
import { stateFolderOf } from "../places.ts";
import { exitCodes } from "../usage.ts";

type Detaching = { readonly screen: Screen; readonly world: World };

const [readyMsMax, pauseMs, askMs] = [20_000, 50, 2_000];
const program = fileURLToPath(new URL("../main.js", import.meta.url));

/** Starts `aperture up` on its own, and answers when it can be talked to, or says why it ended. */
export async function detach({ screen, world }: Detaching): Promise<number> {
  const read = loadSettings(world);
  if (!read.ok) {
    for (const problem of read.problems) screen.err(problem);
    return exitCodes.usage;
  }
  const api = openApi(read.settings, askMs);
  const running = await api.json<HealthAnswer>(apiPath("/health"));
  if (running.ok) {
    screen.out(`Aperture ${running.value.value.version} runs already on ${api.url}`);
    return exitCodes.ok;
  }
  if (running.problem.exit !== exitCodes.stopped) {
    screen.err(running.problem.message);
    return running.problem.exit;
  }
  const log = join(stateFolderOf(world), "aperture.log");
  const child = started(log, world);
  const isReady = await ready(child, async () => (await api.json(apiPath("/health"))).ok);
  if (!isReady) {
    screen.err(`Aperture did not start. Its last words, from ${log}:\n${lastWords(log)}`);
    return exitCodes.failed;
  }
  screen.out(`Aperture listening on ${api.url} (process ${child.pid})`);
  screen.err(`log: ${log}; \`aperture down\` stops it`);
  return exitCodes.ok;
}

/** The log holds what `up` says, which never is a credential. */
function started(log: string, { env }: World): ChildProcess {
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

async function ready(child: ChildProcess, answers: () => Promise<boolean>): Promise<boolean> {
  const untilMs = performance.now() + readyMsMax;
  while (child.exitCode === null && child.signalCode === null && performance.now() < untilMs) {
    if (await answers()) return true;
    await sleep(pauseMs);
  }
  return false;
}

function lastWords(log: string): string {
  try {
    return printableLines(readFileSync(log, "utf8").trimEnd().split("\n").slice(-5).join("\n"));
  } catch {
    return "(none)";
  }
}
