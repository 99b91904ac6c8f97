// The whole flow with a keyboard and nothing else: no test here has a mouse.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { StateRow } from "../../src/queries/answers/index.ts";
import { barriersIn } from "./axe.ts";
import { type Panel, panelRig, settled } from "./rig.ts";
import { tellStory } from "./story.ts";

const rig = panelRig();
let session = "";
let panel: Panel;
let page: Page;

beforeAll(async () => {
  ({ session } = await tellStory(rig()));
  panel = await rig().open();
  page = panel.page;
}, 60_000);

const press = async (...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Presses a key until what has the focus fits; so many times at most. */
async function pressUntil(key: string, selector: string, times = 40): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
    await press(key);
  }
  const where = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
  throw new Error(`${key} never led to ${selector}; it is at ${where}`);
}
const heard = (words: RegExp | string) => page.getByText(words).first().waitFor();

test("from the list of sessions to a focus, an archive and back", async () => {
  await panel.go("/");
  await pressUntil("Tab", "a.session-row");
  await press("Enter");
  await page.waitForURL(`**/s/${session}`);
  await settled(page);
  await pressUntil("Tab", '[role="row"]');
  await press("ArrowDown", "ArrowDown", "ArrowDown", "Space", "Shift+ArrowDown", "Shift+ArrowDown");
  await heard("3 blocks selected");
  await press("f");
  await heard(/\[user-selected\] #\d+ #\d+ #\d+/);
  await press("a");
  await page.getByRole("dialog").getByText("frees").waitFor();
  await pressUntil("Tab", "dialog .button.primary:not([disabled])");
  await press("Enter");
  await heard(/^You archived/);
  await press("z");
  await heard(/^Taken back/);
  await press("Shift+Z");
  await heard(/^Done again/);
}, 60_000);

test("an inspector opens on a block and closes again", async () => {
  await panel.go(`/s/${session}`);
  await pressUntil("Tab", '[role="row"]');
  await press("ArrowDown", "Enter");
  await page.locator(".inspector h2").waitFor();
  await pressUntil("Tab", '.inspector [role="tab"]');
  await press("ArrowRight");
  expect(await page.locator('.inspector [role="tab"][aria-selected="true"]').innerText()).not.toBe("text");
  await pressUntil("Shift+Tab", 'button[aria-label="Close the inspector"]');
  await press("Enter");
  await page.locator(".inspector").waitFor({ state: "detached" });
}, 60_000);

test("an approval is decided", async () => {
  await press("g", "a");
  await page.waitForURL(`**/approvals`);
  await heard("1 command waiting");
  await press("n");
  await heard("Nothing waits for you");
}, 60_000);

test("time goes back and comes again", async () => {
  await press("g", "c");
  await page.getByRole("grid").waitFor();
  await press("[", "[");
  await page.waitForURL(/at=\d+/);
  await press(".");
  await page.waitForURL((url) => !url.search.includes("at="));
}, 60_000);

test("what is opened in the past is opened there, however often one has stepped", async () => {
  const { head } = await rig().api<StateRow>(`/sessions/${session}/state?rows=1`);
  await panel.go(`/s/${session}?at=${head - 1}`);
  await pressUntil("Tab", '[role="row"]');
  await press("ArrowDown", "[");
  await page.waitForURL((url) => url.searchParams.get("at") === `${head - 2}`);
  await press("Enter");
  await page.waitForURL((url) => url.searchParams.has("block"));
  expect(new URL(page.url()).searchParams.get("at")).toBe(`${head - 2}`);
  // The past is read-only: what undoes is not offered there.
  await press("z");
  expect(await page.getByText(/^Taken back/).count()).toBe(0);
  await press("]");
  await page.waitForURL((url) => url.searchParams.get("at") === `${head - 1}`);
  expect(new URL(page.url()).searchParams.has("block")).toBe(true);
}, 60_000);

test("arrows go through a choice that has the focus, and not through the list", async () => {
  await panel.go(`/s/${session}`);
  await pressUntil("Tab", ".timeline select");
  await press("ArrowDown");
  expect(await page.locator(".timeline select").inputValue()).toBe("4");
  expect(await page.locator('[role="row"][aria-selected="true"]').count()).toBe(0);
}, 60_000);

test("requests are gone through, one is opened, compared and closed", async () => {
  await panel.go(`/s/${session}`);
  await press("g", "r");
  await page.waitForURL("**/requests");
  await page.locator(".request-row").first().waitFor();
  await press("j", "j", "Enter");
  await page.waitForURL(/requests\/\d+/);
  await press("d");
  expect(await page.getByRole("checkbox", { name: /request before/ }).isChecked()).toBe(true);
  await press("Escape");
  await page.waitForURL("**/requests");
}, 60_000);

test("the palette finds a command, the help lists the keys, and both let go of the focus", async () => {
  await panel.go(`/s/${session}`);
  await press("Control+k");
  await page.getByRole("combobox", { name: "Find a command" }).waitFor();
  await page.keyboard.type("go to sess");
  await press("Enter");
  await page.waitForURL(`${rig().url}/`);
  await press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  expect(await barriersIn(page)).toEqual([]);
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}, 60_000);

test("a dialog keeps the focus inside", async () => {
  await panel.go(`/s/${session}`);
  await pressUntil("Tab", '[role="row"]');
  // The first rows are the client's own, and cannot be shown otherwise; others are pinned.
  await press("ArrowDown", "c");
  await heard("The client sends it in front of every request");
  await press("Home", "ArrowDown", "ArrowDown", "ArrowDown", "c");
  await page.getByRole("dialog").waitFor();
  for (let n = 0; n < 25; n += 1) {
    await press("Tab");
    const isInside = await page.evaluate(
      () => document.activeElement === document.body || document.activeElement?.closest("dialog") !== null,
    );
    expect(isInside).toBe(true);
  }
  expect(await barriersIn(page)).toEqual([]);
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}, 60_000);

test("single letters can be switched off", async () => {
  await press("?");
  await pressUntil("Tab", "dialog input[type=checkbox]");
  await press("Space", "Escape", "g", "s");
  expect(new URL(page.url()).pathname).toBe(`/s/${session}`);
}, 60_000);

test("nothing went wrong on the way", async () => {
  await panel.close();
});
