// Compiles src to dist when a source file was added, changed or deleted since the last build.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { capture, TaskError } from "./process.mjs";

const stampFile = "dist/.aperture-build";
const compiler = "node_modules/typescript/bin/tsc";

/**
 * `onTypeErrors: "fail"` stops; `"report"` prints them and goes on with the emitted code, which is what tests
 * want: vitest does not check types either, and the `check` suite fails on them by name.
 * @param {{ onTypeErrors: "fail" | "report" }} options
 */
export async function ensureBuilt(options) {
  if (isCurrent()) return;
  await withLock(".cache/setup.lock", async () => {
    if (!isCurrent()) await build(options);
  });
}

function isCurrent() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === fingerprint();
}

/** The list of files is part of it, so a deleted source counts as a change. */
function fingerprint() {
  const hash = createHash("sha256");
  for (const path of [...sources("src"), "tsconfig.json", "package-lock.json"]) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest("hex");
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sources(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sources(path);
      return path.endsWith(".ts") && !path.endsWith(".test.ts") ? [path] : [];
    });
}

/**
 * Compiles into a folder of its own and swaps it in whole: a running process never loads a half-written file,
 * and outputs of deleted sources cannot survive.
 * @param {{ onTypeErrors: "fail" | "report" }} options
 */
async function build({ onTypeErrors }) {
  console.error("building...");
  // Taken before compiling: a file saved during the build makes the result out of date, not falsely current.
  const before = fingerprint();
  const fresh = `.cache/build-${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  const { code, output } = await capture(process.execPath, [
    compiler,
    "-p",
    "tsconfig.json",
    "--outDir",
    fresh,
  ]);
  if (code !== 0 && (onTypeErrors === "fail" || !existsSync(fresh))) {
    rmSync(fresh, { recursive: true, force: true });
    throw new TaskError(`${output.trimEnd()}\n\nThe build failed; dist/ is as it was before.`);
  }
  if (code !== 0) console.error(output.trimEnd());
  else writeFileSync(join(fresh, ".aperture-build"), before);
  // The compiler writes plain files; the command must stay executable for whoever linked it.
  chmodSync(join(fresh, "cli", "main.js"), 0o755);
  swapIn(fresh);
}

/** @param {string} fresh */
function swapIn(fresh) {
  const old = `.cache/old-${process.pid}`;
  if (existsSync("dist")) renameSync("dist", old);
  renameSync(fresh, "dist");
  rmSync(old, { recursive: true, force: true });
}
