import { setTimeout as sleep } from "node:timers/promises";
import { startProxy } from "../../src/proxy/index.ts";
import { joinedCopy, type RequestCopy, type ResponseCopy } from "../../src/session/index.ts";
import { type StrictUpstreamOptions, startStrictUpstream } from "../../src/testing/index.ts";
import { type Exchange, startTap } from "./tap.ts";

/** Straight to the upstream, or through Aperture, which must make no difference. */
export type Way = "direct" | "through";

/** What was said during one script. */
export type Recording = {
  /** Between the client and whatever it was pointed at. */
  readonly near: readonly Exchange[];
  /** Between Aperture and the upstream; without Aperture the same as near. */
  readonly far: readonly Exchange[];
  /** What Aperture dropped at its recorder. */
  readonly requested: readonly RequestCopy[];
  readonly answered: readonly ResponseCopy[];
  /** What the upstream refused, in its words. */
  readonly refusals: readonly string[];
};

type Rig = { readonly url: string; readonly recording: () => Recording; readonly close: () => Promise<void> };

/** Runs a client against a fresh upstream and answers with everything that went over the wire. */
export async function recordClient<T>(
  setting: { readonly way: Way } & StrictUpstreamOptions,
  client: (url: string) => Promise<T>,
): Promise<{ readonly result: T; readonly recording: Recording }> {
  const { way, ...options } = setting;
  const rig = way === "direct" ? await startDirect(options) : await startThrough(options);
  try {
    const result = await client(rig.url);
    await settled(rig);
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
    desk: null,
    recorder: {
      requested: (copy) => requested.push(joinedCopy(copy)),
      resent: () => undefined,
      answered: (copy) => answered.push(joinedCopy(copy)),
    },
    credentialKey: Buffer.alloc(32, 7),
    own: (_, response) => response.writeHead(404).end(),
    ownPaths: (path) => path === "/",
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

/** Only one of them speaks; a request that went to another would never arrive. */
function upstreamsAt(url: URL) {
  const nowhere = new URL("http://127.0.0.1:9");
  return { anthropic: url, openai: nowhere, gemini: nowhere, bedrock: nowhere, named: new Map() };
}

type Refusable = { readonly error: { readonly type: string; readonly message: string } | null };

function refusalsOf(exchanges: readonly Refusable[]): readonly string[] {
  return exchanges.flatMap(({ error }) => (error === null ? [] : [`${error.type}: ${error.message}`]));
}

/** A client may have read its last byte before the recorder was told that there are no more. */
async function settled(rig: Rig): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const { near, requested, answered } = rig.recording();
    if (requested.length === answered.length && near.every(({ response }) => response?.complete)) return;
    await sleep(10);
  }
}
