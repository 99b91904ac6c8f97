import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The process that uses a data directory, and its verb. Only `up` runs until a signal stops it. */
export type LockHolder = { readonly pid: number; readonly verb: string };

export type DataLock =
  | { readonly held: true; readonly release: () => void }
  /** Another process holds it. */
  | { readonly held: false; readonly by: LockHolder };

const triesMax = 20;
const pauseMs = 100;

/**
 * Locks a data directory: two processes would each assume that they know all sessions, and lose what the
 * other records. A holder that is about to end is waited for. If the lock file cannot be written, nothing can
 * be recorded either, and the start goes on without a lock.
 */
export async function lockData(dataDir: string, verb = "up"): Promise<DataLock> {
  const path = lockFileOf(dataDir);
  for (let tries = 1; ; tries += 1) {
    const by = tryLock(path, verb);
    if (by === null) return { held: true, release: () => release(path) };
    if (!isAlive(by)) rmSync(path, { force: true });
    else if (tries >= triesMax) return { held: false, by };
    else await sleep(pauseMs);
  }
}

function lockFileOf(dataDir: string): string {
  return join(dataDir, "lock");
}

/** The process that uses the directory now, or null. */
export function holderOf(dataDir: string): LockHolder | null {
  const holder = readHolder(lockFileOf(dataDir));
  return isAlive(holder) ? holder : null;
}

/** Null if the lock is ours now, or if the lock file cannot be written. */
function tryLock(path: string, verb: string): LockHolder | null {
  try {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  } catch {
    return null;
  }
  try {
    const file = openSync(path, "wx", 0o600);
    writeSync(file, JSON.stringify({ pid: process.pid, verb } satisfies LockHolder));
    closeSync(file);
    return null;
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EEXIST";
    return isTaken ? readHolder(path) : null;
  }
}

/** A lock file that cannot be parsed was left by a process that died while writing it. */
function readHolder(path: string): LockHolder {
  try {
    const { pid, verb } = JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, unknown>>;
    return { pid: typeof pid === "number" ? pid : 0, verb: typeof verb === "string" ? verb : "up" };
  } catch {
    return { pid: 0, verb: "up" };
  }
}

/** EPERM means that a process of another user exists. */
function isAlive({ pid }: LockHolder): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function release(path: string): void {
  if (readHolder(path).pid === process.pid) rmSync(path, { force: true });
}
