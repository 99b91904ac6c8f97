import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Clock } from "../base/index.ts";
import { type Settings, windowRules } from "../config/index.ts";
import {
  type Control,
  createControl,
  type Health,
  type MetricsSnapshot,
  readPanel,
} from "../control/index.ts";
import { type RelayLimits, type RunningProxy, startProxy } from "../proxy/index.ts";
import {
  type Awareness,
  type Engine,
  type EngineOptions,
  startEngine,
  type WindowTable,
} from "../session/index.ts";
import { lockData } from "./data-lock.ts";
import { openDesk } from "./desk.ts";
import { exporterFor } from "./export/thread.ts";
import { figuresOf } from "./figures.ts";
import { replayOnThread } from "./replay/strict-thread.ts";
import { readSecrets } from "./secrets.ts";

export type AppOptions = {
  readonly settings: Settings;
  readonly version: string;
  /** The verb it runs for; only `up` goes on until somebody stops it. */
  readonly verb?: string;
  /** Where it tells people what they should know. */
  readonly note: (line: string) => void;
  readonly limits?: Partial<RelayLimits>;
  /** How long a request may wait for what the desk has forgotten. */
  readonly deadlineMs?: number;
  /** How much the windows of models hold; the known ones where nothing is said. */
  readonly windows?: WindowTable;
  /** Where the built panel lies; beside the built program where nothing is said. */
  readonly panelDir?: string;
  /** For tests: what can go wrong with the engine. */
  readonly faults?: Pick<EngineOptions, "maxPages" | "dieAfter" | "stickAfter" | "stuckMs">;
};

/** Proxy, engine and control in one process. */
export type RunningApp = {
  readonly url: string;
  readonly token: string;
  readonly tokenFile: string | null;
  readonly engine: Engine;
  readonly proxy: RunningProxy;
  /** Lets requests in flight end, writes what is recorded, then ends. */
  readonly close: () => Promise<void>;
};

const clock: Clock = { now: () => Date.now() };

/** The same place from src and from dist: both lie beside each other. */
const builtPanel = fileURLToPath(new URL("../../dist/panel", import.meta.url));

/** Another Aperture writes to the data directory. */
export class DataInUse extends Error {
  readonly code = "DATA_IN_USE";

  constructor(pid: number, dataDir: string) {
    super(
      `Another Aperture (process ${pid}) uses ${dataDir}; it may still be finishing requests. ` +
        "Use that one, stop it with `aperture down`, or set APERTURE_DATA_DIR to another directory.",
    );
  }
}

/** Rejects with the error of `listen`, such as EADDRINUSE, or DataInUse; nothing is left running then. */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { settings, note } = options;
  const dataDir = resolve(settings.dataDir);
  const lock = await lockData(dataDir, options.verb);
  if (!lock.held) throw new DataInUse(lock.by.pid, dataDir);
  const secrets = readSecrets(dataDir, settings.token);
  const path = join(dataDir, "aperture.db");
  const { windows = windowRules } = options;
  const engine = startEngine({
    path,
    windows,
    policy: settings.policy,
    mode: settings.mode,
    ...options.faults,
  });
  engine.watchStorage(({ storage, message }) =>
    note(`storage ${storage}${message === null ? "" : `: ${message}`}`),
  );
  const since = watchSince(engine);
  const desk = openDesk({
    dataDir,
    engine,
    secret: secrets.credentialKey,
    // To manage takes memory, to observe hardly any.
    mode: () => (engine.memory() === "pass" ? "observe" : settings.mode),
    managesLogins: settings.managesLogins,
    awareness: () => awarenessOf(settings),
    handling: () => ({ arrival: settings.arrival }),
    windows,
    clock,
    ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
  });
  await answering(engine);
  let proxy: RunningProxy | null = null;
  const figures = () => (proxy === null ? {} : figuresOf(proxy.metrics(), engine.status()));
  const url = () => proxy?.url ?? "";
  const control = controlOver(engine, { ...options, token: secrets.token, figures, since, url });
  try {
    proxy = await startProxy({
      host: settings.host,
      port: settings.port,
      allowedHosts: settings.allowedHosts,
      upstreams: settings.upstreams,
      relayToken: settings.isRemote ? secrets.token : null,
      recorder: engine,
      desk,
      credentialKey: secrets.credentialKey,
      own: control.handle,
      ownPaths: (path) => control.isOurs(plainPath(path)),
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
  const { token, tokenFile } = secrets;
  return { url: running.url, token, tokenFile, engine, proxy: running, close };
}

type ControlParts = AppOptions & {
  readonly token: string;
  readonly figures: () => MetricsSnapshot;
  /** When storage went off; null while it is not. */
  readonly since: () => number | null;
  /** Where it listens, once it does. */
  readonly url: () => string;
};

function controlOver(engine: Engine, parts: ControlParts): Control {
  const { settings, version, token, figures } = parts;
  const { host, dataDir } = settings;
  const place = () => ({ host, port: Number(new URL(parts.url()).port), dataDir, token });
  return createControl({
    ask: engine.ask,
    watch: engine.watch,
    token,
    health: () => healthOf(engine, parts.since()),
    metrics: figures,
    version,
    upstreams: addressesOf(settings),
    mode: settings.mode,
    clock,
    exported: exporterFor(() => ({ place: place(), version })),
    replayed: replayOnThread(),
    panel: readPanel(parts.panelDir ?? builtPanel),
  });
}

/**
 * Sessions that were managed before go on where they were only if the engine can be asked: the first requests
 * after a restart should find it ready. It may be dead, so this does not wait for long.
 */
async function answering(engine: Engine): Promise<void> {
  const limit = new AbortController();
  const first = engine.ask({ type: "sessions", limit: 1 });
  await Promise.race([first, sleep(readyMsMax, null, { signal: limit.signal }).catch(() => null)]);
  limit.abort();
}

const readyMsMax = 2_000;

/** A path that is ours in other letters must not reach an upstream, with our token in its headers. */
function plainPath(path: string): string {
  const single = path.replace(/\/{2,}/g, "/");
  try {
    return decodeURIComponent(single);
  } catch {
    return single;
  }
}

function addressesOf({ upstreams: { named, ...builtIn } }: Settings): Readonly<Record<string, string>> {
  const all = [...Object.entries(builtIn), ...named];
  return Object.fromEntries(all.map(([name, { origin, pathname }]) => [name, origin + pathname]));
}

/** Another reason for the same trouble is told too, and is not its beginning. */
function watchSince(engine: Engine): () => number | null {
  let since: number | null = null;
  engine.watchStorage(({ storage }) => {
    since = storage === "ok" ? null : (since ?? clock.now());
  });
  return () => since;
}

function healthOf(engine: Engine, since: number | null): Health {
  const { storage, counts } = engine.status();
  const recording = { on: storage.storage === "ok", missed: counts.gaps, since };
  return { storage: storage.storage, message: storage.message, recording };
}

function awarenessOf({ headers, manifest, manifestFill: fill, textCommands }: Settings): Awareness {
  const isOff = manifest === "off";
  return {
    headers,
    manifest: isOff ? "off" : "on",
    variant: isOff ? "text" : manifest,
    fill,
    commands: textCommands === "on" ? "text" : "tools",
    zoneMinutes: -new Date().getTimezoneOffset(),
  };
}
