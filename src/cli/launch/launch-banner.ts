import { officialUpstreams } from "../../config/index.ts";
import { printable } from "../format/printable.ts";
import type { ClientName } from "./client-addresses.ts";
import type { ClientProxy } from "./client-proxy.ts";

export type BannerInput = {
  readonly version: string;
  /** Null for a program that Aperture does not know. */
  readonly client: ClientName | null;
  readonly proxy: Pick<ClientProxy, "url" | "upstreams" | "mode" | "managesLogins" | "panel">;
  /** The mode from the command line. A proxy that is already running keeps its own. */
  readonly wantedMode: string | undefined;
  /** The client uses a subscription login. The proxy manages its sessions only if the owner has agreed. */
  readonly isOnLogin: boolean;
};

/** Clients whose requests can carry a mode of their own, and codex, which is only relayed anyway. */
const observableClients: readonly (ClientName | null)[] = ["claude", "gemini", "codex"];

/**
 * The reason not to start a client with `--mode observe`, or null. A running proxy keeps its mode, and some
 * clients cannot ask it for another one: they would be managed although the user said otherwise.
 */
export function observeProblem({
  client,
  proxy,
  wantedMode,
}: Pick<BannerInput, "client" | "proxy" | "wantedMode">): string | null {
  const isObserved = proxy.mode === "observe" || observableClients.includes(client);
  if (wantedMode !== "observe" || proxy.mode === null || isObserved) return null;
  return (
    `The running Aperture is in mode ${proxy.mode}, and this client cannot ask it only to observe. ` +
    "Start the client without `--mode observe`, or stop that Aperture first (`aperture down`)."
  );
}

/** Tells the user where requests go, where to watch them, and which of them are managed. */
export function launchBanner(input: BannerInput): readonly string[] {
  const { version, proxy, client, wantedMode } = input;
  const address = proxy.url.replace(/^http:\/\//, "");
  const isObserved = wantedMode === "observe" && observableClients.includes(client);
  const mode = isObserved ? "observe" : proxy.mode;
  const head = [`aperture ${version}`, `proxy ${address} -> ${upstreamText(client, proxy.upstreams)}`];
  const isOverruled = wantedMode !== undefined && mode !== null && mode !== wantedMode;
  return [
    [...head, ...(mode === null ? [] : [`mode ${mode}`])].join("  "),
    ...(isOverruled ? [`mode     not ${wantedMode}: ${keepsModeText}`] : []),
    ...(proxy.panel === null ? [] : [`panel    ${proxy.panel}  ${linkText}`]),
    ...managedLines({ ...input, mode }),
  ];
}

const keepsModeText = "the running Aperture keeps its own; `aperture mode` sets it for a session";
const linkText = "(for one browser, within a minute; later: aperture open)";

/** The tokens at which a stream starts to be managed. A test compares it with the constant that decides. */
export const managedFrom = "16k";
const managedText = `conversations with tools that start with about ${managedFrom} tokens or grow well beyond; smaller ones pass unchanged`;
const relayedText = "pass unchanged and are recorded";

type ManagedLinesInput = Pick<BannerInput, "client" | "proxy" | "isOnLogin"> & {
  readonly mode: string | null;
};

function managedLines({ client, proxy, isOnLogin, mode }: ManagedLinesInput): readonly string[] {
  if (mode === "observe") return [`relayed  everything: in mode observe, requests ${relayedText}`];
  switch (client) {
    case "codex":
    case "gemini":
      return [`relayed  everything: ${client} is not managed yet; its requests ${relayedText}`];
    case "claude":
      return isOnLogin ? loginLines(proxy) : [`managed  ${managedText}`];
    default:
      return [`managed  Claude models: ${managedText}`, `relayed  other models: requests ${relayedText}`];
  }
}

function loginLines({ managesLogins }: BannerInput["proxy"]): readonly string[] {
  if (managesLogins === null) return [`login    ${unknownText}`];
  if (managesLogins) return [`managed  ${managedText}`];
  return [`relayed  everything: sessions on a subscription login ${relayedText}; ${consentText}`];
}

const consentText = "to manage them, run `aperture config set manageLogins 1` and restart Aperture";
const unknownText =
  "the running Aperture did not say whether it manages subscription logins; `aperture doctor` finds the reason";

/** The upstream that the client's own provider has. Clients of several providers show Anthropic's. */
function upstreamText(client: ClientName | null, upstreams: ClientProxy["upstreams"]): string {
  const provider = client === "codex" ? "openai" : client === "gemini" ? "gemini" : "anthropic";
  const address = upstreams?.[provider] ?? "";
  if (!URL.canParse(address)) return "the upstreams it was started with";
  const { origin, host } = new URL(address);
  return origin === officialUpstreams[provider] ? "the official API" : printable(host, 100);
}
