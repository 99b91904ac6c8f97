// What a person does to the context: with its price first, undone, refused with a reason, and seen upstream.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { PricedRequests } from "../../src/control/index.ts";
import type { BlockDetail, StateRow, StepsPage } from "../../src/queries/answers/index.ts";
import type { Client } from "./client.ts";
import { type Panel, panelRig, settled } from "./rig.ts";
import { blockWith, call, storyModel, tellStory, text } from "./story.ts";

const rig = panelRig();
let session = "";
let client: Client;
let panel: Panel;
let page: Page;

beforeAll(async () => {
  ({ session, client } = await tellStory(rig()));
  await rig().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "auto" } });
  panel = await rig().open();
  page = panel.page;
}, 180_000);

const result = (words: string) => blockWith(rig(), session, "tool-result", words);
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

/** What the user said first, at length. */
const firstWords = () => blockWith(rig(), session, "user", "Users are logged out");
const press = (name: string | RegExp) => page.locator(".action-bar").getByRole("button", { name }).click();

/** What is on the screen may be there before the answer is; what goes upstream follows the answer. */
async function answered(doing: () => Promise<void>): Promise<void> {
  await Promise.all([page.waitForResponse(/\/ops/), doing()]);
}

/** As it is proposed: with the next cache break, or at once where there is nothing to break. */
const apply = () =>
  answered(() =>
    page
      .getByRole("dialog")
      .getByRole("button", { name: /cache break|^Apply$/ })
      .click(),
  );

async function rowsOf(...blocks: readonly number[]) {
  const state = await rig().api<StateRow>(`/sessions/${session}/state`);
  return blocks.map((block) => state.blocks.find(({ n }) => n === block));
}

async function say(prompt: string): Promise<string> {
  await client.say(prompt, { model: storyModel });
  await rig().recorded();
  return rig().exchanges().at(-1)?.body.toString() ?? "";
}

test("what is locked says why, and cannot be done", async () => {
  await choose(await result("session.ts"));
  for (const name of [/^Compress/, /^Archive/]) {
    const button = page.locator(".action-bar").getByRole("button", { name });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await button.getAttribute("title")).toBe("Pinned: unpin it first");
  }
}, 30_000);

test("what is left alone for one reason is one line, and the rest can be done", async () => {
  await chooseBoth(await firstWords(), await result("session.ts"));
  await press(/^Compress/);
  const dialog = page.getByRole("dialog");
  const lines = dialog.getByRole("list", { name: "Left alone" }).getByRole("listitem");
  await lines.first().waitFor();
  expect(await lines.allTextContents()).toEqual([
    expect.stringMatching(/#\d+\.\.#\d+: #\d+ is pinned; unpin it first\.$/),
  ]);
  expect(await dialog.getByRole("button", { name: /cache break|^Apply$/ }).isDisabled()).toBe(false);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}, 30_000);

test("recall finds what the model would find, and nothing is written for it", async () => {
  await panel.go(`/s/${session}`);
  const { seq } = await rig().api<{ readonly seq: number }>(`/sessions/${session}/state`);
  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Words to recall").fill("tokenStep7");
  await page.keyboard.press("Enter");
  await dialog.getByRole("region", { name: "What was found" }).getByText("tokenStep7").waitFor();
  expect((await rig().api<{ readonly seq: number }>(`/sessions/${session}/state`)).seq).toBe(seq);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}, 30_000);

test("of several blocks, too, the size at each level is known before one is chosen", async () => {
  await chooseBoth(await firstWords(), await result("session.ts"));
  await press(/^Compress/);
  const sizes = page.getByRole("dialog").locator(".choices .size");
  await expect.poll(async () => (await sizes.first().textContent()) ?? "").toMatch(/^~[\d.]+k?$/);
  await page.keyboard.press("Escape");
}, 30_000);

test("levels are looked at before one is chosen, and shown now if the user wants to pay", async () => {
  const block = await firstWords();
  await choose(block);
  await press(/^Compress/);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: /trimmed/ }).check();
  await dialog.locator("pre").waitFor();
  await dialog.getByText(/once while the cache is warm/).waitFor();
  await answered(() => dialog.getByRole("button", { name: /^Apply now \(\$/ }).click());
  await toast(/^You trimmed/);
  await say("Go on with less of it.");
  const { rows } = await rig().api<PricedRequests>(`/sessions/${session}/requests?limit=1000`);
  const last = rows.findLast(({ rewrite }) => rewrite !== null)?.rewrite;
  expect(last).toMatchObject({ reason: "user" });
  expect(last?.blocks).toContain(block);
  await settled(page);
}, 60_000);

