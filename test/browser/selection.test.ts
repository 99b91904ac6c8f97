// Actions in the panel change the requests of a real client, and undo restores them byte for byte.
import { beforeAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { rejections } from "../support/test-client.ts";
import { type Client, numberedLines } from "./client.ts";
import { type Panel, setUpPanel, waitUntilSettled } from "./panel-setup.ts";
import { blockWith, call, sampleModel, text } from "./sample-session.ts";

const setup = setUpPanel();
let client: Client;
let session = "";

const fruits = ["banana", "cherry", "damson"] as const;
const files = Object.fromEntries(
  fruits.map((name) => [name, numberedLines(160).replaceAll(/^\d+/gm, (n) => `${name} tree ${n}`)]),
);

beforeAll(async () => {
  const { script, client: start } = setup();
  client = await start({ name: "orchard", files });
  script(
    fruits.map((path) => call("read", { path })),
    [text("I have read all three.")],
  );
  await send("Look at the trees.");
  const { rows } = await setup().api<{ rows: readonly { id: string }[] }>("/sessions?limit=1");
  session = must(rows[0], "the client has made one").id;
}, 60_000);

/** Sends a prompt and returns the first upstream body. */
async function send(prompt: string, model = sampleModel): Promise<Buffer> {
  const { exchanges, recorded } = setup();
  const before = exchanges().length;
  await client.send(prompt, { model });
  await recorded();
  expect(rejections(exchanges())).toEqual([]);
  return must(exchanges()[before], "the client has sent something").body;
}

async function openContext(): Promise<Panel> {
  const panel = await setup().open();
  await panel.go(`/s/${session}`);
  return panel;
}

/** The messages before the manifest, without cache marks, which move with every turn. */
function messagesIn(body: Buffer): string {
  const text = body.toString("utf8").replaceAll(',"cache_control":{"type":"ephemeral"}', "");
  const tail = text.indexOf(',{"type":"text","text":"[CONTEXT MANIFEST');
  expect(tail).toBeGreaterThan(0);
  return text.slice(text.indexOf('"messages":['), tail);
}

const rowOf = ({ page }: Panel, block: number) => page.locator(`[role="row"][data-block="${block}"]`);
const resultOf = (name: string) => blockWith(setup(), session, "tool-result", name);

describe("a selection", () => {
  test("of three blocks is in the next request until it is cleared", async () => {
    const blocks = await Promise.all(fruits.map(resultOf));
    const panel = await openContext();
    for (const [at, block] of blocks.entries()) {
      await rowOf(panel, block).click(at === 0 ? {} : { modifiers: ["ControlOrMeta"] });
    }
    await panel.page.getByText("3 blocks chosen").waitFor();
    await panel.page.getByRole("button", { name: /^Select/ }).click();
    const selectionText = `[user-selected] ${blocks.map((block) => `#${block}`).join(" ")}`;
    await panel.page.locator(".selection-chip", { hasText: selectionText }).waitFor();
    const body = (await send("What do they have in common?")).toString();
    // The selection comes after the prompt.
    expect(body.indexOf(selectionText)).toBeGreaterThan(body.indexOf("What do they have in common?"));
    await panel.page.locator(".selection-chip").getByRole("button", { name: "Clear" }).click();
    await panel.page.locator(".selection-chip").waitFor({ state: "detached" });
    const next = (await send("And what not?")).toString();
    expect(next.indexOf("[user-selected]", next.indexOf("And what not?"))).toBe(-1);
    await panel.close();
  }, 60_000);
});

describe("undo", () => {
  test("restores the request byte for byte", async () => {
    const block = await resultOf("banana");
    const before = messagesIn(await send("Go on."));
    expect(before).toContain("banana tree");
    const panel = await openContext();
    await rowOf(panel, block).click();
    await panel.page.getByRole("button", { name: "Archive" }).click();
    const dialog = panel.page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("eaten");
    await dialog.getByText("frees").waitFor();
    await dialog.locator(".button.primary").click();
    await panel.page
      .getByText(/^You archived/)
      .first()
      .waitFor();
    // Another model has nothing cached, so the rewrite is free and comes with this request.
    const pruned = (await send("Go on with less.", "claude-opus-4-8")).toString();
    expect([pruned.includes("banana tree"), pruned.includes("eaten")]).toEqual([false, true]);
    await waitUntilSettled(panel.page);
    await panel.page.keyboard.press("z");
    await panel.page.getByText(/^Undone: /).waitFor();
    const after = messagesIn(await send("Go on with all of it."));
    expect(after.startsWith(before)).toBe(true);
    await panel.close();
  }, 60_000);
});

describe("an approval", () => {
  /** Makes the model ask to archive files. Returns the blocks of the first approval. */
  async function requestArchive(...names: readonly string[]): Promise<readonly number[]> {
    await setup().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
    const targets = await Promise.all(names.map(resultOf));
    const calls = targets.map((target) =>
      call("aperture_archive", { target: `${target}`, reason: "read and done" }),
    );
    setup().script(calls, [text("I wait.")]);
    await send(`Are you done with ${names.join(" and ")}?`);
    type Asked = { readonly rows: readonly { readonly stand: string; readonly blocks: readonly number[] }[] };
    const { rows } = await setup().api<Asked>(`/sessions/${session}/approvals`);
    const asked = must(
      rows.find(({ stand }) => stand === "waiting"),
      "the model had to ask",
    );
    return asked.blocks;
  }

  test("that is granted is executed, and the model is told", async () => {
    const blocks = await requestArchive("cherry");
    const panel = await openContext();
    await panel.page.getByRole("button", { name: /1 waiting/ }).click();
    await panel.page.getByRole("button", { name: /^Approve/ }).click();
    await panel.page.getByRole("heading", { name: "No command waits for you" }).waitFor();
    const next = (await send("What now?")).toString();
    expect(next).toMatch(new RegExp(`user approved your archive of #${blocks[0]}`));
    await panel.go(`/s/${session}`);
    await rowOf(panel, must(blocks[0], "it named one")).getByText("archived").waitFor();
    await panel.close();
  }, 60_000);

  test("that is denied tells the model the reason", async () => {
    const blocks = await requestArchive("damson");
    const panel = await setup().open();
    await panel.go(`/s/${session}/approvals`);
    await panel.page.getByRole("textbox").fill("still needed");
    await panel.page.getByRole("button", { name: /^Deny/ }).click();
    await panel.page.getByRole("heading", { name: "No command waits for you" }).waitFor();
    const next = (await send("And now?")).toString();
    expect(next).toMatch(new RegExp(`user denied your archive of #${blocks[0]}[^|]*still needed`));
    await panel.close();
  }, 60_000);

  test("can be decided with all others at once", async () => {
    const panel = await setup().open();
    const nothing = panel.page.getByRole("heading", { name: "No command waits for you" });
    const decisions = [
      ["Shift+N", "denied"],
      ["Shift+Y", "approved"],
    ] as const;
    for (const [key, stand] of decisions) {
      await requestArchive("banana", "damson");
      await panel.go(`/s/${session}/approvals`);
      await panel.page.getByRole("heading", { name: "2 commands waiting" }).waitFor();
      if (stand === "denied") await panel.page.keyboard.press(key);
      else await panel.page.getByRole("button", { name: /^Approve all/ }).click();
      await nothing.waitFor();
      const newest = panel.page.locator(".approvals tbody .badge");
      expect((await newest.allInnerTexts()).slice(0, 2)).toEqual([stand, stand]);
    }
    await panel.close();
  }, 60_000);
});

describe("a rule", () => {
  /** Decides the waiting command with a scope. Returns the texts of the rules. */
  async function decideFor({ page, go }: Panel, scope: string, decision: RegExp): Promise<readonly string[]> {
    await go(`/s/${session}/approvals`);
    await page.getByRole("radio", { name: scope }).check();
    await page.getByRole("button", { name: decision }).click();
    await page.getByRole("heading", { name: "No command waits for you" }).waitFor();
    const rules = page.getByRole("list", { name: "Rules" }).getByRole("listitem");
    await rules.first().waitFor();
    return await rules.locator("span").allInnerTexts();
  }

  test("is listed and can be removed", async () => {
    const requestPin = async (): Promise<void> => {
      const target = `${await resultOf("cherry")}`;
      setup().script([call("aperture_manage", { verb: "pin", target })], [text("I wait.")]);
      await send("Keep the cherries.");
    };
    await setup().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
    const panel = await setup().open();
    const { page } = panel;
    const list = page.getByRole("list", { name: "Rules" });
    const remove = page.getByRole("button", { name: /^Remove the rule/ });
    await requestPin();
    expect(await decideFor(panel, "always", /^Deny/)).toEqual([
      expect.stringMatching(/^You deny every pin by Claude on blocks in \w+, in every session, since \d{4}-/),
    ]);
    await remove.click();
    await list.waitFor({ state: "detached" });
    const kept = await setup().api<{ readonly rows: readonly unknown[] }>("/permissions");
    expect(kept.rows).toEqual([]);
    await requestPin();
    expect(await decideFor(panel, "this session", /^Deny/)).toEqual([
      "You denied pin by model in this session",
    ]);
    await remove.click();
    await list.waitFor({ state: "detached" });
    await requestPin();
    await panel.go(`/s/${session}/approvals`);
    await page.getByRole("heading", { name: "1 command waiting" }).waitFor();
    await panel.close();
  }, 60_000);
});
