// Whatever a client, a model or a tool says is shown as text: none of it runs, and none of it calls anybody.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { type Panel, panelRig, settled } from "./rig.ts";
import { blockWith, call, storyModel, text } from "./story.ts";

const rig = panelRig();
let session = "";
let result = 0;

/** Each would set a mark in the page, or ask a server that is not ours for something. */
const payloads = [
  "<script>globalThis.ran=1</script>",
  '<img src="http://evil.example/beacon.png" onerror="globalThis.ran=1">',
  '"><svg onload=globalThis.ran=1><iframe srcdoc="<script>parent.ran=1</script>">',
  "</pre></textarea></style></title><script>globalThis.ran=1</script>",
  "![beacon](http://evil.example/beacon.png) [click](javascript:globalThis.ran=1)",
  "{{constructor.constructor('globalThis.ran=1')()}} ${globalThis.ran=1}",
  '<a href="javascript:globalThis.ran=1" autofocus onfocus="globalThis.ran=1" tabindex=0>here</a>',
  '<link rel=stylesheet href="http://evil.example/a.css"><base href="http://evil.example/">',
];
const all = payloads.join("\n");
const [short] = payloads;

beforeAll(async () => {
  const path = must(short, "there are some");
  const client = await rig().client({
    name: path,
    files: { [path]: `${all}\n`.repeat(20) },
    bulk: all.repeat(60),
  });
  const say = async (prompt: string): Promise<void> => {
    await client.say(prompt, { model: storyModel });
    await rig().recorded();
  };
  rig().script([text(all), call("read", { path })], [text(all)]);
  await say(all);
  const { rows } = await rig().api<{ rows: readonly { id: string }[] }>("/sessions?limit=1");
  session = must(rows[0], "the client has made one").id;
  result = await blockWith(rig(), session, "tool-result", "read");
  rig().script(
    [
      call("aperture_note", { verb: "create", text: all, topic: path }),
      call("aperture_manage", { verb: "pin", target: `${result}` }),
    ],
    [text("noted")],
  );
  await say(`once more ${all}`);
  await rig().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
  rig().script(
    [call("aperture_archive", { target: `${result}`, reason: all.slice(0, 150) })],
    [text("I wait.")],
  );
  await say("and again");
}, 60_000);

/** Nothing ran, and nothing became an element that was meant to be text. */
async function expectInert({ page }: Panel): Promise<void> {
  const found = await page.evaluate(() => ({
    ran: (globalThis as { readonly ran?: unknown }).ran ?? null,
    elements: [...document.querySelectorAll("img, iframe, object, embed, base, script:not([src])")].length,
    handlers: [...document.querySelectorAll("[onerror], [onload], [onfocus], [srcdoc]")].length,
    links: [...document.querySelectorAll<HTMLAnchorElement>("a[href]")]
      .map(({ href }) => href)
      .filter((href) => !href.startsWith(`${location.origin}/`)),
  }));
  expect(found).toEqual({ ran: null, elements: 0, handlers: 0, links: [] });
}

const places = [
  ["the list of sessions", () => "/"],
  ["the context", () => `/s/${session}`],
  ["an earlier seq", () => `/s/${session}?at=6`],
  ["the inspector", () => `/s/${session}?block=${result}`],
  ["approvals", () => `/s/${session}/approvals`],
  ["requests", () => `/s/${session}/requests`],
  ["a diff", () => `/s/${session}/requests/3`],
  ["what the client sent", () => `/s/${session}/requests/3/client`],
  ["what went upstream", () => `/s/${session}/requests/3/upstream`],
  ["a response", () => `/s/${session}/requests/3/response`],
  ["facts of a request", () => `/s/${session}/requests/3/facts`],
] as const;

describe("content that is code", () => {
  test.each(places)("is text in %s", async (_, path) => {
    const panel = await rig().open();
    await panel.go(path());
    await panel.page.waitForTimeout(300);
    await expectInert(panel);
    await panel.close();
  });

  test("is text in every tab of the inspector, and can be read there", async () => {
    const panel = await rig().open();
    await panel.go(`/s/${session}?block=${result}`);
    const inspector = panel.page.locator(".inspector");
    await inspector.getByText(must(short, "there are some")).first().waitFor();
    for (const tab of await inspector.getByRole("tab").all()) {
      await tab.click();
      await settled(panel.page);
      await expectInert(panel);
    }
    await panel.close();
  });

  test("is text in what is found, and in what is said about it", async () => {
    const panel = await rig().open();
    await panel.go(`/s/${session}`);
    await panel.page.keyboard.press("r");
    await panel.page.getByRole("dialog").getByRole("textbox").first().fill("script beacon");
    await panel.page.keyboard.press("Enter");
    await panel.page.waitForTimeout(500);
    await expectInert(panel);
    await panel.page.keyboard.press("Escape");
    await rig().api(`/sessions/${session}/ops`, {
      method: "POST",
      body: { command: { verb: "create", text: all, topic: short } },
    });
    await panel.page.getByRole("status").first().waitFor();
    await panel.page.waitForTimeout(300);
    await expectInert(panel);
    await panel.close();
  });
});

test("what would get into the page by a mistake of ours is still refused by its policy", async () => {
  const panel = await rig().open();
  panel.troubles.expects(/policy|Content Security Policy|evil\.example/);
  await panel.go(`/s/${session}`);
  expect(await misled(panel.page)).toEqual({ ran: null, refused: expect.arrayContaining(refusedKinds) });
  await panel.close();
});

const refusedKinds = [
  "script-src-elem",
  "script-src-attr",
  "img-src",
  "frame-src",
  "connect-src",
  "style-src-elem",
];

/** Puts everything into the page that must not work there. */
function misled(page: Page) {
  return page.evaluate(async () => {
    const refused = new Set<string>();
    addEventListener("securitypolicyviolation", (event) => refused.add(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = 1";
    document.body.append(script);
    const far = document.createElement("div");
    far.innerHTML =
      '<img src="http://evil.example/x.png" onerror="globalThis.ran=1"><iframe src="http://evil.example/"></iframe>' +
      '<link rel="stylesheet" href="http://evil.example/x.css">';
    document.body.append(far);
    await fetch("http://evil.example/").catch(() => null);
    await new Promise((next) => setTimeout(next, 300));
    return { ran: (globalThis as { readonly ran?: unknown }).ran ?? null, refused: [...refused] };
  });
}
