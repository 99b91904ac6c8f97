// What tests of the panel need: the built program in front of the strict upstream, a client, a browser.
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
import { type Troubles, watchTroubles } from "./watch.ts";

export type Theme = "light" | "dark";
export const themes: readonly Theme[] = ["light", "dark"];

/** A browser window of a user who is logged in. */
export type Panel = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly troubles: Troubles;
  /** Goes to a path of the panel and waits until it shows what is there. */
  readonly go: (path: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type PanelRig = {
  readonly url: string;
  readonly rig: Rig;
  readonly browser: Browser;
  /** Opens a window and logs it in with a link that works once. */
  readonly open: (options?: { readonly theme?: Theme; readonly reducedMotion?: boolean }) => Promise<Panel>;
  readonly client: (options: Omit<ClientOptions, "url">) => Promise<Client>;
  /** What the model says to the next samplings. Behind them it does what the prompt spells out. */
  readonly script: (...replies: readonly (readonly ReplyBlock[])[]) => void;
  /** What went upstream, and what came back. */
  readonly exchanges: () => readonly UpstreamExchange[];
  /** Answers of the control API, asked with the token. */
  readonly api: <T>(path: string, wish?: { readonly method: string; readonly body: unknown }) => Promise<T>;
  /** Resolves once everything that was relayed is written down. */
  readonly recorded: () => Promise<void>;
  readonly link: () => Promise<string>;
  /** What the process counts, as text. */
  readonly figures: () => Promise<string>;
};

/** The whole rig for a test file: started before its tests, ended behind them. Read it inside of tests. */
export function panelRig(options: { readonly flags?: readonly string[] } = {}): () => PanelRig {
  let started: { readonly panel: PanelRig; readonly close: () => Promise<void> } | null = null;
  beforeAll(async () => {
    await installClients();
    started = await startPanelRig(options.flags ?? []);
  }, browserMs + installMs);
  afterAll(async () => {
    await started?.close();
  });
  return () => {
    if (started === null) throw new Error("the rig was not started");
    return started.panel;
  };
}

async function startPanelRig(flags: readonly string[]) {
  const { model, add } = scriptedModel();
  const rig = await openRig({ model });
  const clients: Client[] = [];
  const open: BrowserContext[] = [];
  const browser = await launchBrowser(flags);
  await rig.up();
  const api = apiOf(rig);
  const link = () => loginLink(api, rig.url);
  const panel: PanelRig = {
    url: rig.url,
    rig,
    browser,
    open: async (how = {}) => {
      const window = await openWindow({ url: rig.url, browser, link: await link(), ...how });
      open.push(window.context);
      return window;
    },
    client: async (how) => {
      const client = await startClient({ url: rig.url, ...how });
      clients.push(client);
      return client;
    },
    script: add,
    exchanges: () => rig.upstream.exchanges,
    api,
    recorded: () => untilRecorded(rig),
    link,
    figures: () => figuresOf(rig),
  };
  const close = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.close()));
    await browser.close();
    await rig.close();
  };
  return { panel, close };
}

/** Says what it was given, one reply per sampling, and then what the agent of the upstream says by itself. */
function scriptedModel() {
  const replies: ModelReply[] = [];
  const agent = ruleAgent();
  const model: ScriptedModel = (request, n) => {
    const next = request.tools.length === 0 ? undefined : replies.shift();
    return next ?? agent(request, n);
  };
  const add = (...said: readonly (readonly ReplyBlock[])[]): void => {
    replies.push(...said.map((content) => ({ content })));
  };
  return { model, add };
}

/** A link that logs one window in. */
export async function loginLink(api: PanelRig["api"], url: string): Promise<string> {
  return `${url}${(await api<{ readonly path: string }>("/login-links", { method: "POST", body: {} })).path}`;
}

export function apiOf(rig: Pick<Rig, "url" | "dataDir">): PanelRig["api"] {
  return async <T>(path: string, wish?: { readonly method: string; readonly body: unknown }): Promise<T> => {
    const headers = { authorization: `Bearer ${tokenOf(rig)}`, "content-type": "application/json" };
    const sent = wish === undefined ? {} : { method: wish.method, body: JSON.stringify(wish.body) };
    const answer = await ask(`${rig.url}/api/v1${path}`, { headers, ...sent });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
    // Our own server wrote it.
    return JSON.parse(answer.body.toString()) as T;
  };
}

const waiting = ["requests_active", "recording_waiting_bytes", "storage_waiting_frames"] as const;

export async function untilRecorded(rig: Rig): Promise<void> {
  const untilMs = Date.now() + 60_000;
  for (;;) {
    const figures = await figuresOf(rig);
    if (waiting.every((name) => figures.includes(`aperture_${name} 0\n`))) return;
    if (Date.now() > untilMs) throw new Error(`not everything was recorded:\n${figures}`);
    await sleep(10);
  }
}

async function figuresOf(rig: Rig): Promise<string> {
  const headers = { authorization: `Bearer ${tokenOf(rig)}` };
  return (await ask(`${rig.url}/metrics`, { headers })).body.toString();
}

function tokenOf(rig: Pick<Rig, "dataDir">): string {
  return readFileSync(join(rig.dataDir, "token"), "utf8").trim();
}

type Opening = {
  /** Where the panel is. */
  readonly url: string;
  readonly browser: Browser;
  readonly link: string;
  readonly theme?: Theme;
  readonly reducedMotion?: boolean;
};

export const viewport = { width: 1280, height: 800 } as const;

export async function openWindow(opening: Opening): Promise<Panel> {
  const { url, browser, link, theme = "light", reducedMotion } = opening;
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: reducedMotion === true ? "reduce" : "no-preference",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(10_000);
  const troubles = await watchTroubles(context, url);
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForURL(`${url}/`);
  return {
    page,
    context,
    troubles,
    go: async (path) => {
      await page.goto(`${url}${path}`);
      await settled(page);
    },
    close: async () => {
      // What comes late is trouble too.
      await sleep(20);
      await context.close();
      expect(troubles.all()).toEqual([]);
    },
  };
}

/** Nothing is being read any more, and the page says that it is live. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".pill.live").waitFor();
  await page.locator(".loading").waitFor({ state: "detached" });
}
