// The work of the panel with 5,000 blocks, counted: bytes, rows, elements, function calls, layouts. No count
// depends on the clock, so a busy machine gives the same figures.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page, Response } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createLargeSession } from "../large-session.ts";
import { type Panel, setUpPanel, waitUntilSettled } from "../panel-setup.ts";
import { countWork, type WorkCounter } from "./work-counter.ts";

const setup = setUpPanel();
const blocks = 5_000;
const row = '[role="grid"] [role="row"]';
const rowPx = 30;
let session = "";
let panel: Panel;
let work: WorkCounter;

beforeAll(async () => {
  panel = await setup().open();
  work = await countWork(panel);
  session = await createLargeSession(setup(), { name: "large", blocks });
}, 120_000);

test("the production bundle stays below 250 KB", () => {
  const folder = join("dist", "panel", "assets");
  const scripts = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const bytes = scripts.map((name) => gzipSync(readFileSync(join(folder, name))).length);
  const sum = bytes.reduce((total, each) => total + each, 0);
  console.log(`${scripts.length} script, ${(sum / 1_024).toFixed(1)} KB gzip`);
  expect(sum).toBeLessThanOrEqual(250 * 1_024);
  // The development build of React contains this text.
  for (const name of scripts)
    expect(readFileSync(join(folder, name), "utf8")).not.toContain("React DevTools");
});

test("the first rows need one small page of the state", async () => {
  const { page } = panel;
  const responses: Response[] = [];
  const collect = (response: Response): void => void responses.push(response);
  page.on("response", collect);
  await page.goto(`${setup().url}/s/${session}`);
  await page.locator(row).first().waitFor();
  const [first] = await statePages(responses);
  await waitUntilComplete(page);
  page.off("response", collect);
  const pages = await statePages(responses);
  console.log(`pages of the state: ${pages.map((each) => `${each.rows} rows`).join(", ")}`);
  expect(first).toMatchObject({ rows: 60 });
  expect(first?.bytes).toBeLessThan(64 * 1_024);
  // A page is parsed at once, so its size bounds the longest task of the browser.
  expect(Math.max(...pages.map(({ rows }) => rows))).toBeLessThanOrEqual(1_000);
  expect(pages.length).toBe(1 + Math.ceil((blocks - 60) / 1_000));
}, 60_000);

test("loading 5,000 blocks takes a bounded number of calls, nodes and layouts", async () => {
  const { page } = panel;
  await page.goto("about:blank");
  await work.reset();
  await page.goto(`${setup().url}/s/${session}`);
  await waitUntilComplete(page);
  const { calls, layouts, styles } = await work.take();
  const elements = await page.locator("*").count();
  console.log(`loading: ${calls} calls, ${elements} elements, ${layouts} layouts, ${styles} style updates`);
  // Fewer calls than blocks would mean that the counter does not work.
  expect(calls).toBeGreaterThan(blocks);
  expect(calls / blocks).toBeLessThan(60);
  expect(elements).toBeLessThan(1_600);
  expect(layouts).toBeLessThan(20);
  expect(styles).toBeLessThan(30);
}, 60_000);

test("the DOM holds only the visible rows", async () => {
  const { page } = panel;
  await panel.go(`/s/${session}`);
  const grid = page.getByRole("grid");
  await grid.getByRole("row").first().waitFor();
  expect(await grid.getAttribute("aria-rowcount")).toBe(`${blocks}`);
  const counts: number[] = [];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    await scrollTo(page, share * blocks * rowPx);
    counts.push(await grid.getByRole("row").count());
  }
  await page.setViewportSize({ width: 1_280, height: 2_000 });
  await nextFrames(page);
  counts.push(await grid.getByRole("row").count());
  await page.setViewportSize({ width: 1_280, height: 800 });
  console.log(`rows in the DOM while scrolling, and in a window of 2,000 px: ${counts.join(", ")}`);
  expect(Math.max(...counts)).toBeLessThanOrEqual(80);
  expect(Math.min(...counts)).toBeGreaterThan(5);
}, 60_000);

