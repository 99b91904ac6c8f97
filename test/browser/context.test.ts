// The context as a picture, as a list and as it was: all of it says what the API says.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { ManifestAnswer, StateRow } from "../../src/queries/answers/index.ts";
import { type Panel, panelRig } from "./rig.ts";
import { blockWith, tellStory } from "./story.ts";

const rig = panelRig();
let session = "";
let panel: Panel;
let page: Page;

beforeAll(async () => {
  ({ session } = await tellStory(rig()));
  panel = await rig().open();
  page = panel.page;
}, 180_000);

const state = (query = "") => rig().api<StateRow>(`/sessions/${session}/state${query}`);
const open = (query = "") => panel.go(`/s/${session}${query}`);

describe("the filter", () => {
  test("finds what the topic column shows, also where a row was never in sight", async () => {
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
    // A block that an author has named is found by the name the list gives it.
    await filter.fill('topic:"refresh bug" kind:memory');
    await page.getByText(/^1 of \d+$/).waitFor();
    await filter.fill("");
    await page.setViewportSize({ width: 1_280, height: 800 });
  });
});

describe("the strip", () => {
  test("names its marks with the numbers of the engine", async () => {
    const { marks } = await state();
    await open();
    const legend = page.getByRole("list", { name: "Marks of the strip" });
    const cached = ((marks.cached?.tokens ?? 0) / 1_000).toFixed(1);
    expect(await legend.textContent()).toContain(`cached prefix ${cached}k`);
    // How long it is kept comes behind what is looked at first.
    await legend.getByText(/hit, (?:\d+:\d\d left|lapsed)\)/).waitFor();
    const ahead = ((marks.forecast?.next.at(-1) ?? 0) / 1_000).toFixed(1);
    expect(await legend.textContent()).toContain(`in 5 turns ~${ahead}k`);
    expect(await legend.textContent()).toContain("reserved for the answer");
  });

  test("is a table too, a row for each of its parts", async () => {
    const { strip, otherTokens, cold } = await state();
    await open();
    await page.getByText("As a table").click();
    const rows = page.locator(".strip-table tbody tr");
    const parts = strip.length + 1 + (otherTokens > 0 ? 1 : 0) + (cold.blocks > 0 ? 1 : 0);
    expect(await rows.count()).toBe(parts);
  });

  test("is dragged over to choose what lies under it", async () => {
    await open();
    const box = await page.locator(".strip-picture").boundingBox();
    if (box === null) throw new Error("the strip is there");
    await page.mouse.move(box.x + 4, box.y + 12);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 12, { steps: 4 });
    await page.mouse.up();
    const { blocks } = await state();
    const words = await page.locator(".action-count").textContent();
    const chosen = Number(/^(\d+) blocks selected/.exec(words ?? "")?.[1]);
    expect(chosen).toBeGreaterThan(5);
    expect(chosen).toBeLessThanOrEqual(blocks.filter(({ counted }) => counted).length);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.locator(".action-bar").waitFor({ state: "detached" });
  });
});

describe("the past", () => {
  test("is stepped into by keys, says that it is the past, and is left again", async () => {
    const { head } = await state();
    await open();
    await page.keyboard.press("[");
    await page.getByText(`Viewing ${head - 1} of ${head} — read-only`).waitFor();
    await page.waitForURL(`**/s/${session}?at=${head - 1}`);
    await page.keyboard.press("{");
    await page.waitForURL((url) => Number(url.searchParams.get("at")) < head - 1);
    await page.keyboard.press(".");
    await page.locator(".past-banner").waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("");
  });

  test("has an address, shows what was there then, and nothing can be done in it", async () => {
    const then = await state("?at=4");
    await open("?at=4");
    await page.getByText("Viewing 4 of").waitFor();
    const grid = page.getByRole("grid");
    expect(await grid.getAttribute("aria-rowcount")).toBe(`${then.blocks.length}`);
    await page.locator(".row").first().click();
    const archive = page.locator(".action-bar").getByRole("button", { name: "Archive" });
    expect(await archive.getAttribute("aria-disabled")).toBe("true");
    expect(await archive.getAttribute("title")).toBe("You are looking at the past");
    expect(await page.locator("fieldset.mode input").first().isDisabled()).toBe(true);
    expect(await page.locator(".status-bar").getByRole("button", { name: "Undo" }).count()).toBe(0);
  });
});

describe("what is of now", () => {
  test("is not offered in the past, or says that it is of now", async () => {
    const block = await blockWith(rig(), session, "tool-result", "package.json");
    const select = (blocks: readonly number[]) =>
      rig().api(`/sessions/${session}/selection`, { method: "PUT", body: { blocks } });
    await select([block]);
    await open();
    await page.locator(".focus-chip").waitFor();
    const note = page.getByText("This is the manifest of now, not of the seq you look at.");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.getByRole("region", { name: "Text of the manifest" }).waitFor();
    expect(await note.count()).toBe(0);
    await page.keyboard.press("[");
    await note.waitFor();
    await page.locator(".past-banner").waitFor();
    expect(await page.locator(".focus-chip").count()).toBe(0);
    await page.keyboard.press(".");
    await page.locator(".focus-chip").waitFor();
    await select([]);
    await page.locator(".focus-chip").waitFor({ state: "detached" });
  });

  test("are the requests whose turns the timeline has, of very many the newest", async () => {
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

describe("over plain http, under a name, where browsers hold things back", () => {
  test("blocks are acted on and links are copied all the same", async () => {
    const other = await rig().open();
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
    await other.page.getByText("The link to this moment is copied").waitFor();
    await other.close();
  });
});

describe("beside the list", () => {
  test("stands what the model reads next, word for word", async () => {
    const { text, tokens } = await rig().api<ManifestAnswer>(`/sessions/${session}/manifest`);
    await open();
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    const told = page.getByRole("region", { name: "Text of the manifest" });
    expect(await told.textContent()).toBe(text);
    await page.locator(".inspector").getByText(`~${tokens}`).waitFor();
    await page.getByRole("button", { name: "Close the manifest" }).click();
  });

  test("stands a block, as large as the list says, with what was done to it", async () => {
    const block = await blockWith(rig(), session, "tool-result", "auth.md");
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

test("nothing went wrong on the way", async () => {
  await panel.close();
});
