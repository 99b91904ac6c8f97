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

/** Null: there is no such file. */
export function textAt(path: string): string | null | Error {
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString("utf8");
    // Whatever could not be written back as it was is not touched.
    return Buffer.from(text, "utf8").equals(bytes) ? text : new Error("it is not UTF-8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${error.code}` : "unknown error";
    return code === "ENOENT" ? null : new Error(code);
  }
}

/** Whole or not at all, with the rights it had; a link stays one. Null takes the file away. */
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
