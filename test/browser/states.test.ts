// What the panel says when something is not as it should be: what it is, what still works, what to do.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, converseUnrecorded, openRig, post, type Rig, type Started } from "../cli/rig.ts";
import { barriersIn } from "./axe.ts";
import { browserMs, launchBrowser } from "./chromium.ts";
import { apiOf, loginLink, openWindow, settled, type Theme, themes, untilRecorded } from "./rig.ts";
import { shoot } from "./shot.ts";

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
  const link = await loginLink(apiOf(rig), rig.url);
  const panel = await openWindow({ url: rig.url, browser, link, theme });
  panel.troubles.expects(/Failed to load resource/);
  return panel;
}

type Sessions = { readonly rows: readonly { readonly id: string }[] };

/** Recording is behind what is relayed. */
async function firstSession(rig: Rig): Promise<string> {
  await untilRecorded(rig);
  const { rows } = await apiOf(rig)<Sessions>("/sessions?limit=1");
  return rows[0]?.id ?? "";
}

async function look(page: Page, name: string): Promise<void> {
  expect(await barriersIn(page)).toEqual([]);
  await shoot(page, name);
}

const banner = (page: Page) => page.locator(".banner");

describe("storage that cannot be used", () => {
  let rig: Rig;
  let startedMs = 0;
  beforeAll(async () => {
    rig = await newRig();
    startedMs = Date.now();
    mkdirSync(join(rig.dataDir, "aperture.db"), { recursive: true });
    await rig.up();
    await converseUnrecorded(rig, "shop", ["Why is the build red?", "And now?"]);
  }, 60_000);

  test.each(themes)("is said, with what still works, in the %s theme", async (theme) => {
    const panel = await windowOf(rig, theme);
    const { page } = panel;
    await banner(page).waitFor();
    expect(await banner(page).innerText()).toMatch(
      /^Pass-through: storage unavailable since \d\d:\d\d.*Requests still pass\./s,
    );
    const { recording } = await apiOf(rig)<{ readonly recording: { readonly since: number } }>("/health");
    expect(recording.since).toBeGreaterThanOrEqual(startedMs);
    expect(recording.since).toBeLessThan(Date.now());
    await look(page, `degraded-${theme}`);
    await panel.close();
  });
});

describe("Aperture that is ended", () => {
  let rig: Rig;
  let running: Started;
  let session = "";
  beforeAll(async () => {
    rig = await newRig();
    running = await rig.up();
    await converse(rig, "shop", ["Why is the build red?", "And now?"]);
    session = await firstSession(rig);
  }, 60_000);

  test("leaves its last picture, says so, and is there again once it runs", async () => {
    const panels = await Promise.all(themes.map((theme) => windowOf(rig, theme)));
    for (const panel of panels) await panel.go(`/s/${session}`);
    running.child.kill("SIGTERM");
    await running.ended;
    for (const [at, { page }] of panels.entries()) {
      await page.getByText("Aperture was ended at").waitFor();
      expect(await page.locator('[role="grid"] [role="row"]').count()).toBeGreaterThan(2);
      await look(page, `ended-${themes[at]}`);
    }
    running = await rig.up();
    for (const { page, context } of panels) {
      // A login does not outlive the program; one in another window of the browser counts here too.
      await page.getByText("You are logged out since").waitFor();
      const other = await context.newPage();
      await other.goto(await loginLink(apiOf(rig), rig.url));
      await settled(page);
      await banner(page).waitFor({ state: "detached" });
    }
    for (const panel of panels) await panel.close();
  }, 60_000);

  test.each(themes)("shows nothing to strangers, in the %s theme", async (theme) => {
    const context = await browser.newContext({ colorScheme: theme });
    const page = await context.newPage();
    await page.goto(`${rig.url}/s/${session}`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await page.locator("body").innerText()).not.toContain("build");
    await look(page, `logged-out-${theme}`);
    await context.close();
  });
});

test("a session that was left while it was asked why nothing comes is not followed again", async () => {
  const rig = await newRig();
  await rig.up();
  await converse(rig, "shop", ["Why is the build red?"]);
  const session = await firstSession(rig);
  const panel = await windowOf(rig);
  const { page } = panel;
  let followed = 0;
  await page.route("**/api/v1/events?session=*", async (route) => {
    followed += 1;
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
  const asked = page.waitForRequest("**/api/v1/health");
  await page.goto(`${rig.url}/s/${session}`);
  await asked;
  await page.getByRole("grid").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  const before = followed;
  release();
  // It would be tried again after two seconds.
  await page.waitForTimeout(2_500);
  expect([before, followed]).toEqual([1, 1]);
  await page.unrouteAll({ behavior: "wait" });
  await panel.close();
}, 60_000);

describe("a model whose window nobody knows", () => {
  test("has no made-up size, in the panel as on the command line and in the API", async () => {
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
    expect(await page.locator(".context-main").innerText()).not.toMatch(/200k|% used|turns left/);
    const { out } = await rig.run(["context", session]);
    expect(out).toMatch(/ \/ \? \(window unknown\) {2}free \?/);
    await panel.close();
  }, 60_000);
});
