import { readFileSync } from "node:fs";
import { join } from "node:path";
import { officialUpstreams } from "../../config/index.ts";
import { printable } from "../format/printable.ts";
import { readJsonValue } from "../install/edit-settings.ts";
import { readRecord } from "../install/install-record.ts";
import { clientNames } from "../launch/client-addresses.ts";
import { findProgram } from "../launch/find-program.ts";
import { hasLogin } from "../launch/subscription-login.ts";
import { connectProblem, isLoopback, portOf } from "../local-address.ts";
import type { SystemInfo } from "../verb-call.ts";
import { type ConfiguredAddress, configuredAddresses } from "./configured-addresses.ts";
import { type Diagnosis, failure, passed, warning } from "./diagnosis.ts";

export type ApertureEndpoint = { readonly url: string; readonly isRunning: boolean };

/** Lists the installed clients, and checks the addresses they are configured with. */
export async function checkClients(
  system: SystemInfo,
  aperture: ApertureEndpoint,
): Promise<readonly Diagnosis[]> {
  const installed = clientNames.flatMap((name) => {
    const path = findProgram(name, system);
    return path === null ? [] : [passed(name, path)];
  });
  const none = passed(
    "clients",
    `none of ${clientNames.join(", ")} is on PATH; start any other with aperture run`,
  );
  const addresses = configuredAddresses(system).map((address) => checkAddress(address, aperture));
  return [
    ...(installed.length === 0 ? [none] : installed),
    ...(await Promise.all(addresses)),
    ...checkInstalledUrl(system, aperture),
  ];
}

async function checkAddress(address: ConfiguredAddress, aperture: ApertureEndpoint): Promise<Diagnosis> {
  const { client, where, name, value, from } = address;
  if (value === null)
    return warning(client, `${where} is not valid JSON`, "correct it, or start the client without it");
  const remove = removalText(address);
  const says = `${name.replace(/^env\./, "")} in ${where} is ${printable(value, 200)}`;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null) return failure(client, `${says}, which is not a URL`, remove);
  if (isLoopback(url) && portOf(url) === portOf(new URL(aperture.url))) {
    if (aperture.isRunning) return passed(client, `${says}, which is this Aperture`);
    return failure(client, `${says}, where Aperture is not running`, `aperture up --detach, or ${remove}`);
  }
  if (isLoopback(url) && (await connectProblem(url)) !== null) {
    return failure(client, `${says}, where nothing listens`, remove);
  }
  if (from === "environment") {
    return warning(client, `${says}, so only aperture run uses Aperture`, remove);
  }
  // Claude Code reads its settings again after the start. The other clients keep what `run` sets.
  if (client === "claude") return warning(client, `${says}, and overrides aperture run`, remove);
  return passed(client, `${says}; aperture run overrides it`);
}

function removalText({ client, where, name, from }: ConfiguredAddress): string {
  if (from === "environment") return `unset ${name}`;
  if (from === "own settings") return `aperture uninstall ${client} --clean`;
  return `remove ${name.replace(/^env\./, "")} from ${where}`;
}

/** A client that was installed for another address than the configured one. */
function checkInstalledUrl(system: SystemInfo, aperture: ApertureEndpoint): readonly Diagnosis[] {
  return clientNames.flatMap((client) => {
    const record = readRecord(client, system);
    if (record === null || record.url === aperture.url) return [];
    const says = `was installed for ${printable(record.url, 120)}, but Aperture is configured for ${aperture.url}`;
    return [warning(client, says, `aperture install ${client}`)];
  });
}

type ClaudeFacts = {
  /** The upstream for Anthropic. */
  readonly upstream: string;
  readonly managesLogins: boolean;
};

const assumeName = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";

/** Checks what Claude Code does differently behind an address other than Anthropic's. */
export function checkClaude(system: SystemInfo, known: ClaudeFacts): readonly Diagnosis[] {
  return [...largeWindow(system, known), ...login(system, known)];
}

/**
 * Claude Code offers no window of a million tokens there, unless a variable says that Anthropic is behind the
 * address.
 */
function largeWindow(system: SystemInfo, { upstream }: ClaudeFacts): readonly Diagnosis[] {
  const text = settingsText(system);
  const model = system.env["ANTHROPIC_MODEL"] || readJsonValue(text, ["model"]) || "";
  const isTold = (system.env[assumeName] || readJsonValue(text, ["env", assumeName]) || "") !== "";
  if (!/\[1m\]/i.test(model) || isTold) return [];
  const says = `claude offers the large window of ${model} only at the official address`;
  if (!upstream.startsWith(officialUpstreams.anthropic)) {
    return [warning("claude", `${says}, and your upstream is another one`, "choose the model without [1m]")];
  }
  return [warning("claude", says, `export ${assumeName}=1: your requests do go to Anthropic`)];
}

/** The login is relayed unchanged and never stored. Its owner decides whether its sessions are managed. */
function login(system: SystemInfo, { managesLogins }: ClaudeFacts): readonly Diagnosis[] {
  if (!hasLogin(system)) return [];
  const says = managesLogins
    ? "managed with your consent; aperture config set manageLogins 0 ends that at the next start"
    : "only observed, no byte is changed; aperture config set manageLogins 1 manages them from the next start";
  return [passed("login", `a subscription login, relayed and never stored; its sessions are ${says}`)];
}

function settingsText({ env, home }: SystemInfo): string {
  try {
    return readFileSync(join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json"), "utf8");
  } catch {
    return "{}";
  }
}
