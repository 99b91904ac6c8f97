import { fstatSync, readFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { GlanceAnswer } from "../../control/index.ts";
import { sessionPath } from "../api-path.ts";
import { findToken } from "../token.ts";
import { type ClientFacts, clientFacts } from "./client-facts.ts";
import { type LineFacts, lineText } from "./line-text.ts";
import { type QuickPlace, quickPlace } from "./place.ts";
import { quickReader } from "./quick-get.ts";

/** What is not known by then is left out: a client does not wait for its status line. */
const deadlineMs = 250;

/** Always prints a line and never fails: an empty one, or an exit code, would blank the client's. */
export async function statusline(args: readonly string[]): Promise<void> {
  const client = clientFacts(standardInput());
  const facts = await factsOf(client, args).catch(() => null);
  // Written to the descriptor: making a stream of it takes longer than the line.
  writeSync(1, `${lineText(client, facts, Date.now())}\n`);
}

/** Clients write it at once and close; at a terminal there is nobody to wait for. */
function standardInput(): string {
  try {
    return fstatSync(0).isCharacterDevice() ? "" : readFileSync(0, "utf8");
  } catch {
    return "";
  }
}

async function factsOf(client: ClientFacts, args: readonly string[]): Promise<LineFacts> {
  const place = quickPlace({ env: { ...process.env, ...placesIn(args) }, home: homedir() });
  if (place === null) return null;
  const session = client.session === null ? "last" : `name:${client.session}`;
  return await readerAt(place)<GlanceAnswer>(sessionPath(session, "/glance"));
}

function readerAt(place: QuickPlace) {
  const { token } = findToken(place);
  return quickReader({ host: place.host, port: place.port, token, deadlineMs });
}

/** Where Aperture is may be said behind the verb; whatever else stands there is passed over. */
function placesIn(args: readonly string[]): Readonly<Record<string, string>> {
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
