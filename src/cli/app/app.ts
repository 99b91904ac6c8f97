import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../base/index.ts";
import { type Settings, windowRules } from "../../config/index.ts";
import {
  type Control,
  type ControlHealth,
  createControl,
  type LoginConsent,
  type MetricsSnapshot,
  readPanel,
} from "../../control/index.ts";
import {
  type Awareness,
  type Engine,
  type EngineOptions,
  startEngine,
  type WindowTable,
} from "../../host/index.ts";
import { type RelayLimits, type RunningProxy, startProxy } from "../../proxy/index.ts";
import { createExporter } from "../export/export-thread.ts";
import { replayOnThread } from "../replay/strict-thread.ts";
import { appMetrics } from "./app-metrics.ts";
import { readSecrets } from "./app-secrets.ts";
import { lockData } from "./data-lock.ts";
import { openPlanner } from "./open-planner.ts";

export type AppOptions = {
  readonly settings: Settings;
  readonly version: string;
  /** The verb that starts it. Only `up` runs until a signal stops it. */
  readonly verb?: string;
  /** Takes lines that the user should read. */
  readonly notify: (line: string) => void;
  readonly limits?: Partial<RelayLimits>;
  /** How long a request may wait for a session that the planner must load first. */
  readonly deadlineMs?: number;
  /** The window sizes of models; absent: the built-in table. */
  readonly windows?: WindowTable;
  /** The folder of the built panel; absent: the one beside the built program. */
  readonly panelDir?: string;
  /** For tests: faults of the engine. */
  readonly faults?: Pick<EngineOptions, "maxPages" | "dieAfter" | "stickAfter" | "stuckMs">;
};

/** Proxy, engine and control API in one process. */
export type RunningApp = {
  readonly url: string;
  readonly token: string;
  readonly tokenFile: string | null;
  readonly engine: Engine;
  readonly proxy: RunningProxy;
  /** Waits for open requests, writes what is recorded, then stops. */
  readonly close: () => Promise<void>;
};

const clock: Clock = { now: () => Date.now() };

/** The same folder from src and from dist: both lie beside each other. */
const builtPanel = fileURLToPath(new URL("../../../dist/panel", import.meta.url));

/** Thrown if another Aperture uses the data directory. */
export class DataInUse extends Error {
  readonly code = "DATA_IN_USE";

  constructor(pid: number, dataDir: string) {
    super(
      `Another Aperture (process ${pid}) uses ${dataDir}; it may still be finishing requests. ` +
        "Use that one, stop it with `aperture down`, or set APERTURE_DATA_DIR to another directory.",
    );
  }
}

