import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const folder = join("docs", "screenshots");
const isWritten = process.env["APERTURE_SCREENSHOTS"] === "write";

/**
 * A picture for the documentation. Every run takes it; only APERTURE_SCREENSHOTS=write keeps it: a tree is
 * not to change because its tests ran. A picture that is missing fails either way.
 */
export async function shoot(page: Page, name: string): Promise<void> {
  const path = join(folder, `${name}.png`);
  await page.evaluate(withoutFolders, tmpdir());
  const bytes = await page.screenshot({ animations: "disabled", caret: "hide" });
  if (isWritten) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, bytes);
  }
  expect(existsSync(path), `${path}: APERTURE_SCREENSHOTS=write npm test -- browser takes it`).toBe(true);
}

/** Runs in the page. The folder of a test is nobody's: the picture shows a folder that somebody may have. */
function withoutFolders(own: string): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const [before = "", ...rest] = (text.nodeValue ?? "").split(`${own}/aperture-`);
    if (rest.length > 0)
      text.nodeValue = [before, ...rest.map((one) => one.replace(/^[^/]*/, "~/aperture"))].join("");
  }
}
