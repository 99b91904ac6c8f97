// What a user does in the panel reaches the model of a real client, and what is taken back leaves no trace.
import { beforeAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { rejections } from "../support/talker.ts";
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
  /** The model wants to let go of a file, and has to ask. Answers with the blocks it wants to let go. */
  async function asking(name: string): Promise<readonly number[]> {
    await rig().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
    const target = `${await resultOf(name)}`;
    rig().script([call("aperture_archive", { target, reason: "read and done" })], [text("I wait.")]);
    await say(`Are you done with ${name}?`);
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
});
