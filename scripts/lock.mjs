// One process at a time may install or build in this folder. Two terminals running `npm start` and `npm test`
// on a fresh clone must not delete each other's node_modules.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TaskError } from "./process.mjs";

const heartbeatMs = 1_000;
const staleMs = 15_000;
const pollMs = 150;
const waitMaxMs = 600_000;

/**
 * Runs `work` while holding the lock file, and waits for the present holder first.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  await acquire(path);
  // The file's time shows that the holder is alive, also where process ids mean nothing (containers).
  const heartbeat = setInterval(() => touch(path), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    rmSync(path, { force: true });
  }
}

/** @param {string} path */
async function acquire(path) {
  mkdirSync(dirname(path), { recursive: true });
  const deadline = Date.now() + waitMaxMs;
  let told = false;
  while (!tryCreate(path)) {
    if (removeIfStale(path)) continue;
    if (Date.now() > deadline) {
      throw new TaskError(
        `Another process has been setting up this folder for too long. Delete ${path} and retry.`,
      );
    }
    if (!told) console.error("waiting for another process that is setting up this folder...");
    told = true;
    await sleep(pollMs);
  }
}

/** @param {string} path */
function tryCreate(path) {
  try {
    writeFileSync(path, `${process.pid}`, { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/**
 * Two waiters may consider the same lock stale. The rename decides between them. The renamed file is checked,
 * because the other waiter may have created a new lock already.
 * @param {string} path
 */
function removeIfStale(path) {
  const seen = read(path);
  if (seen === undefined) return true;
  if (isAlive(seen)) return false;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return true;
  }
  if (read(aside)?.owner === seen.owner) rmSync(aside, { force: true });
  else renameSync(aside, path);
  return true;
}

/** @param {string} path */
function read(path) {
  try {
    return { owner: readFileSync(path, "utf8"), ageMs: Date.now() - statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}

/** @param {{ owner: string, ageMs: number }} seen */
function isAlive({ owner, ageMs }) {
  if (ageMs > staleMs) return false;
  // Empty for the instant between creating the file and writing to it.
  if (owner === "") return true;
  try {
    process.kill(Number(owner), 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/** @param {string} path */
function touch(path) {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // The lock was deleted by hand: the work continues, and the next process takes its own lock.
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
