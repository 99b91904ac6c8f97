import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { withLock } from "../../scripts/lock.mjs";
import { capture } from "../../scripts/process.mjs";

export const claudeVersions = ["2.1.325", "2.1.197"] as const;
export type ClaudeVersion = (typeof claudeVersions)[number];

export type Clients = {
  readonly claudeCode: (version: ClaudeVersion) => string;
  /** The address under which a package of the folder can be imported. */
  readonly moduleUrl: (name: string) => string;
};

/** How long a test file may wait for its clients. The programs are some 260 MB to download. */
export const installMs = 600_000;

/** Installs what is missing, once for all test files and all processes, and fails with what it tried. */
export async function installClients(): Promise<Clients> {
  const folder = resolve(process.env["APERTURE_TEST_CLIENTS"] ?? join(".cache", "clients"));
  mkdirSync(folder, { recursive: true });
  if (!isCurrent(folder)) {
    await withLock(join(folder, "install.lock"), async () => {
      if (!isCurrent(folder)) await install(folder);
    });
  }
  const require = createRequire(join(folder, "package.json"));
  return {
    claudeCode: (version) => claudePath(folder, version),
    moduleUrl: (name) => pathToFileURL(require.resolve(name)).href,
  };
}

/**
 * Claude Code is a native program in a package per platform. Its own package names these as optional, and an
 * optional package that fails to download is skipped in silence; so the platform's package is asked for.
 */
function dependencies(): Readonly<Record<string, string>> {
  const claudes = claudeVersions.map((version) => [
    aliasOf(version),
    `npm:@anthropic-ai/claude-code-${platform()}@${version}`,
  ]);
  return {
    ...Object.fromEntries(claudes),
    "@anthropic-ai/sdk": "1.8.0",
    ai: "6.0.326",
    "@ai-sdk/anthropic": "3.0.138",
    zod: "4.1.13",
  };
}

function aliasOf(version: ClaudeVersion): string {
  return `claude-code-${version}`;
}

function platform(): string {
  return `${process.platform}-${process.arch}${process.platform === "linux" && !hasGlibc() ? "-musl" : ""}`;
}

function hasGlibc(): boolean {
  // Node's types leave the report open; a C library without this entry is musl.
  const report = process.report.getReport() as {
    readonly header?: { readonly glibcVersionRuntime?: string };
  };
  return report.header?.glibcVersionRuntime !== undefined;
}

function claudePath(folder: string, version: ClaudeVersion): string {
  const name = process.platform === "win32" ? "claude.exe" : "claude";
  return join(folder, "node_modules", aliasOf(version), name);
}

/** Written last and by rename: an interrupted install leaves no stamp, and is done again. */
function isCurrent(folder: string): boolean {
  const stamp = join(folder, "installed.json");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === stampText();
}

function stampText(): string {
  return `${JSON.stringify({ platform: platform(), dependencies: dependencies() }, null, 2)}\n`;
}

async function install(folder: string): Promise<void> {
  const stamp = join(folder, "installed.json");
  rmSync(stamp, { force: true });
  // A package that was being unpacked when its npm was killed looks complete to the next one.
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
  const manifest = { name: "aperture-test-clients", private: true, dependencies: dependencies() };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const args = ["install", "--prefix", folder, ...flags];
  const { code, output } = await capture(process.platform === "win32" ? "npm.cmd" : "npm", args);
  const absent = claudeVersions
    .map((version) => claudePath(folder, version))
    .filter((path) => !existsSync(path));
  if (code !== 0 || absent.length > 0) throw new Error(failure({ code, output, absent }));
  writeFileSync(`${stamp}.new`, stampText());
  renameSync(`${stamp}.new`, stamp);
}

type Failure = { readonly code: number; readonly output: string; readonly absent: readonly string[] };

function failure({ code, output, absent }: Failure): string {
  return [
    `The clients under test could not be installed: npm install ended with ${code}.`,
    ...absent.map((path) => `It left no ${path}.`),
    `Wanted: ${JSON.stringify(dependencies())}`,
    `npm said: ${output.trim()}`,
    "Check the network and npm's registry setting, then run the same tests again.",
  ].join("\n");
}