test("a pin is said, taken back, and taken up again", async () => {
  await choose(await result("package.json"));
  await press("Pin p");
  await toast(/^You pinned/);
  await page.keyboard.press("z");
  await toast(/^Taken back/);
  await page.keyboard.press("Shift+Z");
  await toast(/^Done again/);
}, 30_000);

test("what was changed since cannot be taken back: the frame that did it is named", async () => {
  await choose(await result("package.json"));
  await press(/^Unpin/);
  await toast(/^You unpinned/);
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  panel.troubles.expects(/409 \(Conflict\)/);
  const line = page.locator(".activity li", { hasText: "You pinned" }).first();
  await line.getByRole("button", { name: "Undo" }).click();
  const alert = page.locator('.toast[role="alert"]');
  expect(await alert.first().textContent()).toMatch(/frame \d+ has changed/);
  await page.keyboard.press("Escape");
}, 30_000);

test("withheld content is sent no more, until it is released", async () => {
  const block = await result("token.ts");
  await choose(block);
  await press(/^Withhold/);
  await apply();
  await toast(/^You withheld/);
  const body = await say("Do you still know it?");
  expect(body.includes("tokenStep42")).toBe(false);
  await choose(block);
  await press(/^Release/);
  await apply();
  await toast(/^You released/);
}, 60_000);

test("what is shown shorter is wanted whole again", async () => {
  const block = await firstWords();
  expect(await rowsOf(block)).toMatchObject([{ wanted: "trimmed" }]);
  await choose(block);
  await press(/^Expand/);
  await apply();
  await toast(/wanted whole/);
  expect(await rowsOf(block)).toMatchObject([{ wanted: "original" }]);
}, 30_000);

test("what was archived is brought back", async () => {
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
  await answered(() => press(/^Pin to the end/));
  await toast(/^You pinned/);
  expect(await rowsOf(block)).toMatchObject([{ pinned: true, zone: "recency" }]);
  await answered(() => press(/^Unpin/));
}, 30_000);

test("a key is heard behind a click on the box of a row", async () => {
  const block = await result("package.json");
  await panel.go(`/s/${session}`);
  await page.getByRole("searchbox", { name: "Filter the blocks" }).fill(`#${block}`);
  await page.getByRole("checkbox", { name: `Select block ${block}` }).click();
  await answered(() => page.keyboard.press("p"));
  expect(await rowsOf(block)).toMatchObject([{ pinned: true }]);
  await page.getByRole("checkbox", { name: `Select block ${block}` }).press("Space");
  await page.locator(".action-bar").waitFor({ state: "detached" });
  await rig().api(`/sessions/${session}/undo`, { method: "POST", body: {} });
}, 30_000);

const pinned = (block: number) =>
  rig().api(`/sessions/${session}/ops`, {
    method: "POST",
    body: { command: { verb: "pin", target: `${block}` } },
  });
const undoButton = () => page.locator(".status-bar").getByRole("button", { name: "Undo" });
const lastWords = () => page.locator(".status-words").innerText();

test("undo takes back the step that is shown, and not one that came meanwhile", async () => {
  const [shown, other] = [
    await result("package.json"),
    await blockWith(rig(), session, "user", "Keep what matters"),
  ];
  await panel.go(`/s/${session}`);
  await pinned(shown);
  await toast(/^You pinned/);
  let release = (): void => undefined;
  const held = new Promise<void>((done) => {
    release = done;
  });
  await page.route("**/steps?*", async (route) => {
    await held;
    await route.continue();
  });
  await pinned(other);
  await Promise.all([page.waitForResponse(/\/undo$/), undoButton().click()]);
  release();
  await page.unrouteAll({ behavior: "wait" });
  expect(await rowsOf(shown, other)).toMatchObject([{ pinned: false }, { pinned: true }]);
  await toast(/^Taken back/);
}, 30_000);

test("two clicks are one undo", async () => {
  const blocks = [await result("package.json"), await blockWith(rig(), session, "user", "Fix it.")];
  await panel.go(`/s/${session}`);
  for (const block of blocks) await pinned(block);
  await expect.poll(lastWords).toContain(`#${blocks[1]}`);
  const done = async () => {
    const { rows } = await rig().api<StepsPage>(`/sessions/${session}/steps?limit=1000`);
    return rows.filter((row) => row.done).length;
  };
  const before = await done();
  let asked = 0;
  page.on("request", (request) => {
    asked += request.url().endsWith("/undo") ? 1 : 0;
  });
  await undoButton().dblclick();
  await toast(/^Taken back/);
  expect([asked, await done()]).toEqual([1, before - 1]);
  await expect.poll(lastWords).not.toContain(`#${blocks[1]}`);
  await undoButton().click();
  await expect.poll(done).toBe(before - 2);
}, 30_000);

