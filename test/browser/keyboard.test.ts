// The whole flow by keyboard: no test here uses a mouse.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { StateRow } from "../../src/queries/answers/index.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { type Panel, setUpPanel, waitUntilSettled } from "./panel-setup.ts";
import { createSampleSession } from "./sample-session.ts";

const setup = setUpPanel();
let session = "";
let panel: Panel;
let page: Page;

beforeAll(async () => {
  ({ session } = await createSampleSession(setup()));
  panel = await setup().open();
  page = panel.page;
}, 60_000);

const press = async (...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Presses a key until the focused element matches, at most `times` times. */
async function pressUntil(key: string, selector: string, times = 40): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
    await press(key);
  }
  const where = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
  throw new Error(`${key} never reached ${selector}; the focus is on ${where}`);
}
const shown = (words: RegExp | string) => page.getByText(words).first().waitFor();

test("selects, archives, undoes and redoes", async () => {
  await panel.go("/");
  await pressUntil("Tab", "a.session-row");
  await press("Enter");
  await page.waitForURL(`**/s/${session}`);
  await waitUntilSettled(page);
  await pressUntil("Tab", '[role="row"]');
  await press("ArrowDown", "ArrowDown", "ArrowDown", "Space", "Shift+ArrowDown", "Shift+ArrowDown");
  await shown("3 blocks chosen");
  await press("s");
  await shown(/\[user-selected\] #\d+ #\d+ #\d+/);
  await press("a");
  await page.getByRole("dialog").getByText("frees").waitFor();
  await pressUntil("Tab", "dialog .button.primary:not([disabled])");
  await press("Enter");
  await shown(/^You archived/);
  await press("z");
  await shown(/^Undone/);
  await press("Shift+Z");
  await shown(/^Redone/);
}, 60_000);

test("opens and closes the inspector", async () => {
  await panel.go(`/s/${session}`);
  await pressUntil("Tab", '[role="row"]');
  await press("ArrowDown", "Enter");
  // The tabs come with the block; the heading is there before.
  await page.locator('.inspector [role="tab"]').first().waitFor();
  await pressUntil("Tab", '.inspector [role="tab"]');
  await press("ArrowRight");
  expect(await page.locator('.inspector [role="tab"][aria-selected="true"]').innerText()).not.toBe("text");
  await pressUntil("Shift+Tab", 'button[aria-label="Close the inspector"]');
  await press("Enter");
  await page.locator(".inspector").waitFor({ state: "detached" });
}, 60_000);

test("decides an approval", async () => {
  await press("g", "a");
  await page.waitForURL(`**/approvals`);
  await shown("1 command waiting");
  await press("n");
  await shown("No command waits for you");
}, 60_000);

test("steps into the past and back", async () => {
  await press("g", "c");
  await page.getByRole("grid").waitFor();
  await press("[", "[");
  await page.waitForURL(/at=\d+/);
  await press(".");
  await page.waitForURL((url) => !url.search.includes("at="));
}, 60_000);

test("opens a block of the past in the past", async () => {
  const { head } = await setup().api<StateRow>(`/sessions/${session}/state?rows=1`);
  await panel.go(`/s/${session}?at=${head - 1}`);
  await pressUntil("Tab", '[role="row"]');
  await press("ArrowDown", "[");
  await page.waitForURL((url) => url.searchParams.get("at") === `${head - 2}`);
  await press("Enter");
  await page.waitForURL((url) => url.searchParams.has("block"));
  expect(new URL(page.url()).searchParams.get("at")).toBe(`${head - 2}`);
  // The past is read-only, so undo is not available.
  await press("z");
  expect(await page.getByText(/^Undone/).count()).toBe(0);
  await press("]");
  await page.waitForURL((url) => url.searchParams.get("at") === `${head - 1}`);
  expect(new URL(page.url()).searchParams.has("block")).toBe(true);
}, 60_000);

test("arrows in a focused select do not move the list", async () => {
  await panel.go(`/s/${session}`);
  await pressUntil("Tab", ".timeline select");
  await press("ArrowDown");
  expect(await page.locator(".timeline select").inputValue()).toBe("4");
  expect(await page.locator('[role="row"][aria-selected="true"]').count()).toBe(0);
}, 60_000);

test("opens, compares and closes a request", async () => {
  await panel.go(`/s/${session}`);
  await press("g", "r");
  await page.waitForURL("**/requests");
  await page.locator(".request-row").first().waitFor();
  await press("j", "j", "Enter");
  await page.waitForURL(/requests\/\d+/);
  await press("d");
  expect(await page.getByRole("checkbox", { name: /previous request/ }).isChecked()).toBe(true);
  await press("Escape");
  await page.waitForURL("**/requests");
}, 60_000);

test("the palette runs a command, the help lists the keys", async () => {
  await panel.go(`/s/${session}`);
  await press("Control+k");
  await page.getByRole("combobox", { name: "Find a command" }).waitFor();
  await page.keyboard.type("go to sess");
  await press("Enter");
  await page.waitForURL(`${setup().url}/`);
  await press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}, 60_000);

test("a dialog keeps the focus", async () => {
  await panel.go(`/s/${session}`);
  await pressUntil("Tab", '[role="row"]');
  // The client's system text cannot be compressed.
  await press("ArrowDown", "c");
  await shown("The client sends it with every request");
  await press("Home", "ArrowDown", "ArrowDown", "ArrowDown", "c");
  await page.getByRole("dialog").waitFor();
  for (let n = 0; n < 25; n += 1) {
    await press("Tab");
    const isInside = await page.evaluate(
      () => document.activeElement === document.body || document.activeElement?.closest("dialog") !== null,
    );
    expect(isInside).toBe(true);
  }
  expect(await accessibilityViolations(page)).toEqual([]);
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}, 60_000);

test("single letters can be switched off", async () => {
  await press("?");
  await pressUntil("Tab", "dialog input[type=checkbox]");
  await press("Space", "Escape", "g", "s");
  expect(new URL(page.url()).pathname).toBe(`/s/${session}`);
}, 60_000);

test("the page reported no errors", async () => {
  await panel.close();
});
