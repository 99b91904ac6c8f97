// The context screen: strip, filter, past, manifest and inspector agree with the API.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { ManifestAnswer, StateRow } from "../../src/queries/answers/index.ts";
import { type Panel, setUpPanel } from "./panel-setup.ts";
import { blockWith, createSampleSession } from "./sample-session.ts";

const setup = setUpPanel();
let session = "";
let panel: Panel;
let page: Page;

beforeAll(async () => {
  ({ session } = await createSampleSession(setup()));
  panel = await setup().open();
  page = panel.page;
}, 180_000);

const state = (query = "") => setup().api<StateRow>(`/sessions/${session}/state${query}`);
const open = (query = "") => panel.go(`/s/${session}${query}`);

describe("the filter", () => {
  test("finds rows by topic, also rows that were never visible", async () => {
    await open();
    await page.setViewportSize({ width: 1_280, height: 420 });
    const filter = page.getByLabel("Filter the blocks");
    const rows = page.getByRole("grid").getByRole("row");
    await filter.fill("package.json");
    await page.locator(".filter-count .loading").waitFor({ state: "detached" });
    // The call and its result.
    await page.getByText(/^2 of \d+$/).waitFor();
    expect(await rows.count()).toBe(2);
    for (const row of await rows.all()) expect(await row.innerText()).toContain("package.json");
    // A memory is found by its topic.
    await filter.fill('topic:"refresh bug" kind:memory');
    await page.getByText(/^1 of \d+$/).waitFor();
    await filter.fill("");
    await page.setViewportSize({ width: 1_280, height: 800 });
  });
});

describe("the strip", () => {
  test("has a legend with the numbers of the API", async () => {
    const { marks } = await state();
    await open();
    const legend = page.getByRole("list", { name: "Marks of the strip" });
    const cached = ((marks.cached?.tokens ?? 0) / 1_000).toFixed(1);
    expect(await legend.textContent()).toContain(`cached prefix ${cached}k`);
    // The expiry of the cache is read after the state.
    await legend.getByText(/hit, (?:\d+:\d\d left|expired)\)/).waitFor();
    const ahead = ((marks.forecast?.next.at(-1) ?? 0) / 1_000).toFixed(1);
    expect(await legend.textContent()).toContain(`in 5 turns ~${ahead}k`);
    expect(await legend.textContent()).toContain("reserved for the answer");
  });

  test("has a table with a row for each part", async () => {
    const { strip, otherTokens, cold } = await state();
    await open();
    await page.getByText("Show as a table").click();
    const rows = page.locator(".strip-table tbody tr");
    const parts = strip.length + 1 + (otherTokens > 0 ? 1 : 0) + (cold.blocks > 0 ? 1 : 0);
    expect(await rows.count()).toBe(parts);
  });

  test("a drag chooses the blocks under it", async () => {
    await open();
    const box = await page.locator(".strip-picture").boundingBox();
    if (box === null) throw new Error("the strip is there");
    await page.mouse.move(box.x + 4, box.y + 12);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 12, { steps: 4 });
    await page.mouse.up();
    const { blocks } = await state();
    const words = await page.locator(".action-count").textContent();
    const chosen = Number(/^(\d+) blocks chosen/.exec(words ?? "")?.[1]);
    expect(chosen).toBeGreaterThan(5);
    expect(chosen).toBeLessThanOrEqual(blocks.filter(({ counted }) => counted).length);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.locator(".action-bar").waitFor({ state: "detached" });
  });
});

