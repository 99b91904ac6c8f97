// Compiles src and bundles the panel into dist if a source has changed since the last build.
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
import { join, resolve } from "node:path";
import { withLock } from "./lock.mjs";
import { capture, TaskError } from "./process.mjs";

const stampFile = "dist/.aperture-build";
const compiler = "node_modules/typescript/bin/tsc";
const bundler = "node_modules/vite/bin/vite.js";
const panelConfig = "panel/vite.config.ts";

/**
 * `onTypeErrors: "fail"` stops; `"report"` prints them and continues with the emitted code.
 * Tests use the second: vitest does not check types either, and the `check` suite reports them.
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
  const panel = existsSync("panel") ? sources("panel", /\.(tsx?|css|html|svg|json)$/) : [];
  for (const path of [...sources("src", /\.ts$/), ...panel, "tsconfig.json", "package-lock.json"]) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest("hex");
}

/**
 * @param {string} folder
 * @param {RegExp} kind
 * @returns {string[]}
 */
function sources(folder, kind) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sources(path, kind);
      return kind.test(path) && !/\.test\.tsx?$/.test(path) ? [path] : [];
    });
}

/**
 * Compiles into a new folder, then replaces dist with it: a running process never loads a half-written file,
 * and no output of a deleted source is left.
 * @param {{ onTypeErrors: "fail" | "report" }} options
 */
async function build({ onTypeErrors }) {
  console.error("building...");
  // Taken before compiling, so that a file saved during the build makes the result out of date.
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
  await bundlePanel(fresh);
  await bundleCommand(join(fresh, "cli"));
  swapIn(fresh);
}

/**
 * Only bundles the panel; its types are checked with all others.
 * @param {string} fresh
 */
async function bundlePanel(fresh) {
  if (!existsSync(panelConfig)) {
    console.error(`${panelConfig} is not there: built without the panel`);
    return;
  }
  const outDir = resolve(fresh, "panel");
  const args = ["build", "--config", panelConfig, "--outDir", outDir, "--emptyOutDir", "--logLevel", "warn"];
  // Tests set another value, with which React's large and slow development build would be bundled.
  const env = { ...process.env, NODE_ENV: "production" };
  const { code, output } = await capture(process.execPath, [bundler, ...args], env);
  if (code === 0 && existsSync(join(outDir, "index.html"))) return;
  rmSync(fresh, { recursive: true, force: true });
  throw new TaskError(`${output.trimEnd()}\n\nThe panel could not be built; dist/ is as it was before.`);
}

/**
 * Bundles the files that every call loads into one. A status line is drawn after every message of a client,
 * and most of its time was spent on finding and linking files. All other files are loaded from dist.
 * @param {string} folder
 */
async function bundleCommand(folder) {
  const { rolldown } = await import("rolldown");
  const input = resolve(folder, "main.js");
  const bundle = await rolldown({ input, platform: "node", external: [/\/program\.js$/] });
  const file = join(folder, "main.cjs");
  await bundle.write({ file, format: "cjs", codeSplitting: false });
  await bundle.close();
  // The bundler writes plain files; a linked command must stay executable.
  for (const path of [input, file]) chmodSync(path, 0o755);
}

/** @param {string} fresh */
function swapIn(fresh) {
  const old = `.cache/old-${process.pid}`;
  if (existsSync("dist")) renameSync("dist", old);
  renameSync(fresh, "dist");
  rmSync(old, { recursive: true, force: true });
}
