import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const folder = join("docs", "screenshots");
const isWritten = process.env["APERTURE_SCREENSHOTS"] === "write";

/**
 * Takes a picture for the documentation. Only APERTURE_SCREENSHOTS=write stores it, so that a test run does
 * not change the tree. A missing picture fails the test.
 */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const path = join(folder, `${name}.png`);
  await page.evaluate(replaceFolders, tmpdir());
  const bytes = await page.screenshot({ animations: "disabled", caret: "hide" });
  if (isWritten) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, bytes);
  }
  expect(existsSync(path), `${path}: APERTURE_SCREENSHOTS=write npm test -- browser takes it`).toBe(true);
}

/** Runs in the page: replaces the temporary folder of the test by a home folder. */
function replaceFolders(folderOfTest: string): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const [before = "", ...rest] = (text.nodeValue ?? "").split(`${folderOfTest}/aperture-`);
    if (rest.length > 0)
      text.nodeValue = [before, ...rest.map((one) => one.replace(/^[^/]*/, "~/aperture"))].join("");
  }
}
