// What other pages can do to the panel with the browser of a user who is logged in: nothing.
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { panelRig } from "./rig.ts";
import { tellStory } from "./story.ts";
import { type Stranger, startStranger } from "./stranger.ts";

// Names that lead to this machine, as a hostile name server would have it.
const rig = panelRig({ flags: ["--host-resolver-rules=MAP *.example 127.0.0.1"] });
let stranger: Stranger;
let session = "";
let before = "";
let context: BrowserContext;

beforeAll(async () => {
  stranger = await startStranger();
  ({ session } = await tellStory(rig()));
  const panel = await rig().open();
  context = panel.context;
  before = await worldNow();
}, 60_000);
afterAll(() => stranger.close());

/** Everything an attack could have changed. */
async function worldNow(): Promise<string> {
  const { api, exchanges } = rig();
  type State = { readonly seq: number };
  const { seq } = await api<State>(`/sessions/${session}/state`);
  const mode = await api<unknown>(`/sessions/${session}/mode`);
  const approvals = await api<{ readonly waiting: number }>(`/sessions/${session}/approvals`);
  return JSON.stringify([seq, mode, approvals.waiting, exchanges().length]);
}

/** Same site: another port of this machine, to which browsers send our cookie. Cross site: any other page. */
const origins = ["same site", "cross site"] as const;
const originOf = (where: (typeof origins)[number]): string =>
  where === "same site" ? `http://127.0.0.1:${stranger.port}` : `http://evil.example:${stranger.port}`;

/** A page of somebody else for each test. Whatever it tries, nothing has changed behind it. */
function visits(where: (typeof origins)[number]) {
  let page: Page;
  let refusedBefore = 0;
  const open = async (): Promise<Page> => {
    const fresh = await context.newPage();
    await fresh.goto(originOf(where));
    return fresh;
  };
  beforeEach(async () => {
    page = await open();
    refusedBefore = await refused();
    return async () => {
      await page.close();
      expect(await worldNow()).toBe(before);
    };
  });
  return {
    open,
    page: () => page,
    /** The browser did send them: it was the server that said no. */
    expectRefused: async (atLeast: number): Promise<void> => {
      expect((await refused()) - refusedBefore).toBeGreaterThanOrEqual(atLeast);
    },
  };
}

const writes = [
  ["a command", "ops", { command: { verb: "archive", target: "4", reason: "theirs" } }],
  ["an undo", "undo", {}],
  ["all approvals", "approvals", { decision: "approve" }],
] as const;

describe.each(origins)("a page of the %s writes nothing", (where) => {
  const { open, page, expectRefused } = visits(where);

  test.each(writes)("posts %s with a form, and is refused", async (_, path, body) => {
    const url = `${rig().url}/api/v1/sessions/${session}/${path}`;
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const posting = await open();
      const answered = posting.waitForResponse(url);
      await posting.evaluate(
        ([action, enctype, json]) => {
          const form = document.createElement("form");
          Object.assign(form, { action, enctype, method: "post" });
          const field = document.createElement("input");
          // The oldest trick: a name and a value that make up a text of JSON.
          field.name = `${json.slice(0, -1)},"x":"`;
          field.value = '"}';
          form.append(field);
          document.body.append(form);
          // Behind the answer to this call, which leaving the page would take away.
          setTimeout(() => form.submit());
        },
        [url, type, JSON.stringify(body)] as const,
      );
      expect((await answered).status()).toBe(403);
      // A page that is closed while it goes elsewhere may hang.
      await posting.waitForURL(url);
      await posting.close();
    }
  });

  test.each(writes)("posts %s with a script, and is refused", async (_, path, body) => {
    const url = `${rig().url}/api/v1/sessions/${session}/${path}`;
    const tries = [
      { mode: "no-cors", headers: { "content-type": "text/plain" } },
      { mode: "cors", headers: { "content-type": "text/plain" } },
      { mode: "cors", headers: { "content-type": "application/json", "x-aperture-csrf": "1" } },
    ] as const;
    for (const { mode, headers } of tries) {
      const heard = await tryFetch(page(), url, {
        method: "POST",
        mode,
        headers,
        body: JSON.stringify(body),
      });
      expect(heard).toMatch(/^failed/);
    }
    await expectRefused(tries.length);
  });

  test("sets a mode or a selection with a script, and is refused before it is sent", async () => {
    for (const [path, body] of [
      ["mode", { mode: "auto" }],
      ["selection", { blocks: [4] }],
    ] as const) {
      const url = `${rig().url}/api/v1/sessions/${session}/${path}`;
      const headers = { "content-type": "application/json", "x-aperture-csrf": "1" };
      const heard = await tryFetch(page(), url, { method: "PUT", headers, body: JSON.stringify(body) });
      expect(heard).toMatch(/^failed/);
    }
  });
});

