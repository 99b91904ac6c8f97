// The requests screen: list, diff, bodies, curl and replay.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { RouteAnswers } from "../../src/control/index.ts";
import { accessibilityViolations } from "./accessibility.ts";
import type { Client } from "./client.ts";
import { setUpPanel, themes, waitUntilSettled } from "./panel-setup.ts";
import { createSampleSession, managedRequest, sampleModel } from "./sample-session.ts";

const setup = setUpPanel();
let session = "";
let client: Client;
let total = 0;
let managed = 0;

beforeAll(async () => {
  ({ session, client } = await createSampleSession(setup()));
  const { rows } = await setup().api<RouteAnswers["RequestsPage"]>(
    `/sessions/${session}/requests?limit=1000`,
  );
  total = rows.length;
  managed = await managedRequest(setup(), session);
}, 90_000);

const requests = (rest = "") => `/s/${session}/requests${rest}`;
const rowOf = (page: Page, id: number) => page.locator(`[data-request="${id}"]`);

describe.each(themes)("in the %s theme", (theme) => {
  test.each(["", "diff", "client", "upstream", "response", "facts"])("tab %s is accessible", async (tab) => {
    const panel = await setup().open({ theme });
    await panel.go(requests(tab === "" ? "" : `/${managed}/${tab}`));
    await panel.page.locator('[role="grid"] [role="row"]').first().waitFor();
    if (tab === "diff") await panel.page.locator(".diff-row").first().waitFor();
    await waitUntilSettled(panel.page);
    expect(await accessibilityViolations(panel.page)).toEqual([]);
    await panel.close();
  });
});

test("the list shows status, time and rendering, newest first", async () => {
  const panel = await setup().open();
  await panel.go(requests());
  const grid = panel.page.getByRole("grid", { name: "Requests, newest first" });
  expect(await grid.getAttribute("aria-rowcount")).toBe(`${total}`);
  expect(await grid.locator('[role="row"]').first().getAttribute("data-request")).toBe(`${total}`);
  const row = await rowOf(panel.page, managed).textContent();
  expect(row).toMatch(/200/);
  expect(row).toMatch(/\d ms/);
  expect(row).toContain("managed");
  await panel.close();
});

test("the diff shows every row of the API with its reason", async () => {
  const panel = await setup().open();
  const diff = await setup().api<RouteAnswers["RequestDiff"]>(
    `/sessions/${session}/requests/${managed}/diff`,
  );
  expect(diff.rows.filter((row) => row.type !== "same" && row.reasons.length === 0)).toEqual([]);
  expect(JSON.stringify(diff.rows)).not.toContain('"code":"unknown"');
  await panel.go(requests(`/${managed}`));
  const view = panel.page.getByRole("region", { name: "Differences" });
  await view.locator(".diff-row").first().waitFor();
  expect(await view.locator(".diff-row").count()).toBe(diff.rows.length);
  const text = (await view.textContent()) ?? "";
  for (const words of ["unchanged (~", "added by Aperture", "first change", "Manifest:", "offers this tool"])
    expect(text).toContain(words);
  await panel.close();
});

test("folded texts of the diff scroll by keyboard", async () => {
  const panel = await setup().open();
  await panel.go(requests(`/${managed}`));
  const folded = panel.page.locator(".diff-row details:not([open]) > summary");
  while ((await folded.count()) > 0) await folded.first().click();
  const texts = panel.page.locator(".diff-row pre");
  const reached = await texts.evaluateAll((all) => all.every((each) => (each as HTMLElement).tabIndex === 0));
  expect(await texts.count()).toBeGreaterThan(0);
  expect(reached).toBe(true);
  expect(await accessibilityViolations(panel.page)).toEqual([]);
  await panel.close();
});

test("keys move, open, compare, switch tabs and close", async () => {
  const panel = await setup().open();
  const { page } = panel;
  await panel.go(requests());
  await page.locator('[role="row"]').first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/requests\/\d+$/);
  const opened = Number(/\d+$/.exec(page.url())?.[0]);
  expect(opened).toBe(total - 1);
  await page.keyboard.press("k");
  await page.waitForURL(new RegExp(`/requests/${total}$`));
  await page.keyboard.press("d");
  await page.getByText(`Compared with request ${total - 1}`, { exact: false }).waitFor();
  await page.getByRole("tab", { name: "Diff" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/\/client$/);
  await page.getByRole("region", { name: "Client request" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/requests$/);
  await panel.close();
});

test("bodies are shown byte for byte; a large one is loaded in pieces", async () => {
  const panel = await setup().open();
  const { page } = panel;
  await panel.go(requests(`/${managed}/upstream`));
  const region = page.getByRole("region", { name: "Upstream request" });
  await region.waitFor();
  const more = region.getByRole("button", { name: "Load more" });
  await expect
    .poll(
      async () => {
        if ((await more.count()) > 0) await more.click();
        return await more.count();
      },
      { timeout: 20_000 },
    )
    .toBe(0);
  const shown = (await region.locator("pre").textContent()) ?? "";
  const sent = setup()
    .exchanges()
    .map(({ body }) => body.toString());
  expect(sent).toContain(shown);
  await region.getByRole("button", { name: "Formatted" }).click();
  expect(await region.locator("pre").textContent()).toContain('\n  "messages": [');
  await page.getByRole("tab", { name: "Facts" }).click();
  await page.getByText("Aperture records no headers").waitFor();
  await panel.close();
});

test("curl names the key as a variable; the saved JSON is the sent body", async () => {
  const panel = await setup().open();
  const { page, context } = panel;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await panel.go(requests(`/${managed}`));
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await page.getByText("Copied. The key is a shell variable.").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('-H "x-api-key: $ANTHROPIC_API_KEY"');
  expect(copied).toMatch(/^curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/v1\/messages/);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save JSON" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`request-${managed}-upstream.json`);
  const saved = readFileSync(await download.path(), "utf8");
  expect(
    setup()
      .exchanges()
      .map(({ body }) => body.toString()),
  ).toContain(saved);
  await panel.close();
});

test("replay gives a verdict and sends nothing", async () => {
  const panel = await setup().open();
  const { page } = panel;
  const sent = setup().exchanges().length;
  await panel.go(requests(`/${managed}/upstream`));
  await page.getByRole("button", { name: "Replay" }).click();
  const view = page.getByRole("region", { name: "Replay" });
  await view.getByText("Accepted: 200").waitFor();
  expect(await view.textContent()).toMatch(
    /A prompt of ~[\d.]+k, ~[\d.]+k of it read from the cache of request \d+\./,
  );
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(setup().exchanges().length).toBe(sent);
  // The verdict belongs to one request.
  await page.keyboard.press("k");
  await page.waitForURL(new RegExp(`/requests/(?!${managed}/)`));
  await view.waitFor({ state: "detached" });
  await panel.close();
});

test("a new request appears in the open list", async () => {
  const panel = await setup().open();
  await panel.go(requests());
  await rowOf(panel.page, total).waitFor();
  await client.send("Thank you.", { model: sampleModel });
  await rowOf(panel.page, total + 1).waitFor();
  await panel.close();
});
