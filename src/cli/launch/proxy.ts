import { setTimeout as sleep } from "node:timers/promises";
import { officialUpstreams, type Settings } from "../../config/index.ts";
import type { HealthAnswer, LoginLink, ReadyAnswer } from "../../control/index.ts";
import type { RunningApp } from "../app.ts";
import { type Api, openApi } from "../client.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";

/** The proxy a client talks to while it runs: somebody else's, or ours. */
export type ClientProxy = {
  readonly url: string;
  readonly isOwn: boolean;
  /** Where requests to Anthropic go; null: it does not say. */
  readonly upstream: string | null;
  readonly mode: string | null;
  /** A link that logs one browser into the panel; null: none could be had. */
  readonly panel: string | null;
  /** How many requests came while it was ours; null if that is not known. */
  readonly requests: () => number | null;
  /** Lets requests in flight end, and ends what is ours. */
  readonly close: () => Promise<void>;
};

export type ProxyWish = {
  readonly settings: Settings;
  readonly version: string;
  readonly note: (line: string) => void;
};

const askMs = 3_000;
const lookEveryMs = 500;
/** Two that start at once: one of them wins the port, and is ready soon after. */
const [startTries, startPauseMs] = [20, 100];

/** Uses the Aperture that runs, or starts one for as long as the client lives. */
export async function proxyFor(wish: ProxyWish): Promise<Outcome<ClientProxy>> {
  const api = openApi(wish.settings, askMs);
  for (let tried = 0; tried < startTries; tried += 1) {
    const state = await stateOf(api);
    if (!state.ok) return state;
    if (state.value === "running") return succeed(borrowed(wish, api, await factsOf(api)));
    const app = await started(wish);
    if (typeof app !== "string") return succeed(owned(app, api.url, await factsOf(api)));
    if (app !== "EADDRINUSE") return stop(exitCodes.failed, notStarted(app, wish, api.url));
    await sleep(startPauseMs);
  }
  const problem = `Port ${wish.settings.port} is taken, but nothing answers there. Choose another with --port.`;
  return stop(exitCodes.failed, problem);
}

function notStarted(code: string, { settings }: ProxyWish, url: string): string {
  if (code !== "DATA_IN_USE") return `Aperture cannot listen on ${url} (${code}).`;
  return (
    `Another Aperture, not on ${url}, uses the data directory ${settings.dataDir}. ` +
    "Name its port with --port, or another directory with --data-dir."
  );
}

async function stateOf(api: Api): Promise<Outcome<"running" | "absent">> {
  const ready = await api.json<Partial<ReadyAnswer>>("/readyz");
  if (!ready.ok) return ready.problem.exit === exitCodes.stopped ? succeed("absent") : ready;
  if (ready.value.value.ok === true && ready.value.value.storage !== undefined) return succeed("running");
  return stop(
    exitCodes.failed,
    `Something answers on ${api.url}, but it is not Aperture. Choose another --port.`,
  );
}

/** Or the code of what kept it from listening: another process may have the port. */
async function started({ settings, version, note }: ProxyWish): Promise<RunningApp | string> {
  // Loaded only here: clients of a running Aperture start without the store and the engine.
  const { startApp } = await import("../app.ts");
  try {
    return await startApp({ settings, version, note, verb: "run" });
  } catch (error) {
    if (error instanceof Error && "code" in error) return `${error.code}`;
    throw error;
  }
}

function owned(app: RunningApp, url: string, facts: Facts): ClientProxy {
  const requests = () => app.proxy.metrics().requests;
  return { url, isOwn: true, ...facts, requests, close: () => app.close() };
}

type Facts = Pick<ClientProxy, "upstream" | "mode" | "panel">;

/** What it says of itself to those who have its token, whoever started it. */
async function factsOf(api: Api): Promise<Facts> {
  const health = await api.json<HealthAnswer>("/api/v1/health");
  if (!health.ok) return { upstream: null, mode: null, panel: null };
  const { upstreams, mode } = health.value.value;
  const link = await api.post<LoginLink>("/api/v1/login-links", {});
  const upstream = upstreams["anthropic"] ?? "";
  return {
    upstream: URL.canParse(upstream) ? upstream : null,
    mode,
    panel: link.ok ? `${api.url}${link.value.value.path}` : null,
  };
}

/** What is for Anthropic goes to Anthropic. */
export function isFirstParty({ upstream }: Pick<ClientProxy, "upstream">): boolean {
  return upstream !== null && new URL(upstream).origin === officialUpstreams.anthropic;
}

/**
 * An Aperture that another process started ends with that process, and its port is written into our client.
 * Should it go, we take its place, so that the client notices nothing but a pause.
 */
function borrowed(wish: ProxyWish, api: Api, facts: Facts): ClientProxy {
  let heir: RunningApp | null = null;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking || heir !== null) return;
    isLooking = true;
    const state = await stateOf(api);
    const app = state.ok && state.value === "absent" ? await started(wish).catch(() => null) : null;
    if (app !== null && typeof app !== "string") heir = app;
    isLooking = false;
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = look();
  }, lookEveryMs);
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await looking;
    await heir?.close();
  };
  return { url: api.url, isOwn: false, ...facts, requests: () => null, close };
}
