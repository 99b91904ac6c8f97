import { setTimeout as sleep } from "node:timers/promises";
import { officialUpstreams, type Settings } from "../../config/index.ts";
import type { HealthAnswer, LoginLink, ManageLoginsAnswer, ReadyAnswer } from "../../control/index.ts";
import { type Api, openApi } from "../api/api-client.ts";
import type { RunningApp } from "../app/app.ts";
import { exitCodes } from "../exit-codes.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";

/** The proxy that serves a client while it runs: one that was running already, or our own. */
export type ClientProxy = {
  readonly url: string;
  readonly isOwn: boolean;
  /** The upstreams by provider; null if the proxy did not answer. */
  readonly upstreams: HealthAnswer["upstreams"] | null;
  readonly mode: string | null;
  /** Whether it manages sessions of subscription logins; null if it did not say. */
  readonly managesLogins: boolean | null;
  /** A link that logs one browser into the panel; null if none could be created. */
  readonly panel: string | null;
  /** The number of requests to our own proxy; null if it is not ours. */
  readonly requests: () => number | null;
  /** Waits for open requests, and stops our own proxy. */
  readonly close: () => Promise<void>;
};

export type ClientProxyInput = {
  readonly settings: Settings;
  /** The answer about subscription logins, if the user was just asked. A running Aperture is told. */
  readonly managesLogins: boolean | null;
  readonly version: string;
  readonly notify: (line: string) => void;
};

const askMs = 3_000;
const checkEveryMs = 500;
/** If two start at once, one gets the port and is ready soon after. */
const [startTries, startPauseMs] = [20, 100];

/** Uses the running Aperture, or starts one for as long as the client lives. */
export async function openClientProxy(input: ClientProxyInput): Promise<CliResult<ClientProxy>> {
  const api = openApi(input.settings, askMs);
  for (let tried = 0; tried < startTries; tried += 1) {
    const state = await probe(api);
    if (!state.ok) return state;
    if (state.value === "running") {
      await tellAnswer(input, api);
      return succeed(borrowedProxy(input, api, await readFacts(api)));
    }
    const app = await startOwn(input);
    if (typeof app !== "string") return succeed(ownedProxy(app, api.url, await readFacts(api)));
    if (app !== "EADDRINUSE") return stop(exitCodes.failed, startProblemText(app, input, api.url));
    await sleep(startPauseMs);
  }
  const problem = `Port ${input.settings.port} is in use, but nothing answers there. Choose another one with --port.`;
  return stop(exitCodes.failed, problem);
}

/** The facts are read afterwards, so that the banner is true even if this fails. */
async function tellAnswer({ managesLogins, notify }: ClientProxyInput, api: Api): Promise<void> {
  if (managesLogins === null) return;
  const told = await api.put<ManageLoginsAnswer>("/api/v1/manage-logins", { managesLogins });
  if (!told.ok) notify(`The running Aperture did not take your answer: ${told.problem.message}`);
}

function startProblemText(code: string, { settings }: ClientProxyInput, url: string): string {
  if (code !== "DATA_IN_USE") return `Aperture cannot listen on ${url} (${code}).`;
  return (
    `Another Aperture, not on ${url}, uses the data directory ${settings.dataDir}. ` +
    "Give its port with --port, or another directory with --data-dir."
  );
}

async function probe(api: Api): Promise<CliResult<"running" | "absent">> {
  const ready = await api.json<Partial<ReadyAnswer>>("/readyz");
  if (!ready.ok) return ready.problem.exit === exitCodes.stopped ? succeed("absent") : ready;
  if (ready.value.value.ok === true && ready.value.value.storage !== undefined) return succeed("running");
  return stop(
    exitCodes.failed,
    `The program that answers on ${api.url} is not Aperture. Choose another port with --port.`,
  );
}

/** The started app, or the code of the error, for example if another process has the port. */
async function startOwn({ settings, version, notify }: ClientProxyInput): Promise<RunningApp | string> {
  // Loaded only here, so that clients of a running Aperture start without the store and the engine.
  const { startApp } = await import("../app/app.ts");
  try {
    return await startApp({ settings, version, notify, verb: "run" });
  } catch (error) {
    if (error instanceof Error && "code" in error) return `${error.code}`;
    throw error;
  }
}

function ownedProxy(app: RunningApp, url: string, facts: ProxyFacts): ClientProxy {
  const requests = () => app.proxy.metrics().requests;
  return { url, isOwn: true, ...facts, requests, close: () => app.close() };
}

type ProxyFacts = Pick<ClientProxy, "upstreams" | "mode" | "managesLogins" | "panel">;

/** Facts that a proxy tells to callers with its token. */
async function readFacts(api: Api): Promise<ProxyFacts> {
  const health = await api.json<HealthAnswer>("/api/v1/health");
  if (!health.ok) return { upstreams: null, mode: null, managesLogins: null, panel: null };
  // An Aperture of another version may not say whether it manages logins.
  const { upstreams, mode, managesLogins = null } = health.value.value;
  const link = await api.post<LoginLink>("/api/v1/login-links", {});
  return {
    upstreams,
    mode,
    managesLogins,
    panel: link.ok ? `${api.url}${link.value.value.path}` : null,
  };
}

/** Requests to Anthropic end at Anthropic's own address. */
export function isFirstParty({ upstreams }: Pick<ClientProxy, "upstreams">): boolean {
  const upstream = upstreams?.["anthropic"] ?? "";
  return URL.canParse(upstream) && new URL(upstream).origin === officialUpstreams.anthropic;
}

/**
 * An Aperture that another process started ends with that process, but our client keeps its port. If it ends,
 * we start one in its place, so that the client notices only a pause.
 */
function borrowedProxy(input: ClientProxyInput, api: Api, facts: ProxyFacts): ClientProxy {
  let replacement: RunningApp | null = null;
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking || replacement !== null) return;
    isChecking = true;
    const state = await probe(api);
    const app = state.ok && state.value === "absent" ? await startOwn(input).catch(() => null) : null;
    if (app !== null && typeof app !== "string") replacement = app;
    isChecking = false;
  };
  let checking = Promise.resolve();
  const timer = setInterval(() => {
    checking = check();
  }, checkEveryMs);
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await checking;
    await replacement?.close();
  };
  return { url: api.url, isOwn: false, ...facts, requests: () => null, close };
}
