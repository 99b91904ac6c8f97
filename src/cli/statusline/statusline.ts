import { fstatSync, readFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { GlanceAnswer } from "../../control/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findToken } from "../api/api-token.ts";
import { type ClientFacts, readClientFacts } from "./client-facts.ts";
import { createQuickGet } from "./quick-get.ts";
import { type QuickSettings, readQuickSettings } from "./quick-settings.ts";
import { type StatuslineFacts, statuslineText } from "./statusline-text.ts";

/** Facts that are not known by then are left out: a client does not wait for its status line. */
const deadlineMs = 250;

/**
 * Always prints a line and never fails: an empty line or a bad exit code would blank the client's status
 * line.
 */
export async function statusline(args: readonly string[]): Promise<void> {
  const client = readClientFacts(standardInput());
  const facts = await factsOf(client, args).catch(() => null);
  // Written to the descriptor, because creating a stream takes longer than the line.
  writeSync(1, `${statuslineText(client, facts, Date.now())}\n`);
}

/** Clients write their input at once and close it. A terminal has no input to wait for. */
function standardInput(): string {
  try {
    return fstatSync(0).isCharacterDevice() ? "" : readFileSync(0, "utf8");
  } catch {
    return "";
  }
}

async function factsOf(client: ClientFacts, args: readonly string[]): Promise<StatuslineFacts> {
  const settings = readQuickSettings({
    env: { ...process.env, ...settingsInArguments(args) },
    home: homedir(),
  });
  if (settings === null) return null;
  const session = client.session === null ? "last" : `name:${client.session}`;
  return await readerFor(settings)<GlanceAnswer>(sessionPath(session, "/glance"));
}

function readerFor(settings: QuickSettings) {
  const { token } = findToken(settings);
  return createQuickGet({ host: settings.host, port: settings.port, token, deadlineMs });
}

/** Options after the verb may locate Aperture. All others are ignored. */
function settingsInArguments(args: readonly string[]): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const [at, word] of args.entries()) {
    const [, name, value] = /^--(port|host|data-dir|config)(?:=(.+))?$/s.exec(word) ?? [];
    const given = value ?? args[at + 1];
    if (name === undefined || given === undefined) continue;
    const isPath = name === "config" || name === "data-dir";
    variables[`APERTURE_${name.toUpperCase().replace("-", "_")}`] = isPath ? resolve(given) : given;
  }
  return variables;
}
