// Every screen in both themes: it shows itself, keeps nobody out, and asks nobody but its own server.
import { beforeAll, describe, expect, test } from "vitest";
import { converse } from "../cli/rig.ts";
import { barriersIn } from "./axe.ts";
import { type Panel, panelRig, settled, themes } from "./rig.ts";
import { shoot } from "./shot.ts";
import { blockWith, tellStory } from "./story.ts";

const rig = panelRig();
let session = "";
let block = 0;

type Screen = {
  readonly name: string;
  readonly path: () => string;
  /** What shows that the screen is there. */
  readonly shows: string;
  /** What is done before it is looked at. */
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
  { name: "diff", path: () => context("/requests/7"), shows: "main [role=tab]" },
  { name: "replay", path: () => context("/requests/7"), shows: "main [role=tab]", act: replay },
  { name: "palette", path: context, shows: row, act: ({ page }) => page.keyboard.press("Control+k") },
];

async function selectThree({ page }: Panel): Promise<void> {
  const rows = page.locator(row);
  await rows.nth(6).click();
  await rows.nth(8).click({ modifiers: ["Shift"] });
  await page.getByText("3 blocks selected").waitFor();
}

/** One block against a shorter form of it. */
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
  await page.getByRole("dialog").getByText("Take back").first().waitFor();
}

/** The log that came with the first prompt, and what was said to it. */
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

test.each(themes)("nothing has come by yet, in the %s theme", async (theme) => {
  const panel = await rig().open({ theme });
  await panel.page.getByRole("heading", { name: "Waiting for the first request" }).waitFor();
  expect(await barriersIn(panel.page)).toEqual([]);
  await shoot(panel.page, `first-run-${theme}`);
  await panel.close();
});

describe("with a session", () => {
  beforeAll(async () => {
    await converse(rig().rig, "notes", ["Write the notes of the release.", "Shorter.", "Now in German."]);
    await converse(rig().rig, "shop", ["Why is the build red since this morning?"]);
    ({ session } = await tellStory(rig()));
    block = await blockWith(rig(), session, "tool-result", "token.ts");
  }, 60_000);

  test.each(["/", "", "/approvals", "/requests", "/requests/7"])(
    "no button of %s sticks out of a narrow window",
    async (more) => {
      const panel = await rig().open();
      await panel.page.setViewportSize({ width: 420, height: 800 });
      await panel.go(more === "/" ? more : context(more));
      const bars = panel.page.locator("header button, header a, footer button, [role=tab]");
      await bars.first().waitFor();
      const ends = await bars.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right));
      expect(Math.max(...ends)).toBeLessThanOrEqual(420);
      await panel.close();
    },
  );

  describe.each(themes)("in the %s theme", (theme) => {
    test.each(screens)("$name", async ({ name, path, shows, act }) => {
      const panel = await rig().open({ theme });
      await panel.go(path());
      await panel.page.locator(shows).first().waitFor();
      // Labels and the turns of the timeline come in behind the rows.
      await panel.page.waitForTimeout(400);
      await act?.(panel);
      await settled(panel.page);
      expect(await barriersIn(panel.page)).toEqual([]);
      await shoot(panel.page, `${name}-${theme}`);
      await panel.close();
    });
  });
});
