// Actions on blocks: preview with price, undo, locks with a reason, and the effect upstream.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { PricedRequests } from "../../src/control/index.ts";
import type { BlockDetail, StateRow, StepsPage } from "../../src/queries/answers/index.ts";
import type { Client } from "./client.ts";
import { type Panel, setUpPanel, waitUntilSettled } from "./panel-setup.ts";
import { blockWith, call, createSampleSession, sampleModel, text } from "./sample-session.ts";

const setup = setUpPanel();
let session = "";
let client: Client;
let panel: Panel;
let page: Page;

beforeAll(async () => {
  ({ session, client } = await createSampleSession(setup()));
  await setup().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "auto" } });
  panel = await setup().open();
  page = panel.page;
}, 180_000);

const result = (words: string) => blockWith(setup(), session, "tool-result", words);
const toast = (words: RegExp) => page.locator(".toast", { hasText: words }).first().waitFor();

async function choose(block: number): Promise<void> {
  await panel.go(`/s/${session}?block=${block}`);
  await page.getByRole("searchbox", { name: "Filter the blocks" }).fill(`#${block}`);
  await page.locator(`.row[data-block="${block}"]`).click();
}
async function chooseBoth(...blocks: readonly [number, number]): Promise<void> {
  await panel.go(`/s/${session}`);
  for (const n of blocks) await page.locator(`.row[data-block="${n}"]`).click({ modifiers: ["Control"] });
}

/** The first user message, which is long. */
const firstWords = () => blockWith(setup(), session, "user", "Users are logged out");
const press = (name: string | RegExp) => page.locator(".action-bar").getByRole("button", { name }).click();

/** Waits for the response of a command: later requests depend on it. */
async function waitForCommand(run: () => Promise<void>): Promise<void> {
  await Promise.all([page.waitForResponse(/\/ops/), run()]);
}

/** Presses the default button of the dialog. */
const apply = () =>
  waitForCommand(() =>
    page
      .getByRole("dialog")
      .getByRole("button", { name: /cache break|^Apply$/ })
      .click(),
  );

async function rowsOf(...blocks: readonly number[]) {
  const state = await setup().api<StateRow>(`/sessions/${session}/state`);
  return blocks.map((block) => state.blocks.find(({ n }) => n === block));
}

async function send(prompt: string): Promise<string> {
  await client.send(prompt, { model: sampleModel });
  await setup().recorded();
  return setup().exchanges().at(-1)?.body.toString() ?? "";
}

test("a locked action says why", async () => {
  await choose(await result("session.ts"));
  for (const name of [/^Compress/, /^Archive/]) {
    const button = page.locator(".action-bar").getByRole("button", { name });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await button.getAttribute("title")).toBe("Pinned: unpin it first");
  }
}, 30_000);

test("skipped blocks with one reason share a line", async () => {
  await chooseBoth(await firstWords(), await result("session.ts"));
  await press(/^Compress/);
  const dialog = page.getByRole("dialog");
  const lines = dialog.getByRole("list", { name: "Not changed" }).getByRole("listitem");
  await lines.first().waitFor();
  expect(await lines.allTextContents()).toEqual([
    expect.stringMatching(/#\d+\.\.#\d+: #\d+ is pinned; unpin it first\.$/),
  ]);
  expect(await dialog.getByRole("button", { name: /cache break|^Apply$/ }).isDisabled()).toBe(false);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}, 30_000);

test("recall finds blocks and writes nothing", async () => {
  await panel.go(`/s/${session}`);
  const { seq } = await setup().api<{ readonly seq: number }>(`/sessions/${session}/state`);
  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Words to recall").fill("tokenStep7");
  await page.keyboard.press("Enter");
  await dialog.getByRole("region", { name: "Search result" }).getByText("tokenStep7").waitFor();
  expect((await setup().api<{ readonly seq: number }>(`/sessions/${session}/state`)).seq).toBe(seq);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}, 30_000);

test("compress shows the size of several blocks at each level", async () => {
  await chooseBoth(await firstWords(), await result("session.ts"));
  await press(/^Compress/);
  const sizes = page.getByRole("dialog").locator(".choices .size");
  await expect.poll(async () => (await sizes.first().textContent()) ?? "").toMatch(/^~[\d.]+k?$/);
  await page.keyboard.press("Escape");
}, 30_000);

test("compress applies a level now, for its price", async () => {
  const block = await firstWords();
  await choose(block);
  await press(/^Compress/);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: /trimmed/ }).check();
  await dialog.locator("pre").waitFor();
  await dialog.getByText(/once while the cache is warm/).waitFor();
  await waitForCommand(() => dialog.getByRole("button", { name: /^Apply now \(\$/ }).click());
  await toast(/^You trimmed/);
  await send("Go on with less of it.");
  const { rows } = await setup().api<PricedRequests>(`/sessions/${session}/requests?limit=1000`);
  const last = rows.findLast(({ rewrite }) => rewrite !== null)?.rewrite;
  expect(last).toMatchObject({ reason: "user" });
  expect(last?.blocks).toContain(block);
  await waitUntilSettled(page);
}, 60_000);

