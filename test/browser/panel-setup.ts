// Starts what tests of the panel need: the built program, the strict upstream, a client and a browser.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { ModelReply, ReplyBlock } from "../../src/testing/index.ts";
import { ruleAgent, type ScriptedModel, type UpstreamExchange } from "../../src/testing/index.ts";
import { openRig, type Rig } from "../cli/rig.ts";
import { installClients, installMs } from "../clients/install.ts";
import { ask } from "../support/app.ts";
import { browserMs, launchBrowser } from "./chromium.ts";
import { type Client, type ClientOptions, startClient } from "./client.ts";
import { type PageProblems, watchPageProblems } from "./page-problems.ts";

export type Theme = "light" | "dark";
export const themes: readonly Theme[] = ["light", "dark"];

/** A logged-in browser window. */
export type Panel = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: PageProblems;
  /** Opens a path of the panel and waits until it is loaded. */
  readonly go: (path: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type PanelSetup = {
  readonly url: string;
  /** The program under test, and its command line. */
  readonly cli: Rig;
  readonly browser: Browser;
  /** Opens a window and logs it in. */
  readonly open: (options?: { readonly theme?: Theme; readonly reducedMotion?: boolean }) => Promise<Panel>;
  readonly client: (options: Omit<ClientOptions, "url">) => Promise<Client>;
  /** Sets the model's next replies. After them it follows the rules of `ruleAgent`. */
  readonly script: (...replies: readonly (readonly ReplyBlock[])[]) => void;
  /** The requests and responses of the upstream. */
  readonly exchanges: () => readonly UpstreamExchange[];
  /** Calls the control API with the token. */
  readonly api: <T>(
    path: string,
    options?: { readonly method: string; readonly body: unknown },
  ) => Promise<T>;
  /** Resolves when every relayed request is stored. */
  readonly recorded: () => Promise<void>;
  readonly link: () => Promise<string>;
  /** The text of `/metrics`. */
  readonly metrics: () => Promise<string>;
};

/** Starts the panel before the tests of a file and stops it after them. Call the result inside tests only. */
export function setUpPanel(options: { readonly flags?: readonly string[] } = {}): () => PanelSetup {
  let started: { readonly panel: PanelSetup; readonly close: () => Promise<void> } | null = null;
  beforeAll(async () => {
    await installClients();
    started = await startPanel(options.flags ?? []);
  }, browserMs + installMs);
  afterAll(async () => {
    await started?.close();
  });
  return () => {
    if (started === null) throw new Error("the panel was not started");
    return started.panel;
  };
}

async function startPanel(flags: readonly string[]) {
  const { model, add } = scriptedModel();
  const cli = await openRig({ model });
  const clients: Client[] = [];
  const open: BrowserContext[] = [];
  const browser = await launchBrowser(flags);
  await cli.up();
  const api = apiOf(cli);
  const link = () => createLoginLink(api, cli.url);
  const panel: PanelSetup = {
    url: cli.url,
    cli,
    browser,
    open: async (how = {}) => {
      const window = await openWindow({ url: cli.url, browser, link: await link(), ...how });
      open.push(window.context);
      return window;
    },
    client: async (how) => {
      const client = await startClient({ url: cli.url, ...how });
      clients.push(client);
      return client;
    },
    script: add,
    exchanges: () => cli.upstream.exchanges,
    api,
    recorded: () => waitUntilRecorded(cli),
    link,
    metrics: () => readMetrics(cli),
  };
  const close = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.close()));
    await browser.close();
    await cli.close();
  };
  return { panel, close };
}

/** A model that gives the scripted replies first, one per request, and then those of the rule agent. */
function scriptedModel() {
  const replies: ModelReply[] = [];
  const agent = ruleAgent();
  const model: ScriptedModel = (request, n) => {
    const next = request.tools.length === 0 ? undefined : replies.shift();
    return next ?? agent(request, n);
  };
  const add = (...contents: readonly (readonly ReplyBlock[])[]): void => {
    replies.push(...contents.map((content) => ({ content })));
  };
  return { model, add };
}

/** Creates a link that logs one window in. */
export async function createLoginLink(api: PanelSetup["api"], url: string): Promise<string> {
  return `${url}${(await api<{ readonly path: string }>("/login-links", { method: "POST", body: {} })).path}`;
}

export function apiOf(rig: Pick<Rig, "url" | "dataDir">): PanelSetup["api"] {
  return async <T>(
    path: string,
    options?: { readonly method: string; readonly body: unknown },
  ): Promise<T> => {
    const headers = { authorization: `Bearer ${tokenOf(rig)}`, "content-type": "application/json" };
    const sent = options === undefined ? {} : { method: options.method, body: JSON.stringify(options.body) };
    const answer = await ask(`${rig.url}/api/v1${path}`, { headers, ...sent });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
    // Our own server wrote it.
    return JSON.parse(answer.body.toString()) as T;
  };
}

const pendingMetrics = ["requests_active", "recording_waiting_bytes", "storage_waiting_frames"] as const;

export async function waitUntilRecorded(rig: Rig): Promise<void> {
  const untilMs = Date.now() + 60_000;
  for (;;) {
    const metrics = await readMetrics(rig);
    if (pendingMetrics.every((name) => metrics.includes(`aperture_${name} 0\n`))) return;
    if (Date.now() > untilMs) throw new Error(`not everything was recorded:\n${metrics}`);
    await sleep(10);
  }
}

async function readMetrics(rig: Rig): Promise<string> {
  const headers = { authorization: `Bearer ${tokenOf(rig)}` };
  return (await ask(`${rig.url}/metrics`, { headers })).body.toString();
}

function tokenOf(rig: Pick<Rig, "dataDir">): string {
  return readFileSync(join(rig.dataDir, "token"), "utf8").trim();
}

type WindowOptions = {
  /** The address of the panel. */
  readonly url: string;
  readonly browser: Browser;
  readonly link: string;
  readonly theme?: Theme;
  readonly reducedMotion?: boolean;
};

export const viewport = { width: 1280, height: 800 } as const;

export async function openWindow(options: WindowOptions): Promise<Panel> {
  const { url, browser, link, theme = "light", reducedMotion } = options;
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: reducedMotion === true ? "reduce" : "no-preference",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(10_000);
  const problems = await watchPageProblems(context, url);
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForURL(`${url}/`);
  return {
    page,
    context,
    problems,
    go: async (path) => {
      await page.goto(`${url}${path}`);
      await waitUntilSettled(page);
    },
    close: async () => {
      // Late errors count too.
      await sleep(20);
      await context.close();
      expect(problems.all()).toEqual([]);
    },
  };
}

/** Resolves when the page is live and has loaded everything. */
export async function waitUntilSettled(page: Page): Promise<void> {
  await page.locator(".pill.live").waitFor();
  await page.locator(".loading").waitFor({ state: "detached" });
}
