// What the client sent, what went upstream, and why they differ, as a person looks at it.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { RouteAnswers } from "../../src/control/index.ts";
import { barriersIn } from "./axe.ts";
import type { Client } from "./client.ts";
import { panelRig, settled, themes } from "./rig.ts";
import { storyModel, tellStory } from "./story.ts";

const rig = panelRig();
let session = "";
let client: Client;
let total = 0;
let managed = 0;

beforeAll(async () => {
  ({ session, client } = await tellStory(rig()));
  const { rows } = await rig().api<RouteAnswers["RequestsPage"]>(`/sessions/${session}/requests?limit=1000`);
  total = rows.length;
  managed = rows.findLast(({ relation }) => relation === "append")?.id ?? 0;
}, 90_000);

const requests = (rest = "") => `/s/${session}/requests${rest}`;
const rowOf = (page: Page, id: number) => page.locator(`[data-request="${id}"]`);

describe.each(themes)("in the %s theme", (theme) => {
  test.each(["", "diff", "client", "upstream", "response", "facts"])(
    "nothing keeps anybody out of %s",
    async (tab) => {
      const panel = await rig().open({ theme });
      await panel.go(requests(tab === "" ? "" : `/${managed}/${tab}`));
      await panel.page.locator('[role="grid"] [role="row"]').first().waitFor();
      if (tab === "diff") await panel.page.locator(".diff-row").first().waitFor();
      await settled(panel.page);
      expect(await barriersIn(panel.page)).toEqual([]);
      await panel.close();
    },
  );
});

test("the list says what each request took and how it was sent, the newest first", async () => {
  const panel = await rig().open();
  await panel.go(requests());
  const grid = panel.page.getByRole("grid", { name: "Requests, the newest first" });
  expect(await grid.getAttribute("aria-rowcount")).toBe(`${total}`);
  expect(await grid.locator('[role="row"]').first().getAttribute("data-request")).toBe(`${total}`);
  const row = await rowOf(panel.page, managed).textContent();
  expect(row).toMatch(/200/);
  expect(row).toMatch(/\d ms/);
  expect(row).toContain("managed");
  await panel.close();
});

test("the diff has the rows of the API, each with its reason, and a person reads them", async () => {
  const panel = await rig().open();
  const diff = await rig().api<RouteAnswers["RequestDiff"]>(`/sessions/${session}/requests/${managed}/diff`);
  expect(diff.rows.filter((row) => row.type !== "same" && row.reasons.length === 0)).toEqual([]);
  expect(JSON.stringify(diff.rows)).not.toContain('"code":"unknown"');
  await panel.go(requests(`/${managed}`));
  const view = panel.page.getByRole("region", { name: "Differences" });
  await view.locator(".diff-row").first().waitFor();
  expect(await view.locator(".diff-row").count()).toBe(diff.rows.length);
  const text = (await view.textContent()) ?? "";
  for (const words of ["identical (~", "injected", "first change", "The manifest:", "A tool of ours"])
    expect(text).toContain(words);
  await panel.close();
});

test("what is folded in the diff keeps nobody out either: long texts can be scrolled by keys", async () => {
  const panel = await rig().open();
  await panel.go(requests(`/${managed}`));
  const folded = panel.page.locator(".diff-row details:not([open]) > summary");
  while ((await folded.count()) > 0) await folded.first().click();
  const texts = panel.page.locator(".diff-row pre");
  const reached = await texts.evaluateAll((all) => all.every((each) => (each as HTMLElement).tabIndex === 0));
  expect(await texts.count()).toBeGreaterThan(0);
  expect(reached).toBe(true);
  expect(await barriersIn(panel.page)).toEqual([]);
  await panel.close();
});

test("keys alone: down, open, on, compare, the tabs, and back", async () => {
  const panel = await rig().open();
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
  await page.getByText(`Against request ${total - 1}`, { exact: false }).waitFor();
  await page.getByRole("tab", { name: "Diff" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/\/client$/);
  await page.getByRole("region", { name: "Client sent" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/requests$/);
  await panel.close();
});

test("bodies are what was sent; a large one comes in pieces", async () => {
  const panel = await rig().open();
  const { page } = panel;
  await panel.go(requests(`/${managed}/upstream`));
  const region = page.getByRole("region", { name: "Upstream got" });
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
  const sent = rig()
    .exchanges()
    .map(({ body }) => body.toString());
  expect(sent).toContain(shown);
  await region.getByRole("button", { name: "Formatted" }).click();
  expect(await region.locator("pre").textContent()).toContain('\n  "messages": [');
  await page.getByRole("tab", { name: "Headers" }).click();
  await page.getByText("Headers are not recorded, so that no credential ever is.").waitFor();
  await panel.close();
});

test("copied as curl the key is a variable; what is saved is what was sent", async () => {
  const panel = await rig().open();
  const { page, context } = panel;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await panel.go(requests(`/${managed}`));
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await page.getByText("Copied; the key is a variable").waitFor();
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
    rig()
      .exchanges()
      .map(({ body }) => body.toString()),
  ).toContain(saved);
  await panel.close();
});

test("replayed inside, a request is accepted or refused in exact words, and nothing is sent", async () => {
  const panel = await rig().open();
  const { page } = panel;
  const sent = rig().exchanges().length;
  await panel.go(requests(`/${managed}/upstream`));
  await page.getByRole("button", { name: "Replay" }).click();
  const view = page.getByRole("region", { name: "Replay" });
  await view.getByText("Accepted: 200").waitFor();
  expect(await view.textContent()).toMatch(
    /A prompt of ~[\d.]+k, ~[\d.]+k of it from the cache behind request \d+\./,
  );
  expect(await barriersIn(page)).toEqual([]);
  expect(rig().exchanges().length).toBe(sent);
  // Another request has not been replayed.
  await page.keyboard.press("k");
  await page.waitForURL(new RegExp(`/requests/(?!${managed}/)`));
  await view.waitFor({ state: "detached" });
  await panel.close();
});

test("a request that comes while somebody looks is there at once", async () => {
  const panel = await rig().open();
  await panel.go(requests());
  await rowOf(panel.page, total).waitFor();
  await client.say("Thank you.", { model: storyModel });
  await rowOf(panel.page, total + 1).waitFor();
  await panel.close();
});