test("a pin is announced, undone and redone", async () => {
  await choose(await result("package.json"));
  await press("Pin p");
  await toast(/^You pinned/);
  await page.keyboard.press("z");
  await toast(/^Undone/);
  await page.keyboard.press("Shift+Z");
  await toast(/^Redone/);
}, 30_000);

test("a refused undo names the later frame", async () => {
  await choose(await result("package.json"));
  await press(/^Unpin/);
  await toast(/^You unpinned/);
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  panel.problems.expects(/409 \(Conflict\)/);
  const line = page.locator(".activity li", { hasText: "You pinned" }).first();
  await line.getByRole("button", { name: "Undo" }).click();
  const alert = page.locator('.toast[role="alert"]');
  expect(await alert.first().textContent()).toMatch(/frame \d+ has changed/);
  await page.keyboard.press("Escape");
}, 30_000);

test("withheld content is not sent until it is released", async () => {
  const block = await result("token.ts");
  await choose(block);
  await press(/^Withhold/);
  await apply();
  await toast(/^You withheld/);
  const body = await send("Do you still know it?");
  expect(body.includes("tokenStep42")).toBe(false);
  await choose(block);
  await press(/^Release/);
  await apply();
  await toast(/^You released/);
}, 60_000);

test("a compressed block is restored whole", async () => {
  const block = await firstWords();
  expect(await rowsOf(block)).toMatchObject([{ wanted: "trimmed" }]);
  await choose(block);
  await press(/^Restore/);
  await apply();
  await toast(/^You restored/);
  expect(await rowsOf(block)).toMatchObject([{ wanted: "original" }]);
}, 30_000);

test("an archived block is restored", async () => {
  const block = await result("auth.md");
  expect(await rowsOf(block)).toMatchObject([{ state: "archived" }]);
  await choose(block);
  await press(/^Restore/);
  await apply();
  await toast(/^You restored/);
  expect((await rowsOf(block))[0]?.state).not.toBe("archived");
}, 30_000);

test("a block is pinned to the end", async () => {
  const block = await result("package.json");
  await choose(block);
  await waitForCommand(() => press(/^Pin to the end/));
  await toast(/^You pinned/);
  expect(await rowsOf(block)).toMatchObject([{ pinned: true, zone: "recency" }]);
  await waitForCommand(() => press(/^Unpin/));
}, 30_000);

test("shortcuts work after a click on a checkbox", async () => {
  const block = await result("package.json");
  await panel.go(`/s/${session}`);
  await page.getByRole("searchbox", { name: "Filter the blocks" }).fill(`#${block}`);
  await page.getByRole("checkbox", { name: `Choose block ${block}` }).click();
  await waitForCommand(() => page.keyboard.press("p"));
  expect(await rowsOf(block)).toMatchObject([{ pinned: true }]);
  await page.getByRole("checkbox", { name: `Choose block ${block}` }).press("Space");
  await page.locator(".action-bar").waitFor({ state: "detached" });
  await setup().api(`/sessions/${session}/undo`, { method: "POST", body: {} });
}, 30_000);

const pin = (block: number) =>
  setup().api(`/sessions/${session}/ops`, {
    method: "POST",
    body: { command: { verb: "pin", target: `${block}` } },
  });
const undoButton = () => page.locator(".status-bar").getByRole("button", { name: "Undo" });
const lastStepText = () => page.locator(".status-text").innerText();

test("undo reverses the step that is shown, not a newer one", async () => {
  const [shown, other] = [
    await result("package.json"),
    await blockWith(setup(), session, "user", "Keep what matters"),
  ];
  let release = (): void => undefined;
  const held = new Promise<void>((done) => {
    release = done;
  });
  let isHeld = false;
  let passing = 0;
  await page.route("**/steps?*", async (route) => {
    if (isHeld) {
      await held;
      return await route.continue();
    }
    passing += 1;
    await route.fulfill({ response: await route.fetch() });
    passing -= 1;
  });
  await panel.go(`/s/${session}`);
  await pin(shown);
  await toast(/^You pinned/);
  isHeld = true;
  await expect.poll(() => passing).toBe(0);
  await pin(other);
  await Promise.all([page.waitForResponse(/\/undo$/), undoButton().click()]);
  release();
  await page.unrouteAll({ behavior: "wait" });
  expect(await rowsOf(shown, other)).toMatchObject([{ pinned: false }, { pinned: true }]);
  await toast(/^Undone/);
}, 30_000);