describe("the past", () => {
  test("is entered and left by keys, with a banner", async () => {
    const { head } = await state();
    await open();
    await page.keyboard.press("[");
    await page.getByText(`Viewing seq ${head - 1} of ${head}, read-only`).waitFor();
    await page.waitForURL(`**/s/${session}?at=${head - 1}`);
    await page.keyboard.press("{");
    await page.waitForURL((url) => Number(url.searchParams.get("at")) < head - 1);
    await page.keyboard.press(".");
    await page.locator(".past-banner").waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("");
  });

  test("has a URL, shows the old state and is read-only", async () => {
    const then = await state("?at=4");
    await open("?at=4");
    await page.getByText("Viewing seq 4 of").waitFor();
    const grid = page.getByRole("grid");
    expect(await grid.getAttribute("aria-rowcount")).toBe(`${then.blocks.length}`);
    await page.locator(".row").first().click();
    const archive = page.locator(".action-bar").getByRole("button", { name: "Archive" });
    expect(await archive.getAttribute("aria-disabled")).toBe("true");
    expect(await archive.getAttribute("title")).toBe("The past is read-only");
    expect(await page.locator("fieldset.mode input").first().isDisabled()).toBe(true);
    expect(await page.locator(".status-bar").getByRole("button", { name: "Undo" }).count()).toBe(0);
  });
});

describe("the present", () => {
  test("selection and manifest of now are marked or hidden in the past", async () => {
    const block = await blockWith(setup(), session, "tool-result", "package.json");
    const select = (blocks: readonly number[]) =>
      setup().api(`/sessions/${session}/selection`, { method: "PUT", body: { blocks } });
    await select([block]);
    await open();
    await page.locator(".selection-chip").waitFor();
    const note = page.getByText("This is the current manifest, not that of the seq you are viewing.");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.getByRole("region", { name: "Text of the manifest" }).waitFor();
    expect(await note.count()).toBe(0);
    await page.keyboard.press("[");
    await note.waitFor();
    await page.locator(".past-banner").waitFor();
    expect(await page.locator(".selection-chip").count()).toBe(0);
    await page.keyboard.press(".");
    await page.locator(".selection-chip").waitFor();
    await select([]);
    await page.locator(".selection-chip").waitFor({ state: "detached" });
  });

  test("the timeline reads the newest requests only", async () => {
    const detail = `**/api/v1/sessions/${session}`;
    await page.route(detail, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { readonly session: object };
      await route.fulfill({ response, json: { ...answer, session: { ...answer.session, requests: 1_600 } } });
    });
    const asked = page.waitForRequest(/\/requests\?after=1000&limit=1000$/);
    await open();
    await asked;
    await page.unrouteAll({ behavior: "wait" });
  });
});

describe("over plain http", () => {
  test("actions and copying work without secure-context APIs", async () => {
    const other = await setup().open();
    await other.context.addInitScript(() => {
      Object.defineProperty(crypto, "randomUUID", { value: undefined });
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    });
    await other.go(`/s/${session}`);
    await other.page.locator(".row").nth(1).click();
    await other.page.locator(".action-bar").getByRole("button", { name: "Pin" }).first().click();
    await other.page
      .getByText(/^You pinned/)
      .first()
      .waitFor();
    await other.go(`/s/${session}?at=4`);
    await other.page.getByRole("button", { name: "Copy link" }).click();
    await other.page.getByText("Link copied").waitFor();
    await other.close();
  });
});

describe("the side pane", () => {
  test("shows the next manifest word for word", async () => {
    const { text, tokens } = await setup().api<ManifestAnswer>(`/sessions/${session}/manifest`);
    await open();
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    const told = page.getByRole("region", { name: "Text of the manifest" });
    expect(await told.textContent()).toBe(text);
    await page.locator(".inspector").getByText(`~${tokens}`).waitFor();
    await page.getByRole("button", { name: "Close the manifest" }).click();
  });

  test("shows a block with the size of the list and its history", async () => {
    const block = await blockWith(setup(), session, "tool-result", "auth.md");
    await open(`?block=${block}`);
    const inspector = page.locator(".inspector");
    const row = page.locator(`.row[data-block="${block}"] .tokens`);
    const size = (await row.textContent()) ?? "";
    await inspector.getByText(size, { exact: true }).first().waitFor();
    await inspector.getByRole("tab", { name: "history" }).click();
    await inspector
      .getByText(/archived/)
      .first()
      .waitFor();
  });
});

test("the page reported no errors", async () => {
  await panel.close();
});
