import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../outcome.ts";

/** Null if there is no such file. */
export function textAt(path: string): string | null | Error {
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString("utf8");
    // A file that could not be written back unchanged is not touched.
    return Buffer.from(text, "utf8").equals(bytes) ? text : new Error("it is not UTF-8");
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" ? null : new Error(code);
  }
}

/** Writes the whole file or nothing, and keeps its mode and a symbolic link. Null removes the file. */
export function replaceFile(path: string, text: string | null): void {
  if (text === null) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = realPath(path);
  const mode = modeOf(target);
  const next = `${target}.${process.pid}.new`;
  writeFileSync(next, text, { mode: 0o600 });
  if (mode !== null) chmodSync(next, mode);
  renameSync(next, target);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function modeOf(path: string): number | null {
  try {
    return statSync(path).mode & 0o777;
  } catch {
    return null;
  }
}
