// The list of sessions: sub-agents, rename, export and delete.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { converse, post } from "../cli/rig.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { type Panel, setUpPanel, themes, waitUntilSettled } from "./panel-setup.ts";
import { takeScreenshot } from "./screenshot.ts";

const setup = setUpPanel();
const line = "Why is the build red since this morning?";

/** Sends a request of a sub-agent, marked as Claude Code marks it. */
async function askAgent(agent: string, prompt: string): Promise<void> {
  const body = {
    model: "claude-sonnet-4-5",
    max_tokens: 100,
    system: "You are a helper.",
    messages: [{ role: "user", content: prompt }],
  };
  const headers = { "x-aperture-session": "shop", "x-claude-code-agent-id": agent };
  await post(setup().cli, JSON.stringify(body), headers);
}

beforeAll(async () => {
  await converse(setup().cli, "notes", ["Write the notes of the release.", "Shorter."]);
  await converse(setup().cli, "shop", [line, "And now?"]);
  await askAgent("7f1c", "Look through the logs of the build for the first error.");
  await askAgent("9d2e", "List what changed since yesterday.");
  await setup().recorded();
}, 60_000);

async function manage(panel: Panel, name: string) {
  await panel.page.getByRole("button", { name: `Rename, export or delete ${name}` }).click();
  return panel.page.getByRole("dialog");
}

describe("sub-agents", () => {
  test("are listed below their session and link to their own window", async () => {
    const panel = await setup().open();
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

test("the list says that older sessions are not listed", async () => {
  const panel = await setup().open();
  const { page } = panel;
  const count = page.locator(".sessions .screen-head [aria-live]");
  await count.waitFor();
  expect(await count.innerText()).toBe("2 of 2");
  await page.route("**/api/v1/sessions?limit=1000", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), next: "before-these" } });
  });
  await panel.go("/");
  await page.getByText("2 of 2 last used; older ones are not listed").waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await panel.close();
});

test("a session shows the error of its last request", async () => {
  const panel = await setup().open();
  const { page } = panel;
  const row = page.locator(".session-row").filter({ hasText: "Write the notes" });
  await row.getByText("idle").waitFor();
  const messages = [{ role: "user", content: "Write the notes of the release." }];
  const send = (model: string) =>
    post(setup().cli, JSON.stringify({ model, max_tokens: 100, messages }), {
      "x-aperture-session": "notes",
    });
  await send("a-model-of-nobody");
  await row.getByText("error 404").waitFor();
  expect(await row.locator("[title]").last().getAttribute("title")).toMatch(
    /^Request \d+ got no complete response: 404$/,
  );
  expect(await accessibilityViolations(page)).toEqual([]);
  expect((await setup().cli.run(["sessions"])).out).toContain("error: 404");
  await send("claude-sonnet-4-5");
  await row.getByText("idle").waitFor();
  await panel.close();
});

describe("a session", () => {
  test.each(themes)("has an accessible dialog, in the %s theme", async (theme) => {
    const panel = await setup().open({ theme });
    await manage(panel, line);
    expect(await accessibilityViolations(panel.page)).toEqual([]);
    await takeScreenshot(panel.page, `session-${theme}`);
    await panel.page.keyboard.press("Escape");
    await panel.page.getByRole("dialog").waitFor({ state: "detached" });
    await panel.close();
  });

  test("is renamed, and undo restores its name", async () => {
    const panel = await setup().open();
    const { page } = panel;
    const dialog = await manage(panel, line);
    await dialog.getByLabel(/^Name/).fill("red build");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.locator(".session-row b").getByText("red build").waitFor();
    const { out } = await setup().cli.run(["sessions"]);
    expect(out).toContain("red build");
    await page.locator(".session-row").filter({ hasText: "red build" }).click();
    await page.locator(".session-title").getByText("red build").waitFor();
    await page.getByText('You named the session "red build"').first().waitFor();
    await page.keyboard.press("z");
    await page.locator(".session-title").getByText(line).waitFor();
    await panel.close();
  });

  test.each(["JSON lines", "Web page", "Markdown", "HAR"])("is exported as %s", async (title) => {
    const panel = await setup().open();
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

  test("is deleted only after the word is typed", async () => {
    const panel = await setup().open();
    const { page } = panel;
    const name = "Write the notes of the release.";
    const dialog = await manage(panel, name);
    const button = dialog.getByRole("button", { name: "Delete permanently" });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel(/to confirm$/).fill("delete");
    await button.click();
    await page.getByText(/^Deleted “Write the notes.*: \d+ frames and \d+ stored bodies erased$/).waitFor();
    await page.locator(".session-row b").getByText(name).waitFor({ state: "detached" });
    const { out } = await setup().cli.run(["sessions"]);
    expect([out.includes("build"), out.includes("notes of the release")]).toEqual([true, false]);
    await panel.close();
  });

  test("is deleted from its own screen", async () => {
    const panel = await setup().open();
    const { page } = panel;
    await page.locator(".session-row").filter({ hasText: line }).click();
    await page.getByRole("grid").getByText(line).waitFor();
    await waitUntilSettled(page);
    // Deferred reads must end before the session is deleted, or they fail.
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
