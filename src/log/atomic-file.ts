import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a new file beside the old one and renames it, so that a crash leaves either the old text or the new.
 * Returns the problem, or null on success.
 */
export function writeFileAtomically(path: string, text: string): string | null {
  const next = `${path}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(next, { force: true });
    const file = openSync(next, "wx", 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(next, path);
    return null;
  } catch (error) {
    return `it cannot be written (${errorCodeOf(error)})`;
  }
}

export function errorCodeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
