import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Who uses a data directory, and for which verb: only `up` runs until somebody stops it. */
export type Holder = { readonly pid: number; readonly verb: string };

export type DataLock =
  | { readonly held: true; readonly release: () => void }
  /** Somebody else uses it. */
  | { readonly held: false; readonly by: Holder };

const triesMax = 20;
const pauseMs = 100;

/**
 * One process at a time writes to a data directory: two would each believe to know the sessions, and lose
 * what the other records. One that is just ending is waited for. Where no lock can be kept nothing can be
 * recorded either, so that is no reason not to start.
 */
export async function lockData(dataDir: string, verb = "up"): Promise<DataLock> {
  const path = lockFileOf(dataDir);
  for (let tries = 1; ; tries += 1) {
    const by = take(path, verb);
    if (by === null) return { held: true, release: () => release(path) };
    if (!isAlive(by)) rmSync(path, { force: true });
    else if (tries >= triesMax) return { held: false, by };
    else await sleep(pauseMs);
  }
}

function lockFileOf(dataDir: string): string {
  return join(dataDir, "lock");
}

/** Who uses it now; null: nobody. */
export function holderOf(dataDir: string): Holder | null {
  const holder = holderIn(lockFileOf(dataDir));
  return isAlive(holder) ? holder : null;
}

/** Null: it is ours now, or nobody's because the place cannot be written. */
function take(path: string, verb: string): Holder | null {
  try {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  } catch {
    return null;
  }
  try {
    const file = openSync(path, "wx", 0o600);
    writeSync(file, JSON.stringify({ pid: process.pid, verb } satisfies Holder));
    closeSync(file);
    return null;
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EEXIST";
    return isTaken ? holderIn(path) : null;
  }
}

/** A lock that cannot be read was left by a process that died while writing it. */
function holderIn(path: string): Holder {
  try {
    const { pid, verb } = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, unknown>>;
    return { pid: typeof pid === "number" ? pid : 0, verb: typeof verb === "string" ? verb : "up" };
  } catch {
    return { pid: 0, verb: "up" };
  }
}

/** A process of another user cannot be signalled, but it is there. */
function isAlive({ pid }: Holder): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function release(path: string): void {
  if (holderIn(path).pid === process.pid) rmSync(path, { force: true });
}