/** Rejects with the error of `listen`, such as EADDRINUSE, or with DataInUse. Nothing runs afterwards. */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { settings, notify } = options;
  const dataDir = resolve(settings.dataDir);
  const lock = await lockData(dataDir, options.verb);
  if (!lock.held) throw new DataInUse(lock.by.pid, dataDir);
  const secrets = readSecrets(dataDir, settings.token);
  const path = join(dataDir, "aperture.db");
  const { windows = windowRules } = options;
  const consent = loginConsent(settings.managesLogins);
  const engine = startEngine({
    path,
    windows,
    policy: settings.policy,
    mode: settings.mode,
    ...options.faults,
  });
  engine.watchStorage(({ storage, message }) =>
    notify(`storage ${storage}${message === null ? "" : `: ${message}`}`),
  );
  const degradedSince = watchDegradedSince(engine);
  const planner = openPlanner({
    dataDir,
    engine,
    secret: secrets.credentialKey,
    // Managing sessions needs memory; observing hardly any.
    mode: () => (engine.memory() === "pass" ? "observe" : settings.mode),
    managesLogins: consent.isGiven,
    awareness: () => awarenessOf(settings),
    arrivalPolicy: () => ({ arrival: settings.arrival }),
    windows,
    clock,
    ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
  });
  await waitUntilAnswering(engine);
  let proxy: RunningProxy | null = null;
  const metrics = () => (proxy === null ? {} : appMetrics(proxy.metrics(), engine.status()));
  const url = () => proxy?.url ?? "";
  const { token, tokenFile } = secrets;
  const control = createAppControl(engine, { ...options, token, consent, metrics, degradedSince, url });
  try {
    proxy = await startProxy({
      host: settings.host,
      port: settings.port,
      allowedHosts: settings.allowedHosts,
      upstreams: settings.upstreams,
      relayToken: settings.isRemote ? token : null,
      recorder: engine,
      planner: planner,
      credentialKey: secrets.credentialKey,
      handleOwn: control.handle,
      isOwnPath: (path) => control.isOwnPath(decodedPath(path)),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
  } catch (error) {
    await engine.close();
    lock.release();
    throw error;
  }
  const running = proxy;
  const close = async (): Promise<void> => {
    control.close();
    await running.close();
    await engine.close();
    lock.release();
  };
  return { url: running.url, token, tokenFile, engine, proxy: running, close };
}

type ControlInput = AppOptions & {
  readonly token: string;
  readonly consent: LoginConsent;
  readonly metrics: () => MetricsSnapshot;
  /** The time since which the store is degraded; null if it is not. */
  readonly degradedSince: () => number | null;
  /** The address of the proxy; empty until it listens. */
  readonly url: () => string;
};

function createAppControl(engine: Engine, input: ControlInput): Control {
  const { settings, version, token, consent, metrics } = input;
  const { host, dataDir } = settings;
  const location = () => ({ host, port: Number(new URL(input.url()).port), dataDir, token });
  return createControl({
    ask: engine.ask,
    watch: engine.watch,
    token,
    health: () => healthOf(engine, input.degradedSince()),
    metrics,
    version,
    upstreams: upstreamAddresses(settings),
    mode: settings.mode,
    consent,
    clock,
    exportSession: createExporter(() => ({ location: location(), version })),
    replay: replayOnThread(),
    panel: readPanel(input.panelDir ?? builtPanel),
  });
}

function loginConsent(isGivenAtStart: boolean): LoginConsent {
  let isGiven = isGivenAtStart;
  return {
    isGiven: () => isGiven,
    set: (value) => {
      isGiven = value;
    },
  };
}

/**
 * Waits until the engine answers, because sessions that were managed before can only continue then. The
 * engine may be dead, so the wait is short.
 */
async function waitUntilAnswering(engine: Engine): Promise<void> {
  const limit = new AbortController();
  const first = engine.ask({ type: "sessions", limit: 1 });
  await Promise.race([first, sleep(readyMsMax, null, { signal: limit.signal }).catch(() => null)]);
  limit.abort();
}

const readyMsMax = 2_000;

/** Decodes a path, so that no spelling of our own paths reaches an upstream with our token in its headers. */
function decodedPath(path: string): string {
  const single = path.replace(/\/{2,}/g, "/");
  try {
    return decodeURIComponent(single);
  } catch {
    return single;
  }
}

function upstreamAddresses({ upstreams: { named, ...builtIn } }: Settings): Readonly<Record<string, string>> {
  const all = [...Object.entries(builtIn), ...named];
  return Object.fromEntries(all.map(([name, { origin, pathname }]) => [name, origin + pathname]));
}

/** A second message about the same outage does not change its start. */
function watchDegradedSince(engine: Engine): () => number | null {
  let since: number | null = null;
  engine.watchStorage(({ storage }) => {
    since = storage === "ok" ? null : (since ?? clock.now());
  });
  return () => since;
}

function healthOf(engine: Engine, since: number | null): ControlHealth {
  const { storage, counts } = engine.status();
  const recording = { on: storage.storage === "ok", missed: counts.gaps, since };
  return { storage: storage.storage, message: storage.message, recording };
}

function awarenessOf({ headers, manifest, textCommands }: Settings): Awareness {
  const isOff = manifest === "off";
  return {
    headers,
    manifest: isOff ? "off" : "on",
    variant: isOff ? "text" : manifest,
    fill: "shown",
    commands: textCommands === "on" ? "text" : "tools",
    zoneMinutes: -new Date().getTimezoneOffset(),
  };
}
