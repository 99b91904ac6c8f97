import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname } from "node:path";

/**
 * Makes the folder of a database, closed to others. One that is there is closed too if it is ours alone;
 * where other things lie beside the database, who may see them is not for us to say.
 */
export function makeDirectory(databasePath: string): void {
  const folder = dirname(databasePath);
  if (existsSync(folder)) {
    tighten(folder, databasePath);
    return;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Takes away from others and gives nothing to the owner: a folder made read-only stays so. */
function tighten(folder: string, databasePath: string): void {
  try {
    const { mode, uid } = statSync(folder);
    if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return;
    const files = filesOf(databasePath);
    if (readdirSync(folder).every((name) => files.test(name))) chmodSync(folder, mode & 0o700);
  } catch {
    // A folder that cannot be looked at is not ours alone; opening the database says what is wrong with it.
  }
}

/** The database, its journal and index, and what `setAside` and `copyAside` keep beside it under its name. */
function filesOf(databasePath: string): RegExp {
  const name = basename(databasePath);
  const stem = name.slice(0, name.length - extname(name).length);
  const kept = `${escaped(stem)}\\.(damaged|foreign)-[0-9TZ-]+\\.db`;
  return new RegExp(
    `^(${escaped(name)}|${kept})(-wal|-shm|-journal)?$|^${escaped(name)}\\.format-\\d+\\.bak(\\.new)?$`,
  );
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