describe.each(origins)("a page of the %s sees nothing", (where) => {
  const { page, expectRefused } = visits(where);

  test("not by a script, not as one, not as a picture, not as events", async () => {
    const urls = ["/api/v1/sessions", `/api/v1/sessions/${session}/state`, "/", "/healthz"].map(
      (path) => rig().url + path,
    );
    for (const url of urls) expect(await tryFetch(page(), url, {})).toMatch(/^failed/);
    for (const tag of ["script", "img", "link"]) {
      for (const url of urls)
        expect([tag, url, await tryElement(page(), tag, url)]).toEqual([tag, url, "error"]);
    }
    expect(await tryEvents(page(), `${rig().url}/api/v1/events`)).toBe("error");
    await expectRefused(4 * urls.length + 1);
  });

  test("spends none of the user's model: requests to it are refused too", async () => {
    const body = JSON.stringify({ model: "claude-opus-4-6", max_tokens: 9, messages: [] });
    const headers = { "content-type": "text/plain", "x-api-key": "k" };
    const url = `${rig().url}/v1/messages`;
    expect(await tryFetch(page(), url, { method: "POST", headers, body })).toMatch(/^failed/);
    expect(await tryFetch(page(), url, { method: "POST", mode: "no-cors", body })).toMatch(/^failed/);
    await expectRefused(2);
  });

  test.each(["/", "/api/v1/sessions"])("shows %s in no frame", async (path) => {
    const url = rig().url + path;
    expect(await framed(page(), url)).not.toMatch(/live|Sessions|rows/);
    await expectRefused(1);
    // A browser that does not say who asks gets the page, and is told to show it in no frame.
    await page().route(url, async (route) => {
      const { "sec-fetch-site": _, ...headers } = await route.request().allHeaders();
      await route.fulfill({ response: await route.fetch({ headers }) });
    });
    expect(await framed(page(), url)).not.toMatch(/live|Sessions|rows|error/);
  });
});

test("the same request from the panel itself is carried out: what was refused was refused for its origin", async () => {
  const page = await context.newPage();
  await page.goto(rig().url);
  const url = `${rig().url}/api/v1/sessions/${session}/selection`;
  const headers = { "content-type": "application/json", "x-aperture-csrf": "1" };
  type State = { readonly blocks: readonly { readonly n: number }[] };
  const { blocks } = await rig().api<State>(`/sessions/${session}/state`);
  const body = JSON.stringify({ blocks: [must(blocks.at(-1), "the story has blocks").n] });
  const heard = await tryFetch(page, url, { method: "PUT", headers, body });
  expect(heard).toMatch(/^basic 200 .*user-selected/);
  await tryFetch(page, url, { method: "PUT", headers, body: '{"blocks":[]}' });
  before = await worldNow();
  await page.close();
});

test("the cookie goes to other ports of this machine, so that it alone must not be enough", async () => {
  const page = await context.newPage();
  await page.goto(originOf("same site"));
  expect(stranger.cookies.at(-1)).toMatch(/^aperture-/);
  await page.close();
});

test("a name that was made to lead here gets nothing under our own port", async () => {
  const page = await context.newPage();
  const port = new URL(rig().url).port;
  const answer = await page.goto(`http://rebound.example:${port}/`);
  expect(answer?.status()).toBe(421);
  expect(await page.content()).not.toContain("/assets/");
  // For the browser this page and the API are one origin now; Host gives it away.
  const headers = { "content-type": "application/json", "x-aperture-csrf": "1" };
  for (const path of ["/api/v1/sessions", "/login?code=1", "/healthz", "/metrics", "/v1/messages"]) {
    expect(await tryFetch(page, path, { headers })).toMatch(/^basic 421 /);
    expect(await tryFetch(page, path, { method: "POST", headers, body: "{}" })).toMatch(/^basic 421 /);
  }
  await page.close();
  expect(await worldNow()).toBe(before);
});

test("a stranger without a login sees the page, and nothing of anybody", async () => {
  const fresh = await rig().browser.newContext();
  const page = await fresh.newPage();
  await page.goto(`${rig().url}/s/${session}`);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  expect(await page.content()).not.toContain("token is refreshed");
  expect(await tryFetch(page, "/api/v1/sessions", {})).toMatch(/^basic 401 /);
  await fresh.close();
});

test("a link logs in once", async () => {
  const link = await rig().link();
  const [one, other] = await Promise.all([rig().browser.newContext(), rig().browser.newContext()]);
  await (await one.newPage()).goto(link);
  const page = await other.newPage();
  expect((await page.goto(link))?.status()).toBe(401);
  expect(await other.cookies()).toEqual([]);
  const [cookie] = await one.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  await Promise.all([one.close(), other.close()]);
});

/** How many requests the server has turned away so far. */
async function refused(): Promise<number> {
  const figures = await rig().figures();
  return Number(/^aperture_requests_refused_total (\d+)$/m.exec(figures)?.[1]);
}

/** What a frame in a page comes to show. */
async function framed(page: Page, url: string): Promise<string> {
  await page.evaluate((src) => {
    const frame = document.createElement("iframe");
    frame.src = src;
    document.body.replaceChildren(frame);
    return new Promise((done) => {
      frame.onload = done;
      setTimeout(done, 2_000);
    });
  }, url);
  const frame = must(page.frames()[1], "the element makes one");
  return await frame.evaluate(() => document.body.innerText);
}

type Trying = {
  readonly method?: string;
  readonly mode?: "cors" | "no-cors";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** What a script of the page gets to know. */
function tryFetch(page: Page, url: string, trying: Trying): Promise<string> {
  return page.evaluate(
    async ([address, init]) => {
      try {
        const answer = await fetch(address, { credentials: "include", ...init });
        return `${answer.type} ${answer.status} ${(await answer.text()).slice(0, 2_000)}`;
      } catch (error) {
        return `failed: ${error}`;
      }
    },
    [url, trying] as const,
  );
}

function tryElement(page: Page, tag: string, url: string): Promise<string> {
  return page.evaluate(
    ([name, address]) =>
      new Promise<string>((done) => {
        const element = document.createElement(name);
        element.onload = () => done("load");
        element.onerror = () => done("error");
        Object.assign(element, name === "link" ? { rel: "stylesheet", href: address } : { src: address });
        document.head.append(element);
      }),
    [tag, url] as const,
  );
}

function tryEvents(page: Page, url: string): Promise<string> {
  return page.evaluate(
    (address) =>
      new Promise<string>((done) => {
        const source = new EventSource(address, { withCredentials: true });
        source.onopen = () => done("open");
        source.onerror = () => done("error");
      }),
    url,
  );
}
