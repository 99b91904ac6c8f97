// The list of sessions: what can be done to one as a whole, and the sub-agents in it.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { converse, post } from "../cli/rig.ts";
import { barriersIn } from "./axe.ts";
import { type Panel, panelRig, settled, themes } from "./rig.ts";
import { shoot } from "./shot.ts";

const rig = panelRig();
const line = "Why is the build red since this morning?";

/** Claude Code says so of its own accord which requests are a sub-agent's. */
async function askAgent(agent: string, prompt: string): Promise<void> {
  const body = {
    model: "claude-sonnet-4-5",
    max_tokens: 100,
    system: "You are a helper.",
    messages: [{ role: "user", content: prompt }],
  };
  const headers = { "x-aperture-session": "shop", "x-claude-code-agent-id": agent };
  await post(rig().rig, JSON.stringify(body), headers);
}

beforeAll(async () => {
  await converse(rig().rig, "notes", ["Write the notes of the release.", "Shorter."]);
  await converse(rig().rig, "shop", [line, "And now?"]);
  await askAgent("7f1c", "Look through the logs of the build for the first error.");
  await askAgent("9d2e", "List what changed since yesterday.");
  await rig().recorded();
}, 60_000);

async function manage(panel: Panel, name: string) {
  await panel.page.getByRole("button", { name: `Rename, export or delete ${name}` }).click();
  return panel.page.getByRole("dialog");
}

describe("sub-agents", () => {
  test("stand below their session by what they were asked, and lead to their own window", async () => {
    const panel = await rig().open();
    const { page } = panel;
    const list = page.getByRole("list", { name: "Sub-agents" });
    await list.getByText("Look through the logs of the build").waitFor();
    expect(await list.getByRole("link").count()).toBe(2);
    await list.getByRole("link").filter({ hasText: "List what changed" }).click();
    await page.getByRole("grid").getByText("List what changed since yesterday.").waitFor();
    expect(page.url()).toContain("?stream=");
    const choice = page.getByLabel("Stream");
    expect(await choice.locator("option:checked").innerText()).toContain("List what changed");
    await choice.selectOption({ label: "main (2 turns)" });
    await page.getByText(line).first().waitFor();
    expect(page.url()).not.toContain("stream");
    await panel.close();
  });
});

test("says so where there are more than it shows", async () => {
  const panel = await rig().open();
  const { page } = panel;
  const count = page.locator(".sessions .screen-head [aria-live]");
  await count.waitFor();
  expect(await count.innerText()).toBe("2 of 2");
  await page.route("**/api/v1/sessions?limit=1000", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), next: "before-these" } });
  });
  await panel.go("/");
  await page.getByText("2 of 2 used last; there are more").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await panel.close();
});

test("a session whose last request was refused says so, until one is answered", async () => {
  const panel = await rig().open();
  const { page } = panel;
  const row = page.locator(".session-row").filter({ hasText: "Write the notes" });
  await row.getByText("idle").waitFor();
  const messages = [{ role: "user", content: "Write the notes of the release." }];
  const send = (model: string) =>
    post(rig().rig, JSON.stringify({ model, max_tokens: 100, messages }), { "x-aperture-session": "notes" });
  await send("a-model-of-nobody");
  await row.getByText("error 404").waitFor();
  expect(await row.locator("[title]").last().getAttribute("title")).toMatch(
    /^Request \d+ got no whole answer: 404$/,
  );
  expect(await barriersIn(page)).toEqual([]);
  expect((await rig().rig.run(["sessions"])).out).toContain("error: 404");
  await send("claude-sonnet-4-5");
  await row.getByText("idle").waitFor();
  await panel.close();
});

describe("a session as a whole", () => {
  test.each(themes)("has a dialog of its own, in the %s theme", async (theme) => {
    const panel = await rig().open({ theme });
    await manage(panel, line);
    expect(await barriersIn(panel.page)).toEqual([]);
    await shoot(panel.page, `session-${theme}`);
    await panel.page.keyboard.press("Escape");
    await panel.page.getByRole("dialog").waitFor({ state: "detached" });
    await panel.close();
  });

  test("is renamed, everywhere, and that is undone like anything else", async () => {
    const panel = await rig().open();
    const { page } = panel;
    const dialog = await manage(panel, line);
    await dialog.getByLabel(/^Name/).fill("red build");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.locator(".session-row b").getByText("red build").waitFor();
    const { out } = await rig().rig.run(["sessions"]);
    expect(out).toContain("red build");
    await page.locator(".session-row").filter({ hasText: "red build" }).click();
    await page.locator(".session-title").getByText("red build").waitFor();
    await page.getByText('You named the session "red build"').first().waitFor();
    await page.keyboard.press("z");
    await page.locator(".session-title").getByText(line).waitFor();
    await panel.close();
  });

  test.each(["JSON lines", "Web page", "Markdown", "HAR"])("is exported as %s", async (title) => {
    const panel = await rig().open();
    const { page } = panel;
    const dialog = await manage(panel, line);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("link", { name: title }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^aperture-.{8}\.(jsonl|html|md|har)$/);
    expect(readFileSync(await download.path(), "utf8")).toContain(line);
    await panel.close();
  });

  test("is deleted only once the word is typed, and is gone then", async () => {
    const panel = await rig().open();
    const { page } = panel;
    const name = "Write the notes of the release.";
    const dialog = await manage(panel, name);
    const button = dialog.getByRole("button", { name: "Delete for good" });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel(/to confirm$/).fill("delete");
    await button.click();
    await page.getByText(/^Deleted “Write the notes.*: \d+ frames and \d+ stored bodies erased$/).waitFor();
    await page.locator(".session-row b").getByText(name).waitFor({ state: "detached" });
    const { out } = await rig().rig.run(["sessions"]);
    expect([out.includes("build"), out.includes("notes of the release")]).toEqual([true, false]);
    await panel.close();
  });

  test("that is looked at is deleted from within, and the list is what is left", async () => {
    const panel = await rig().open();
    const { page } = panel;
    await page.locator(".session-row").filter({ hasText: line }).click();
    await page.getByRole("grid").getByText(line).waitFor();
    await settled(page);
    // What comes in behind the rows has come, so that nothing is asked of a session that is gone.
    await page.waitForTimeout(500);
    await page.getByRole("button", { name: "Rename, export or delete this session" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/to confirm$/).fill("delete");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Waiting for the first request" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await panel.close();
  });
});