test("a double click undoes one step", async () => {
  const blocks = [await result("package.json"), await blockWith(setup(), session, "user", "Fix it.")];
  await panel.go(`/s/${session}`);
  for (const block of blocks) await pin(block);
  await expect.poll(lastStepText).toContain(`#${blocks[1]}`);
  const done = async () => {
    const { rows } = await setup().api<StepsPage>(`/sessions/${session}/steps?limit=1000`);
    return rows.filter((row) => row.done).length;
  };
  const before = await done();
  let undoRequests = 0;
  page.on("request", (request) => {
    undoRequests += request.url().endsWith("/undo") ? 1 : 0;
  });
  await undoButton().dblclick();
  await toast(/^Undone/);
  expect([undoRequests, await done()]).toEqual([1, before - 1]);
  await expect.poll(lastStepText).not.toContain(`#${blocks[1]}`);
  await undoButton().click();
  await expect.poll(done).toBe(before - 2);
}, 30_000);

test("a growing turn of the model replaces its toast", async () => {
  const block = await result("package.json");
  await panel.go(`/s/${session}`);
  await page.locator(".status-text").waitFor();
  setup().script(
    [call("aperture_manage", { verb: "focus", target: `${block}` })],
    [call("aperture_note", { verb: "create", topic: "suite", text: "The suite runs with npm test." })],
    [text("Done.")],
  );
  await send("Keep an eye on it.");
  await toast(/^Claude focused 2 blocks, added/);
  expect(await page.locator(".toast", { hasText: /^Claude/ }).count()).toBe(1);
  await setup().api(`/sessions/${session}/undo`, { method: "POST", body: {} });
}, 60_000);

test("a memory is created and listed", async () => {
  await panel.go(`/s/${session}`);
  await page.keyboard.press("m");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Topic").fill("deploys");
  await dialog.getByLabel("Text", { exact: true }).fill("Deploys happen on Tuesdays.");
  await dialog.getByText("nothing; adds a memory").waitFor();
  await dialog.getByRole("button", { name: "Create" }).click();
  await toast(/^You added/);
  await page.getByRole("searchbox", { name: "Filter the blocks" }).fill("kind:memory");
  await page.locator(".row", { hasText: "deploys" }).waitFor();
}, 30_000);

test("an update replaces a memory", async () => {
  const newest = async () => {
    const { blocks } = await setup().api<StateRow>(`/sessions/${session}/state`);
    return blocks.findLast(({ kind }) => kind === "memory")?.n ?? 0;
  };
  const before = await newest();
  await choose(before);
  await press("Update");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("New text").fill("Deploys happen on Fridays.");
  await dialog.getByText("changes", { exact: true }).waitFor();
  await waitForCommand(() => dialog.getByRole("button", { name: "Update" }).click());
  await expect.poll(newest).not.toBe(before);
  const { content } = await setup().api<BlockDetail>(`/sessions/${session}/blocks/${await newest()}`);
  expect(content?.text).toContain("Fridays");
}, 30_000);

test("a purge needs its word typed and erases the content", async () => {
  const block = await result("auth.md");
  await choose(block);
  await press("Purge");
  const dialog = page.getByRole("dialog");
  const button = dialog.getByRole("button", { name: /^Purge/ });
  await dialog.getByText("changes").waitFor();
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type/).fill("purge");
  await button.click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect
    .poll(async () => {
      type Detail = { readonly problem: string | null };
      return (await setup().api<Detail>(`/sessions/${session}/blocks/${block}`)).problem;
    })
    .toBe("AP_CONTENT_PURGED");
}, 30_000);

test("a seq is restored after its list of steps is shown", async () => {
  type State = { readonly seq: number; readonly blocks: readonly { n: number; pinned: boolean }[] };
  const path = `/sessions/${session}`;
  const state = () => setup().api<State>(`${path}/state`);
  const { seq, blocks } = await state();
  const target = `${blocks.find(({ pinned }) => !pinned)?.n}`;
  await setup().api(`${path}/ops`, { method: "POST", body: { command: { verb: "pin", target } } });
  await panel.go(`/s/${session}?at=${seq}`);
  await page.getByRole("button", { name: "Fork from here…" }).click();
  await page.getByRole("dialog").getByText(`aperture fork ${session} --at ${seq} --to claude`).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Restore…" }).click();
  const dialog = page.getByRole("dialog", { name: `Restore seq ${seq}` });
  await dialog.getByText(`Undo: You pinned #${target}`).waitFor();
  await dialog.getByRole("button", { name: "Restore" }).click();
  await toast(/^Restored seq/);
  expect((await state()).blocks.map(({ pinned }) => pinned)).toEqual(blocks.map(({ pinned }) => pinned));
}, 30_000);

test("a mode switch that breaks the cache shows its price first", async () => {
  await panel.go(`/s/${session}`);
  await page.getByText("observe", { exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Switch to observe" });
  expect(await dialog.innerText()).toMatch(/about [\d.]+k cached\s+tokens again.*\$0\.\d+ once/s);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const { mode } = await setup().api<{ readonly mode: string }>(`/sessions/${session}/mode`);
  expect(mode).toBe("auto");
});

test("a mode switch explains the mode", async () => {
  await panel.go(`/s/${session}`);
  await page.getByText("ask", { exact: true }).click();
  await toast(/^Mode ask from the next request on: every command/);
  await panel.close();
}, 30_000);
