import { officialUpstreams } from "../../config/index.ts";
import { printable } from "../format/printable.ts";
import type { ClientProxy } from "./proxy.ts";
import type { ClientName } from "./wiring.ts";

export type Announced = {
  readonly version: string;
  /** Null: some program that we know nothing of. */
  readonly client: ClientName | null;
  readonly proxy: Pick<ClientProxy, "url" | "upstream" | "mode" | "panel">;
  /** What was asked for on the command line; a proxy that runs already keeps its own. */
  readonly wantedMode: string | undefined;
  /** The client is logged in with a subscription whose owner has not agreed that its sessions are managed. */
  readonly isUnagreed: boolean;
};

/** Clients whose requests can carry what is wanted for them alone, and one that is only relayed anyway. */
const obliging: readonly (ClientName | null)[] = ["claude", "gemini", "codex"];

/**
 * Who asks to be only observed must not be managed. A proxy that runs already keeps its mode, and some
 * clients cannot say otherwise for themselves: why such a client is not started; null: it may be.
 */
export function whyNotObserved({ client, proxy, wantedMode }: Omit<Announced, "version" | "isUnagreed">) {
  const isKept = proxy.mode === "observe" || obliging.includes(client);
  if (wantedMode !== "observe" || proxy.mode === null || isKept) return null;
  return `The Aperture that runs is in mode ${proxy.mode}, and this client cannot ask to be only observed. Start it without \`--mode observe\`, or end that Aperture first (\`aperture down\`).`;
}

/** Where the client's requests go, where to watch them, and plainly what is done to them and what is not. */
export function announcement(announced: Announced): readonly string[] {
  const { version, proxy, client, wantedMode } = announced;
  const place = proxy.url.replace(/^http:\/\//, "");
  const isObserved = wantedMode === "observe" && obliging.includes(client);
  const mode = isObserved ? "observe" : proxy.mode;
  const head = [`aperture ${version}`, `proxy ${place} -> ${upstreamText(proxy.upstream)}`];
  const isRefused = wantedMode !== undefined && mode !== null && mode !== wantedMode;
  return [
    [...head, ...(mode === null ? [] : [`mode ${mode}`])].join("  "),
    ...(isRefused ? [`mode     not ${wantedMode}: ${keepsOwn}`] : []),
    ...(proxy.panel === null ? [] : [`panel    ${proxy.panel}  ${linkText}`]),
    ...doneLines({ ...announced, mode }),
  ];
}

const keepsOwn = "the Aperture that runs keeps its own; `aperture mode` sets it for a session";
const linkText = "(one browser, within a minute; later: aperture open)";

/** As many tokens as a stream has at its start to be managed; a test compares it with what decides. */
export const managedFrom = "16k";
const talks = `talks with tools that begin with some ${managedFrom} tokens or grow well beyond; smaller ones pass unchanged`;
const relayed = "pass byte for byte and are recorded";

type Done = Pick<Announced, "client" | "isUnagreed"> & { readonly mode: string | null };

function doneLines({ client, isUnagreed, mode }: Done): readonly string[] {
  if (mode === "observe") return [`relayed  all of it: in mode observe requests ${relayed}`];
  switch (client) {
    case "codex":
    case "gemini":
      return [`relayed  all of it: the protocol of ${client} is not managed yet; its requests ${relayed}`];
    case "claude":
      return isUnagreed
        ? [`relayed  all of it: sessions of a subscription ${relayed}; ${agreeing}`]
        : [`managed  ${talks}`];
    default:
      return [`managed  Claude models: ${talks}`, `relayed  other models: their requests ${relayed}`];
  }
}

const agreeing = "`aperture config set manageLogins 1` has them managed";

function upstreamText(upstream: string | null): string {
  if (upstream === null) return "the upstreams it was started with";
  const { origin, host } = new URL(upstream);
  return origin === officialUpstreams.anthropic ? "the official API" : printable(host, 100);
}
