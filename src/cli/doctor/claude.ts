import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { loopbackHosts } from "../../config/index.ts";
import type { World } from "../call.ts";
import { printable } from "../format/printable.ts";
import { findProgram } from "../launch/programs.ts";
import { broken, type Finding, fine, warned } from "./finding.ts";

/** Somewhere that tells the client which address to use. */
type Wiring = {
  readonly where: string;
  /** As it stands there; null: the place cannot be read. */
  readonly value: string | null;
  /** A settings file beats the environment that `run` gives to the client. */
  readonly isFile: boolean;
};

export type Us = { readonly url: string; readonly isRunning: boolean };

const listenMs = 500;

export async function checkClaude(world: World, us: Us): Promise<readonly Finding[]> {
  const path = findProgram("claude", world);
  const found =
    path === null
      ? fine("claude", "not on PATH; other clients start with aperture run as well")
      : fine("claude", path);
  const wired = await Promise.all(wirings(world).map((wiring) => judge(wiring, us)));
  return [found, ...wired];
}

function wirings({ env, home, cwd }: World): readonly Wiring[] {
  const own = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  const files = [
    join(own, "settings.json"),
    join(cwd, ".claude", "settings.json"),
    join(cwd, ".claude", "settings.local.json"),
  ];
  const value = env["ANTHROPIC_BASE_URL"];
  const here: readonly Wiring[] =
    value === undefined || value === "" ? [] : [{ where: "the environment", value, isFile: false }];
  return [...here, ...[...new Set(files)].flatMap(wiringIn)];
}

function wiringIn(path: string): readonly Wiring[] {
  const text = textOf(path);
  if (text === null) return [];
  try {
    const settings = JSON.parse(text) as { readonly env?: Readonly<Record<string, unknown>> } | null;
    const value = settings?.env?.["ANTHROPIC_BASE_URL"];
    return typeof value === "string" && value !== "" ? [{ where: path, value, isFile: true }] : [];
  } catch {
    return [{ where: path, value: null, isFile: true }];
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

async function judge({ where, value, isFile }: Wiring, us: Us): Promise<Finding> {
  const remove = isFile ? `remove ANTHROPIC_BASE_URL from ${where}` : "unset ANTHROPIC_BASE_URL";
  if (value === null)
    return warned("claude", `${where} is not valid JSON`, "correct it, or start without it");
  const says = `ANTHROPIC_BASE_URL in ${where} is ${printable(value, 200)}`;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null) return broken("claude", `${says}, which is no address`, remove);
  if (isUs(url, us.url)) {
    if (us.isRunning) return fine("claude", `${says}, which is this Aperture`);
    return broken("claude", `${says}, where Aperture does not run now`, `aperture up, or ${remove}`);
  }
  if (isLoopback(url) && !(await isListening(url))) {
    return broken("claude", `${says}, where nothing listens`, remove);
  }
  const way = isFile ? "and beats what aperture run sets" : "so only aperture run leads through Aperture";
  return warned("claude", `${says}, ${way}`, remove);
}

function isUs(url: URL, ours: string): boolean {
  const { port } = new URL(ours);
  return isLoopback(url) && portOf(url) === Number(port);
}

function isLoopback({ hostname }: URL): boolean {
  return loopbackHosts.includes(hostname.replace(/^\[(.*)\]$/, "$1"));
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function isListening(url: URL): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: portOf(url) });
    const end = (isThere: boolean) => {
      socket.destroy();
      done(isThere);
    };
    socket.setTimeout(listenMs, () => end(false));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