const steps = 20;
const rowsPerStep = 10;

test("a scroll step renders only the rows that come into view", async () => {
  const { page } = panel;
  await panel.go(`/s/${session}`);
  await waitUntilComplete(page);
  const scroll = async (): Promise<void> => {
    for (let step = 1; step <= steps; step += 1) await scrollTo(page, step * rowsPerStep * rowPx);
  };
  // The first pass reads the labels of these rows; the second one only renders.
  await scroll();
  await page.locator(row).nth(5).locator(".topic", { hasText: /./ }).waitFor();
  await scrollTo(page, 0);
  await nextFrames(page);
  await watchRows(page);
  await work.reset();
  await scroll();
  const { calls, layouts, styles } = await work.take();
  const rows = await page.evaluate(() => (globalThis as { rowsAdded?: number }).rowsAdded ?? -1);
  console.log(
    `per step of ${rowsPerStep} rows: ${(rows / steps).toFixed(1)} rows added, ${Math.round(calls / steps)} calls, ` +
      `${(layouts / steps).toFixed(1)} layouts, ${(styles / steps).toFixed(1)} style updates`,
  );
  expect(rows / steps).toBe(rowsPerStep);
  expect(calls / steps).toBeGreaterThan(rowsPerStep);
  expect(calls / steps).toBeLessThan(10_000);
  expect(layouts / steps).toBeLessThanOrEqual(2);
  expect(styles / steps).toBeLessThanOrEqual(3);
}, 60_000);

test("pointing at the strip renders only its caption", async () => {
  const { page } = panel;
  await panel.go(`/s/${session}`);
  await waitUntilComplete(page);
  const box = await page.locator(".strip-picture").boundingBox();
  if (box === null) throw new Error("the strip is visible");
  const point = async (): Promise<void> => {
    for (let step = 0; step < steps; step += 1) {
      await page.mouse.move(box.x + 40 + step * 10, box.y + 12);
      await nextFrames(page);
    }
  };
  // The first pass reads the labels.
  await point();
  await page.locator(".strip-caption", { hasText: "Part" }).waitFor();
  await work.reset();
  await point();
  const { calls, layouts } = await work.take();
  console.log(`per move of the pointer: ${Math.round(calls / steps)} calls, ${layouts / steps} layouts`);
  expect(calls / steps).toBeGreaterThan(1);
  expect(calls / steps).toBeLessThan(20_000);
  expect(layouts / steps).toBeLessThanOrEqual(2);
}, 60_000);

type StatePage = { readonly rows: number; readonly bytes: number };

/** The pages of the state among the responses, in order. */
async function statePages(responses: readonly Response[]): Promise<readonly StatePage[]> {
  const pages = responses.filter((response) => new URL(response.url()).pathname.endsWith("/state"));
  return await Promise.all(
    pages.map(async (response) => {
      const body = await response.body();
      const { blocks: rows } = JSON.parse(body.toString()) as { readonly blocks: readonly unknown[] };
      return { rows: rows.length, bytes: body.length };
    }),
  );
}

async function waitUntilComplete(page: Page): Promise<void> {
  await waitUntilSettled(page);
  await page.getByText(`${blocks} of ${blocks}`).waitFor();
}

async function scrollTo(page: Page, top: number): Promise<void> {
  await page.getByRole("grid").evaluate((grid, px) => {
    grid.scrollTop = px;
  }, top);
  await nextFrames(page);
}

/** Resolves when the browser has rendered the last change. */
async function nextFrames(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => done()));
      }),
  );
}

/** Counts the rows that are added to the grid from now on, in `globalThis.rowsAdded`. */
async function watchRows(page: Page): Promise<void> {
  await page.locator(".blocks-all").evaluate((list) => {
    const counter = globalThis as { rowsAdded?: number };
    counter.rowsAdded = 0;
    new MutationObserver((records) => {
      counter.rowsAdded =
        (counter.rowsAdded ?? 0) + records.reduce((sum, { addedNodes }) => sum + addedNodes.length, 0);
    }).observe(list, { childList: true });
  });
}
