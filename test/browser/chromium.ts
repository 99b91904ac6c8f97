import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { aptInstall } from "../support/apt.ts";

/** Time limit of a test file that must install the browser first. */
export const browserMs = 600_000;

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"] as const;
const macPaths = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
] as const;

/** Switches off background requests, so that every request is the page's. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
] as const;

/** Starts a browser with its own profile. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = await findChromium();
  return await chromium.launch({ executablePath, headless: true, args: [...flags, ...more] });
}

/** Finds or installs Chromium; the error lists what was tried. */
export async function findChromium(): Promise<string> {
  const named = process.env["APERTURE_CHROMIUM"];
  if (named !== undefined) {
    if (isProgram(named)) return named;
    throw new Error(`APERTURE_CHROMIUM names ${named}, which is not an executable file.`);
  }
  const found = installed();
  if (found !== null) return found;
  const problem = await aptInstall("chromium");
  const now = installed();
  if (now === null) throw new Error(missing(problem));
  return now;
}

function installed(): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const paths = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...macPaths];
  return paths.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function missing(why: string): string {
  return [
    "These tests need Chromium, which is not installed.",
    `Looked for ${names.join(", ")} in PATH, and at ${macPaths.join(", ")}.`,
    why,
    "Install it (`apt-get install chromium`), or name it in APERTURE_CHROMIUM.",
  ].join("\n");
}
