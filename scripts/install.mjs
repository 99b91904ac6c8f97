// Installs the locked packages only if something is missing. Usually this takes two file reads.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { withLock } from "./lock.mjs";
import { capture, TaskError } from "./process.mjs";

const lockFile = "package-lock.json";
const stampFile = "node_modules/.aperture-install.json";
// npm's own record of the last install into node_modules.
const installedFile = "node_modules/.package-lock.json";

export async function ensureInstalled() {
  if (isCurrent()) return;
  await withLock(".cache/setup.lock", async () => {
    if (isCurrent()) return;
    if (!adopt()) await install();
  });
}

/** The stamp is written last and by rename: an interrupted install leaves none and is repeated. */
function isCurrent() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === stampText();
}

function stampText() {
  const lock = createHash("sha256").update(readFileSync(lockFile)).digest("hex");
  // Native packages depend on Node version and platform, so a shared folder may be out of date.
  return `${JSON.stringify({ lock, node: process.version, platform: process.platform, arch: process.arch })}\n`;
}

function writeStamp() {
  mkdirSync("node_modules", { recursive: true });
  const temporary = `${stampFile}.${process.pid}`;
  writeFileSync(temporary, stampText());
  renameSync(temporary, stampFile);
}

/** After a hand-run `npm install` everything is already there; wiping it again would only cost time. */
function adopt() {
  if (!existsSync(installedFile) || stampNamesAnotherNode()) return false;
  /** @type {Record<string, { version: string, optional?: boolean }>} */
  const wanted = JSON.parse(readFileSync(lockFile, "utf8")).packages;
  /** @type {Record<string, { version: string }>} */
  const installed = JSON.parse(readFileSync(installedFile, "utf8")).packages;
  const complete = Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" ||
      (installed[path] === undefined ? optional === true : installed[path].version === version),
  );
  if (complete) writeStamp();
  return complete;
}

function stampNamesAnotherNode() {
  if (!existsSync(stampFile)) return false;
  const { node, platform, arch } = JSON.parse(readFileSync(stampFile, "utf8"));
  return node !== process.version || platform !== process.platform || arch !== process.arch;
}

async function install() {
  console.error(
    existsSync("node_modules")
      ? "installing packages (they changed)..."
      : "installing packages (first run)...",
  );
  // Development packages are included whatever NODE_ENV says: the compiler is one of them.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await runNpm(args);
  if (code !== 0) {
    throw new TaskError(
      `${output.trimEnd()}\n\nThe packages could not be installed (npm's message is above). ` +
        "Check the network and npm's registry setting, then run the same command again.",
    );
  }
  writeStamp();
}

/** @param {string[]} args */
function runNpm(args) {
  // Inside `npm start` npm gives its own path; that avoids a search through PATH and a shell on Windows.
  const script = process.env["npm_execpath"];
  if (script !== undefined && basename(script) === "npm-cli.js")
    return capture(process.execPath, [script, ...args]);
  return capture(process.platform === "win32" ? "npm.cmd" : "npm", args);
}
