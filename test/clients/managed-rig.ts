import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AppOptions, type RunningApp, startApp } from "../../src/cli/app/app.ts";
import {
  type StrictUpstream,
  type StrictUpstreamOptions,
  startStrictUpstream,
  type UpstreamExchange,
} from "../../src/testing/index.ts";
import { settingsFor } from "../support/app-settings.mjs";
import { type Exchange, startTap } from "./tap.ts";
import { headerOf } from "./wire-bytes.ts";

/** Aperture as it runs by default, between a tap that its client talks to and the strict upstream. */
export type ManagedRig = {
  /** The address for the client. */
  readonly url: string;
  readonly upstream: StrictUpstream;
  readonly app: RunningApp;
  /** The client's exchanges. */
  readonly near: () => readonly Exchange[];
  readonly close: () => Promise<void>;
};

export type RigOptions = {
  readonly upstream?: StrictUpstreamOptions;
  readonly faults?: NonNullable<AppOptions["faults"]>;
};

/**
 * Replaces the product's 250 ms that a request may wait for the log. The programs under test keep the
 * processors busy, and if the log is late, the client's own request is sent; other suites test that.
 */
const deadlineMs = 20_000;

export async function startManagedRig({ upstream: strict = {}, faults }: RigOptions): Promise<ManagedRig> {
  const dataDir = mkdtempSync(join(tmpdir(), "aperture-rig-"));
  const upstream = await startStrictUpstream(strict);
  const url = new URL(upstream.url);
  let appUrl = "";
  const tap = await startTap(() => appUrl);
  const app = await startApp({
    // Clients call Aperture by the address of the tap in front of it.
    settings: { ...settingsFor(url, dataDir), allowedHosts: [new URL(tap.url).host] },
    version: "0.0.0-test",
    notify: () => undefined,
    ...(faults === undefined ? {} : { faults }),
    deadlineMs,
    limits: { planMs: 2 * deadlineMs },
  });
  appUrl = app.url;
  return {
    url: tap.url,
    upstream,
    app,
    near: () => tap.exchanges(),
    close: async () => {
      await tap.close();
      await app.close();
      await upstream.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A request as its client sent it and as the upstream got it. */
export type Pair = { readonly near: Exchange; readonly far: UpstreamExchange };

/** Pairs requests by the upstream's request id, which comes back with the answer. */
export function pairsOf(near: readonly Exchange[], far: readonly UpstreamExchange[]): readonly Pair[] {
  const byId = new Map(far.map((exchange) => [exchange.responseHeaders["request-id"], exchange]));
  return near.flatMap((exchange) => {
    const id = exchange.response === null ? null : headerOf(exchange.response, "request-id");
    const found = id === null ? undefined : byId.get(id);
    return found === undefined ? [] : [{ near: exchange, far: found }];
  });
}
