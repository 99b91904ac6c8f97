// Content of clients, models and tools is shown as text: it never runs and never sends a request.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { type Panel, setUpPanel, waitUntilSettled } from "./panel-setup.ts";
import { blockWith, call, managedRequest, sampleModel, text } from "./sample-session.ts";

const setup = setUpPanel();
let session = "";
let result = 0;
let request = 0;

/** Each would set a global variable or send a request to another server. */
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
  const client = await setup().client({
    name: path,
    files: { [path]: `${all}\n`.repeat(20) },
    bulk: all.repeat(60),
  });
  const send = async (prompt: string): Promise<void> => {
    await client.send(prompt, { model: sampleModel });
    await setup().recorded();
  };
  setup().script([text(all), call("read", { path })], [text(all)]);
  await send(all);
  const { rows } = await setup().api<{ rows: readonly { id: string }[] }>("/sessions?limit=1");
  session = must(rows[0], "the client has made one").id;
  result = await blockWith(setup(), session, "tool-result", "read");
  setup().script(
    [
      call("aperture_note", { verb: "create", text: all, topic: path }),
      call("aperture_manage", { verb: "pin", target: `${result}` }),
    ],
    [text("noted")],
  );
  await send(`once more ${all}`);
  await setup().api(`/sessions/${session}/mode`, { method: "PUT", body: { mode: "ask" } });
  setup().script(
    [call("aperture_archive", { target: `${result}`, reason: all.slice(0, 150) })],
    [text("I wait.")],
  );
  await send("and again");
  request = await managedRequest(setup(), session);
}, 60_000);

/** Expects that no payload ran or became an element. */
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

const screens = [
  ["the list of sessions", () => "/"],
  ["the context", () => `/s/${session}`],
  ["an earlier seq", () => `/s/${session}?at=6`],
  ["the inspector", () => `/s/${session}?block=${result}`],
  ["approvals", () => `/s/${session}/approvals`],
  ["requests", () => `/s/${session}/requests`],
  ["a diff", () => `/s/${session}/requests/${request}`],
  ["what the client sent", () => `/s/${session}/requests/${request}/client`],
  ["what went upstream", () => `/s/${session}/requests/${request}/upstream`],
  ["a response", () => `/s/${session}/requests/${request}/response`],
  ["facts of a request", () => `/s/${session}/requests/${request}/facts`],
] as const;

describe("content with code", () => {
  test.each(screens)("is text in %s", async (_, path) => {
    const panel = await setup().open();
    await panel.go(path());
    await panel.page.waitForTimeout(300);
    await expectInert(panel);
    await panel.close();
  });

  test("is readable text in every tab of the inspector", async () => {
    const panel = await setup().open();
    await panel.go(`/s/${session}?block=${result}`);
    const inspector = panel.page.locator(".inspector");
    await inspector.getByText(must(short, "there are some")).first().waitFor();
    for (const tab of await inspector.getByRole("tab").all()) {
      await tab.click();
      await waitUntilSettled(panel.page);
      await expectInert(panel);
    }
    await panel.close();
  });

  test("is text in recall results and toasts", async () => {
    const panel = await setup().open();
    await panel.go(`/s/${session}`);
    await panel.page.keyboard.press("r");
    await panel.page.getByRole("dialog").getByRole("textbox").first().fill("script beacon");
    await panel.page.keyboard.press("Enter");
    await panel.page.waitForTimeout(500);
    await expectInert(panel);
    await panel.page.keyboard.press("Escape");
    await setup().api(`/sessions/${session}/ops`, {
      method: "POST",
      body: { command: { verb: "create", text: all, topic: short } },
    });
    await panel.page.getByRole("status").first().waitFor();
    await panel.page.waitForTimeout(300);
    await expectInert(panel);
    await panel.close();
  });
});

test("the content security policy refuses injected code", async () => {
  const panel = await setup().open();
  panel.problems.expects(/policy|Content Security Policy|evil\.example/);
  await panel.go(`/s/${session}`);
  expect(await injectEverything(panel.page)).toEqual({
    ran: null,
    refused: expect.arrayContaining(refusedKinds),
  });
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

/** Injects scripts, pictures, frames and styles that the policy must refuse. */
function injectEverything(page: Page) {
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
