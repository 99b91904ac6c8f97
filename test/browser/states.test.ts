// Error states: the panel says what fails, what still works, and what to do.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, converseUnrecorded, openRig, post, type Rig, type Started } from "../cli/rig.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { browserMs, launchBrowser } from "./chromium.ts";
import {
  apiOf,
  createLoginLink,
  openWindow,
  type Theme,
  themes,
  waitUntilRecorded,
  waitUntilSettled,
} from "./panel-setup.ts";
import { takeScreenshot } from "./screenshot.ts";

let browser: Browser;
const rigs: Rig[] = [];
beforeAll(async () => {
  browser = await launchBrowser();
}, browserMs);
afterAll(async () => {
  await browser.close();
  for (const rig of rigs) await rig.close();
});

async function newRig(): Promise<Rig> {
  const rig = await openRig();
  rigs.push(rig);
  return rig;
}

async function windowOf(rig: Rig, theme: Theme = "light") {
  const link = await createLoginLink(apiOf(rig), rig.url);
  const panel = await openWindow({ url: rig.url, browser, link, theme });
  panel.problems.expects(/Failed to load resource/);
  return panel;
}

type Sessions = { readonly rows: readonly { readonly id: string }[] };

/** The id of the first session, once it is recorded. */
async function firstSession(rig: Rig): Promise<string> {
  await waitUntilRecorded(rig);
  const { rows } = await apiOf(rig)<Sessions>("/sessions?limit=1");
  return rows[0]?.id ?? "";
}

async function look(page: Page, name: string): Promise<void> {
  expect(await accessibilityViolations(page)).toEqual([]);
  await takeScreenshot(page, name);
}

const banner = (page: Page) => page.locator(".banner");

describe("unavailable storage", () => {
  let rig: Rig;
  let startedMs = 0;
  beforeAll(async () => {
    rig = await newRig();
    startedMs = Date.now();
    mkdirSync(join(rig.dataDir, "aperture.db"), { recursive: true });
    await rig.up();
    await converseUnrecorded(rig, "shop", ["Why is the build red?", "And now?"]);
  }, 60_000);

  test.each(themes)("is reported with what still works, in the %s theme", async (theme) => {
    const panel = await windowOf(rig, theme);
    const { page } = panel;
    await banner(page).waitFor();
    expect(await banner(page).innerText()).toMatch(
      /^Pass-through: storage unavailable since \d\d:\d\d.*Requests still pass\./s,
    );
    const { recording } = await apiOf(rig)<{ readonly recording: { readonly since: number } }>("/health");
    expect(recording.since).toBeGreaterThanOrEqual(startedMs);
    expect(recording.since).toBeLessThanOrEqual(Date.now());
    await look(page, `degraded-${theme}`);
    await panel.close();
  });
});

describe("a stopped Aperture", () => {
  let rig: Rig;
  let running: Started;
  let session = "";
  beforeAll(async () => {
    rig = await newRig();
    running = await rig.up();
    await converse(rig, "shop", ["Why is the build red?", "And now?"]);
    session = await firstSession(rig);
  }, 60_000);

  test("keeps the last state on screen and reconnects after a new login", async () => {
    const panels = await Promise.all(themes.map((theme) => windowOf(rig, theme)));
    for (const panel of panels) await panel.go(`/s/${session}`);
    running.child.kill("SIGTERM");
    await running.ended;
    for (const [at, { page }] of panels.entries()) {
      await page.getByText("Aperture was stopped at").waitFor();
      expect(await page.locator('[role="grid"] [role="row"]').count()).toBeGreaterThan(2);
      await look(page, `stopped-${themes[at]}`);
    }
    running = await rig.up();
    for (const { page, context } of panels) {
      // A restart ends the login; a login in another tab counts here too.
      await page.getByText("You have been logged out since").waitFor();
      const other = await context.newPage();
      await other.goto(await createLoginLink(apiOf(rig), rig.url));
      await waitUntilSettled(page);
      await banner(page).waitFor({ state: "detached" });
    }
    for (const panel of panels) await panel.close();
  }, 60_000);

  test.each(themes)("shows nothing without a login, in the %s theme", async (theme) => {
    const context = await browser.newContext({ colorScheme: theme });
    const page = await context.newPage();
    await page.goto(`${rig.url}/s/${session}`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await page.locator("body").innerText()).not.toContain("build");
    await look(page, `logged-out-${theme}`);
    await context.close();
  });
});

test("a session that was left is not subscribed again", async () => {
  const rig = await newRig();
  await rig.up();
  await converse(rig, "shop", ["Why is the build red?"]);
  const session = await firstSession(rig);
  const panel = await windowOf(rig);
  const { page } = panel;
  let subscriptions = 0;
  await page.route("**/api/v1/events?session=*", async (route) => {
    subscriptions += 1;
    await route.fulfill({ status: 500, body: "" });
  });
  let release = (): void => undefined;
  const held = new Promise<void>((done) => {
    release = done;
  });
  await page.route("**/api/v1/health", async (route) => {
    await held;
    await route.continue();
  });
  const healthRequest = page.waitForRequest("**/api/v1/health");
  await page.goto(`${rig.url}/s/${session}`);
  await healthRequest;
  await page.getByRole("grid").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  const before = subscriptions;
  release();
  // A retry would come after two seconds.
  await page.waitForTimeout(2_500);
  expect([before, subscriptions]).toEqual([1, 1]);
  await page.unrouteAll({ behavior: "wait" });
  await panel.close();
}, 60_000);

describe("a model with an unknown window", () => {
  test("has no size in panel, CLI and API", async () => {
    const rig = await newRig();
    await rig.up();
    const body = { model: "acme-large-2", max_tokens: 100, messages: [{ role: "user", content: "Hello." }] };
    await post(rig, JSON.stringify(body), { "x-aperture-session": "acme" });
    const session = await firstSession(rig);
    const { window } = await apiOf(rig)<{ readonly window: unknown }>(`/sessions/${session}/state`);
    expect(window).toMatchObject({ free: null, size: null });
    const panel = await windowOf(rig);
    const { page } = panel;
    await page.getByText(/ \/ \? \(window unknown\)/).waitFor();
    await panel.go(`/s/${session}`);
    const head = await page.locator(".window-head").innerText();
    expect(head).toMatch(/ \/ \? \(window unknown\)/);
    expect(await page.locator(".context-main").innerText()).not.toMatch(/200k|% used|full in/);
    const { out } = await rig.run(["context", session]);
    expect(out).toMatch(/ \/ \? \(window unknown\) {2}free \?/);
    await panel.close();
  }, 60_000);
});
