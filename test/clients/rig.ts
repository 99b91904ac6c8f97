import { setTimeout as sleep } from "node:timers/promises";
import { joinedCopy, type RequestCopy, type ResponseCopy } from "../../src/exchange/index.ts";
import { startProxy } from "../../src/proxy/index.ts";
import { type StrictUpstreamOptions, startStrictUpstream } from "../../src/testing/index.ts";
import { type Exchange, startTap } from "./tap.ts";

/** Directly to the upstream, or through Aperture, which must make no difference. */
export type Route = "direct" | "through";

/** The traffic of one script. */
export type Recording = {
  /** Exchanges of the client with the address it uses. */
  readonly near: readonly Exchange[];
  /** Exchanges of Aperture with the upstream; without Aperture the same as near. */
  readonly far: readonly Exchange[];
  /** The copies that Aperture gave to its recorder. */
  readonly requested: readonly RequestCopy[];
  readonly answered: readonly ResponseCopy[];
  /** The upstream's refusals, as text. */
  readonly refusals: readonly string[];
};

type Rig = { readonly url: string; readonly recording: () => Recording; readonly close: () => Promise<void> };

/** Runs a client against a fresh upstream and returns everything that went over the wire. */
export async function recordClient<T>(
  setting: { readonly route: Route } & StrictUpstreamOptions,
  client: (url: string) => Promise<T>,
): Promise<{ readonly result: T; readonly recording: Recording }> {
  const { route, ...options } = setting;
  const rig = route === "direct" ? await startDirect(options) : await startThrough(options);
  try {
    const result = await client(rig.url);
    await untilRecorded(rig);
    return { result, recording: rig.recording() };
  } finally {
    await rig.close();
  }
}

async function startDirect(options: StrictUpstreamOptions): Promise<Rig> {
  const upstream = await startStrictUpstream(options);
  const tap = await startTap(() => upstream.url);
  return {
    url: tap.url,
    recording: () => {
      const near = tap.exchanges();
      return { near, far: near, requested: [], answered: [], refusals: refusalsOf(upstream.exchanges) };
    },
    close: async () => {
      await tap.close();
      await upstream.close();
    },
  };
}

async function startThrough(options: StrictUpstreamOptions): Promise<Rig> {
  const requested: RequestCopy[] = [];
  const answered: ResponseCopy[] = [];
  const upstream = await startStrictUpstream(options);
  const far = await startTap(() => upstream.url);
  let proxyUrl = "";
  const near = await startTap(() => proxyUrl);
  const proxy = await startProxy({
    host: "127.0.0.1",
    port: 0,
    // Clients call Aperture by the address of the tap in front of it.
    allowedHosts: [new URL(near.url).host],
    upstreams: upstreamsAt(new URL(far.url)),
    relayToken: null,
    planner: null,
    recorder: {
      recordRequest: (copy) => requested.push(joinedCopy(copy)),
      recordResend: () => undefined,
      recordResponse: (copy) => answered.push(joinedCopy(copy)),
    },
    credentialKey: Buffer.alloc(32, 7),
    handleOwn: (_, response) => response.writeHead(404).end(),
    isOwnPath: (path) => path === "/",
  });
  proxyUrl = proxy.url;
  return {
    url: near.url,
    recording: () => ({
      near: near.exchanges(),
      far: far.exchanges(),
      requested: [...requested],
      answered: [...answered],
      refusals: refusalsOf(upstream.exchanges),
    }),
    close: async () => {
      await near.close();
      await proxy.close();
      await far.close();
      await upstream.close();
    },
  };
}

/** Only Anthropic has a server; a request to another upstream would never arrive. */
function upstreamsAt(url: URL) {
  const nowhere = new URL("http://127.0.0.1:9");
  return { anthropic: url, openai: nowhere, gemini: nowhere, bedrock: nowhere, named: new Map() };
}

type Refusable = { readonly error: { readonly type: string; readonly message: string } | null };

function refusalsOf(exchanges: readonly Refusable[]): readonly string[] {
  return exchanges.flatMap(({ error }) => (error === null ? [] : [`${error.type}: ${error.message}`]));
}

/** A client may read its last byte before the recorder gets the end of the answer. */
async function untilRecorded(rig: Rig): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const { near, requested, answered } = rig.recording();
    if (requested.length === answered.length && near.every(({ response }) => response?.complete)) return;
    await sleep(10);
  }
}