test("a turn of the model that goes on is said anew, in the place of what was said of it", async () => {
  const block = await result("package.json");
  await panel.go(`/s/${session}`);
  await page.locator(".status-words").waitFor();
  rig().script(
    [call("aperture_manage", { verb: "focus", target: `${block}` })],
    [call("aperture_note", { verb: "create", topic: "suite", text: "The suite runs with npm test." })],
    [text("Done.")],
  );
  await say("Keep an eye on it.");
  await toast(/^Claude focused 2 blocks, added/);
  expect(await page.locator(".toast", { hasText: /^Claude/ }).count()).toBe(1);
  await rig().api(`/sessions/${session}/undo`, { method: "POST", body: {} });
}, 60_000);

test("a memory is made, and stands in the list", async () => {
  await panel.go(`/s/${session}`);
  await page.keyboard.press("m");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Topic").fill("deploys");
  await dialog.getByLabel("What is to be remembered").fill("Deploys happen on Tuesdays.");
  await dialog.getByText("nothing; a memory is added").waitFor();
  await dialog.getByRole("button", { name: "Create" }).click();
  await toast(/^You added/);
  await page.getByRole("searchbox", { name: "Filter the blocks" }).fill("kind:memory");
  await page.locator(".row", { hasText: "deploys" }).waitFor();
}, 30_000);

test("a memory is updated: other words stand in its place", async () => {
  const newest = async () => {
    const { blocks } = await rig().api<StateRow>(`/sessions/${session}/state`);
    return blocks.findLast(({ kind }) => kind === "memory")?.n ?? 0;
  };
  const before = await newest();
  await choose(before);
  await press("Update");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What holds now").fill("Deploys happen on Fridays.");
  await dialog.getByText("changes", { exact: true }).waitFor();
  await answered(() => dialog.getByRole("button", { name: "Update" }).click());
  await expect.poll(newest).not.toBe(before);
  const { content } = await rig().api<BlockDetail>(`/sessions/${session}/blocks/${await newest()}`);
  expect(content?.text).toContain("Fridays");
}, 30_000);

test("a purge wants its word typed, and erases", async () => {
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
      return (await rig().api<Detail>(`/sessions/${session}/blocks/${block}`)).problem;
    })
    .toBe("AP_CONTENT_PURGED");
}, 30_000);

test("what held at a seq is restored from there, after a list of what that takes back", async () => {
  type State = { readonly seq: number; readonly blocks: readonly { n: number; pinned: boolean }[] };
  const path = `/sessions/${session}`;
  const state = () => rig().api<State>(`${path}/state`);
  const { seq, blocks } = await state();
  const target = `${blocks.find(({ pinned }) => !pinned)?.n}`;
  await rig().api(`${path}/ops`, { method: "POST", body: { command: { verb: "pin", target } } });
  await panel.go(`/s/${session}?at=${seq}`);
  await page.getByRole("button", { name: "Fork from here…" }).click();
  await page.getByRole("dialog").getByText(`aperture fork ${session} --at ${seq} --to claude`).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Restore…" }).click();
  const dialog = page.getByRole("dialog", { name: `Restore what held at seq ${seq}` });
  await dialog.getByText(`Take back: You pinned #${target}`).waitFor();
  await dialog.getByRole("button", { name: "Restore" }).click();
  await toast(/^Restored what held at seq/);
  expect((await state()).blocks.map(({ pinned }) => pinned)).toEqual(blocks.map(({ pinned }) => pinned));
}, 30_000);

test("a mode that changes how the prompt begins says first what that costs", async () => {
  await panel.go(`/s/${session}`);
  await page.getByText("observe", { exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Switch to observe" });
  expect(await dialog.innerText()).toMatch(/about [\d.]+k tokens anew.*\$0\.\d+ more, once/s);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const { mode } = await rig().api<{ readonly mode: string }>(`/sessions/${session}/mode`);
  expect(mode).toBe("auto");
});

test("a mode says what it means when it is set", async () => {
  await panel.go(`/s/${session}`);
  await page.getByText("ask", { exact: true }).click();
  await toast(/^Mode ask from the next request on: every command/);
  await panel.close();
}, 30_000);
