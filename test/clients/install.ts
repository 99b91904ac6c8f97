import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { withLock } from "../../scripts/lock.mjs";
import { capture } from "../../scripts/process.mjs";
import { isLong } from "../support/runs.ts";

export type ClaudeVersion = "2.1.325" | "2.1.197";
/** The older version is tested with `--long` only. */
export const claudeVersions: readonly ClaudeVersion[] = isLong ? ["2.1.325", "2.1.197"] : ["2.1.325"];

export type Clients = {
  readonly claudeCode: (version: ClaudeVersion) => string;
  readonly opencode: string;
  readonly codex: string;
  /** A program for Node. */
  readonly gemini: string;
  /** A program for Node. */
  readonly pi: string;
  /** The address under which a package of the folder can be imported. */
  readonly moduleUrl: (name: string) => string;
};

/** The time a test file may wait for its clients, which are some 600 MB to download. */
export const installMs = 600_000;

/** Installs missing clients, once for all test files and all processes. A failure lists what was tried. */
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
    opencode: opencodePath(folder),
    codex: codexPath(folder),
    gemini: geminiPath(folder),
    pi: piPath(folder),
    moduleUrl: (name) => pathToFileURL(require.resolve(name)).href,
  };
}

/**
 * Claude Code, Codex and opencode are native programs in a package per platform. Their own packages name
 * these as optional, and npm silently skips one that fails to download; so we request the platform's package.
 * The parts of pi are pinned too: its package takes the newest that fits.
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
    opencode: `npm:${opencodePackage()}@1.18.33`,
    codex: `npm:@openai/codex@${codexVersion}-${process.platform}-${process.arch}`,
    "@google/gemini-cli": "0.61.0",
    ...Object.fromEntries(
      ["coding-agent", "agent-core", "ai", "tui"].map((part) => [piPart(part), "0.74.2"]),
    ),
  };
}

const codexVersion = "0.166.0";

function aliasOf(version: ClaudeVersion): string {
  return `claude-code-${version}`;
}

function piPart(part: string): string {
  return `@earendil-works/pi-${part}`;
}

function platform(): string {
  return `${process.platform}-${process.arch}${libraryOf()}`;
}

/** The usual build for x64 needs a processor with AVX2; this one runs on all. */
function opencodePackage(): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  return `opencode-${system}-${process.arch}${process.arch === "x64" ? "-baseline" : ""}${libraryOf()}`;
}

function libraryOf(): "-musl" | "" {
  return process.platform === "linux" && !hasGlibc() ? "-musl" : "";
}

function hasGlibc(): boolean {
  // Node's types leave the report open; a C library without this entry is musl.
  const report = process.report.getReport() as {
    readonly header?: { readonly glibcVersionRuntime?: string };
  };
  return report.header?.glibcVersionRuntime !== undefined;
}

function claudePath(folder: string, version: ClaudeVersion): string {
  return join(folder, "node_modules", aliasOf(version), programName("claude"));
}

function opencodePath(folder: string): string {
  return join(folder, "node_modules", "opencode", "bin", programName("opencode"));
}

/** The package holds one folder per platform, named by the compiler. */
function codexPath(folder: string): string {
  const vendor = join(folder, "node_modules", "codex", "vendor");
  const [platform = ""] = existsSync(vendor) ? readdirSync(vendor) : [];
  return join(vendor, platform, "bin", programName("codex"));
}

function geminiPath(folder: string): string {
  return join(folder, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js");
}

function piPath(folder: string): string {
  return join(folder, "node_modules", piPart("coding-agent"), "dist", "cli.js");
}

function programName(name: string): string {
  return process.platform === "win32" ? `${name}.exe` : name;
}

type Stamp = { readonly platform: string; readonly dependencies: Readonly<Record<string, string>> };

/**
 * The stamp is written last and by rename: an interrupted install leaves none, and is repeated. A folder may
 * hold more than is wanted, after a run with `--long`.
 */
function isCurrent(folder: string): boolean {
  const path = join(folder, "installed.json");
  if (!existsSync(path)) return false;
  const stamp = JSON.parse(readFileSync(path, "utf8")) as Stamp;
  const hasAll = Object.entries(dependencies()).every(
    ([name, wanted]) => stamp.dependencies[name] === wanted,
  );
  return hasAll && stamp.platform === platform();
}

function stampText(): string {
  const stamp: Stamp = { platform: platform(), dependencies: dependencies() };
  return `${JSON.stringify(stamp, null, 2)}\n`;
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
  const absent = programsIn(folder).filter((path) => !existsSync(path));
  if (code !== 0 || absent.length > 0) throw new Error(failure({ code, output, absent }));
  writeFileSync(`${stamp}.new`, stampText());
  renameSync(`${stamp}.new`, stamp);
}

function programsIn(folder: string): readonly string[] {
  return [
    ...claudeVersions.map((version) => claudePath(folder, version)),
    opencodePath(folder),
    codexPath(folder),
    geminiPath(folder),
    piPath(folder),
  ];
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
