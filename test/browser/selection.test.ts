// What a user does in the panel reaches the model of a real client, and what is taken back leaves no trace.
import { beforeAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { rejections } from "../support/test-client.ts";
import { type Client, linesOf } from "./client.ts";
import { type Panel, panelRig, settled } from "./rig.ts";
import { blockWith, call, storyModel, text } from "./story.ts";

const rig = panelRig();
let client: Client;
let session = "";

const fruits = ["banana", "cherry", "damson"] as const;
const files = Object.fromEntries(
  fruits.map((name) => [name, linesOf(160).replaceAll(/^\d+/gm, (n) => `${name} tree ${n}`)]),
);

beforeAll(async () => {
  const { script, client: start } = rig();
  client = await start({ name: "orchard", files });
  script(
    fruits.map((path) => call("read", { path })),
    [text("I have read all three.")],
  );
  await say("Look at the trees.");
  const { rows } = await rig().api<{ rows: readonly { id: string }[] }>("/sessions?limit=1");
  session = must(rows[0], "the client has made one").id;
}, 60_000);

/** Sends a prompt and answers with the bytes that went upstream first. */
async function say(prompt: string, model = storyModel): Promise<Buffer> {
  const { exchanges, recorded } = rig();
  const before = exchanges().length;
  await client.say(prompt, { model });
  await recorded();
  expect(rejections(exchanges())).toEqual([]);
  return must(exchanges()[before], "the client has sent something").body;
}

async function openContext(): Promise<Panel> {
  const panel = await rig().open();
  await panel.go(`/s/${session}`);
  return panel;
}

/** The bytes of all messages up to our tail; without the marks of the cache, which move with every turn. */
function saidIn(body: Buffer): string {
  const text = body.toString("utf8").replaceAll(',"cache_control":{"type":"ephemeral"}', "");
  const tail = text.indexOf(',{"type":"text","text":"[CONTEXT MANIFEST');
  expect(tail).toBeGreaterThan(0);
  return text.slice(text.indexOf('"messages":['), tail);
}

const rowOf = ({ page }: Panel, block: number) => page.locator(`[role="row"][data-block="${block}"]`);
const resultOf = (name: string) => blockWith(rig(), session, "tool-result", name);

describe("a selection", () => {
  test("of three blocks stands at the tail of what the model reads next, until it is cleared", async () => {
    const blocks = await Promise.all(fruits.map(resultOf));
    const panel = await openContext();
    for (const [at, block] of blocks.entries()) {
      await rowOf(panel, block).click(at === 0 ? {} : { modifiers: ["ControlOrMeta"] });
    }
    await panel.page.getByText("3 blocks selected").waitFor();
    await panel.page.getByRole("button", { name: "Focus" }).click();
    const told = `[user-selected] ${blocks.map((block) => `#${block}`).join(" ")}`;
    await panel.page.locator(".focus-chip", { hasText: told }).waitFor();
    const body = (await say("What do they have in common?")).toString();
    // It is the tail: behind it stands nothing that somebody has said.
    expect(body.indexOf(told)).toBeGreaterThan(body.indexOf("What do they have in common?"));
    await panel.page.locator(".focus-chip").getByRole("button", { name: "Clear" }).click();
    await panel.page.locator(".focus-chip").waitFor({ state: "detached" });
    const next = (await say("And what not?")).toString();
    expect(next.indexOf("[user-selected]", next.indexOf("And what not?"))).toBe(-1);
    await panel.close();
  }, 60_000);
});

describe("what is taken back", () => {
  test("is sent as it was, to the byte", async () => {
    const block = await resultOf("banana");
    const before = saidIn(await say("Go on."));
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
    // For another model nothing is cached, so that the rewrite is free and comes with this request.
    const pruned = (await say("Go on with less.", "claude-opus-4-8")).toString();
    expect([pruned.includes("banana tree"), pruned.includes("eaten")]).toEqual([false, true]);
    await settled(panel.page);
    await panel.page.keyboard.press("z");
    await panel.page.getByText(/^Taken back: /).waitFor();
    const after = saidIn(await say("Go on with all of it."));
    expect(after.startsWith(before)).toBe(true);
    await panel.close();
  }, 60_000);
});

describe("what the model asks for", () => {
  /** The model wants to let go of files, and has to ask. Answers with the blocks it asked about first. */
  async function asking(...names: readonly string[]): Promise<readonly number[]> {
    await rig().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
    const targets = await Promise.all(names.map(resultOf));
    const calls = targets.map((target) =>
      call("aperture_archive", { target: `${target}`, reason: "read and done" }),
    );
    rig().script(calls, [text("I wait.")]);
    await say(`Are you done with ${names.join(" and ")}?`);
    type Asked = { readonly rows: readonly { readonly stand: string; readonly blocks: readonly number[] }[] };
    const { rows } = await rig().api<Asked>(`/sessions/${session}/approvals`);
    const asked = must(
      rows.find(({ stand }) => stand === "waiting"),
      "the model had to ask",
    );
    return asked.blocks;
  }

  test("and is approved, it is told, and it is done", async () => {
    const blocks = await asking("cherry");
    const panel = await openContext();
    await panel.page.getByRole("button", { name: /1 waiting/ }).click();
    await panel.page.getByRole("button", { name: /^Approve/ }).click();
    await panel.page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    const next = (await say("What now?")).toString();
    expect(next).toMatch(new RegExp(`user approved your archive of #${blocks[0]}`));
    await panel.go(`/s/${session}`);
    await rowOf(panel, must(blocks[0], "it named one")).getByText("archived").waitFor();
    await panel.close();
  }, 60_000);

  test("and is denied, it reads why", async () => {
    const blocks = await asking("damson");
    const panel = await rig().open();
    await panel.go(`/s/${session}/approvals`);
    await panel.page.getByRole("textbox").fill("still needed");
    await panel.page.getByRole("button", { name: /^Deny/ }).click();
    await panel.page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    const next = (await say("And now?")).toString();
    expect(next).toMatch(new RegExp(`user denied your archive of #${blocks[0]}[^|]*still needed`));
    await panel.close();
  }, 60_000);

  test("is decided all at once, either way", async () => {
    const panel = await rig().open();
    const nothing = panel.page.getByRole("heading", { name: "Nothing waits for you" });
    const decisions = [
      ["Shift+N", "denied"],
      ["Shift+Y", "approved"],
    ] as const;
    for (const [key, stand] of decisions) {
      await asking("banana", "damson");
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

describe("what the user has said for longer", () => {
  /** Decides what waits, for longer than once. Answers with what the list of rules says then. */
  async function ruled({ page, go }: Panel, scope: string, decision: RegExp): Promise<readonly string[]> {
    await go(`/s/${session}/approvals`);
    await page.getByRole("radio", { name: scope }).check();
    await page.getByRole("button", { name: decision }).click();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    const rules = page.getByRole("list", { name: "Rules" }).getByRole("listitem");
    await rules.first().waitFor();
    return await rules.locator("span").allInnerTexts();
  }

  test("is listed, and forgotten again", async () => {
    const asks = async (): Promise<void> => {
      const target = `${await resultOf("cherry")}`;
      rig().script([call("aperture_manage", { verb: "pin", target })], [text("I wait.")]);
      await say("Keep the cherries.");
    };
    await rig().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
    const panel = await rig().open();
    const { page } = panel;
    const list = page.getByRole("list", { name: "Rules" });
    const forget = page.getByRole("button", { name: /^Forget/ });
    await asks();
    expect(await ruled(panel, "always", /^Deny/)).toEqual([
      expect.stringMatching(/^You deny every pin of Claude on blocks in \w+, in every session, since \d{4}-/),
    ]);
    await forget.click();
    await list.waitFor({ state: "detached" });
    const kept = await rig().api<{ readonly rows: readonly unknown[] }>("/permissions");
    expect(kept.rows).toEqual([]);
    await asks();
    expect(await ruled(panel, "this session", /^Deny/)).toEqual(["You denied pin by model in this session"]);
    await forget.click();
    await list.waitFor({ state: "detached" });
    await asks();
    await panel.go(`/s/${session}/approvals`);
    await page.getByRole("heading", { name: "1 command waiting" }).waitFor();
    await panel.close();
  }, 60_000);
});
