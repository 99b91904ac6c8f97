// Every screen in both themes: it loads, is accessible, and sends requests to its own server only.
import { beforeAll, describe, expect, test } from "vitest";
import { converse } from "../cli/rig.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { type Panel, setUpPanel, themes, waitUntilSettled } from "./panel-setup.ts";
import { blockWith, createSampleSession, managedRequest } from "./sample-session.ts";
import { takeScreenshot } from "./screenshot.ts";

const setup = setUpPanel();
let session = "";
let block = 0;
let request = 0;

type Screen = {
  readonly name: string;
  readonly path: () => string;
  /** The element that proves that the screen is loaded. */
  readonly shows: string;
  /** Actions before the picture is taken. */
  readonly act?: (panel: Panel) => Promise<void>;
};

const row = '[role="grid"] [role="row"]';
const context = (more = ""): string => `/s/${session}${more}`;

const screens: readonly Screen[] = [
  { name: "sessions", path: () => "/", shows: ".session-row" },
  { name: "context", path: context, shows: row, act: selectThree },
  { name: "inspector", path: () => context(`?block=${block}`), shows: ".inspector pre" },
  { name: "levels", path: () => context(`?block=${block}`), shows: ".inspector pre", act: showTrimmed },
  { name: "past", path: () => context("?at=20"), shows: row },
  { name: "restore", path: () => context("?at=20"), shows: row, act: askToRestore },
  { name: "plan", path: context, shows: row, act: planArchive },
  { name: "approvals", path: () => context("/approvals"), shows: ".card" },
  { name: "requests", path: () => context("/requests"), shows: "main h1" },
  { name: "diff", path: () => context(`/requests/${request}`), shows: "main [role=tab]" },
  { name: "replay", path: () => context(`/requests/${request}`), shows: "main [role=tab]", act: replay },
  { name: "palette", path: context, shows: row, act: ({ page }) => page.keyboard.press("Control+k") },
];

async function selectThree({ page }: Panel): Promise<void> {
  const rows = page.locator(row);
  await rows.nth(6).click();
  await rows.nth(8).click({ modifiers: ["Shift"] });
  await page.getByText("3 blocks chosen").waitFor();
}

/** Compares a block with its trimmed text. */
async function showTrimmed({ page }: Panel): Promise<void> {
  await page.getByRole("tab", { name: "levels" }).click();
  await page.locator(".inspector .levels").getByRole("button", { name: "trimmed" }).click();
  await page.locator(".inspector del").first().waitFor();
}

async function replay({ page }: Panel): Promise<void> {
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("Accepted: 200").waitFor();
}

async function askToRestore({ page }: Panel): Promise<void> {
  await page.getByRole("button", { name: "Restore…" }).click();
  await page
    .getByRole("dialog")
    .getByText(/^Undo: /)
    .first()
    .waitFor();
}

async function planArchive({ page }: Panel): Promise<void> {
  await page.locator(row).nth(3).click();
  await page
    .locator(row)
    .nth(10)
    .click({ modifiers: ["ControlOrMeta"] });
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("the log has served its purpose");
  await dialog.getByText("pays back").waitFor();
}

test.each(themes)("before the first request, in the %s theme", async (theme) => {
  const panel = await setup().open({ theme });
  await panel.page.getByRole("heading", { name: "Waiting for the first request" }).waitFor();
  expect(await accessibilityViolations(panel.page)).toEqual([]);
  await takeScreenshot(panel.page, `first-run-${theme}`);
  await panel.close();
});

describe("with a session", () => {
  beforeAll(async () => {
    await converse(setup().cli, "notes", ["Write the notes of the release.", "Shorter.", "Now in German."]);
    await converse(setup().cli, "shop", ["Why is the build red since this morning?"]);
    ({ session } = await createSampleSession(setup()));
    block = await blockWith(setup(), session, "tool-result", "token.ts");
    request = await managedRequest(setup(), session);
  }, 60_000);

  test.each(["/", "", "/approvals", "/requests", "/requests/:n"])(
    "the buttons of %s fit into a narrow window",
    async (more) => {
      const panel = await setup().open();
      await panel.page.setViewportSize({ width: 420, height: 800 });
      await panel.go(more === "/" ? more : context(more.replace(":n", `${request}`)));
      const bars = panel.page.locator("header button, header a, footer button, [role=tab]");
      await bars.first().waitFor();
      const ends = await bars.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right));
      expect(Math.max(...ends)).toBeLessThanOrEqual(420);
      await panel.close();
    },
  );

  describe.each(themes)("in the %s theme", (theme) => {
    test.each(screens)("$name", async ({ name, path, shows, act }) => {
      const panel = await setup().open({ theme });
      await panel.go(path());
      await panel.page.locator(shows).first().waitFor();
      // Labels and turns of the timeline are read after the rows.
      await panel.page.waitForTimeout(400);
      await act?.(panel);
      await waitUntilSettled(panel.page);
      expect(await accessibilityViolations(panel.page)).toEqual([]);
      await takeScreenshot(panel.page, `${name}-${theme}`);
      await panel.close();
    });
  });
});
