// Pages of other origins can do nothing with the browser of a logged-in user.
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { type ForeignSite, startForeignSite } from "./foreign-site.ts";
import { setUpPanel } from "./panel-setup.ts";
import { blockWith, createSampleSession } from "./sample-session.ts";

// Names that resolve to this machine, as a hostile name server would return them.
const setup = setUpPanel({ flags: ["--host-resolver-rules=MAP *.example 127.0.0.1"] });
let foreignSite: ForeignSite;
let session = "";
let block = 0;
let before = "";
let context: BrowserContext;

beforeAll(async () => {
  foreignSite = await startForeignSite();
  ({ session } = await createSampleSession(setup()));
  block = await blockWith(setup(), session, "tool-result", "package.json");
  const panel = await setup().open();
  context = panel.context;
  before = await readState();
}, 60_000);
afterAll(() => foreignSite.close());

/** The state that an attack could change. */
async function readState(): Promise<string> {
  const { api, exchanges } = setup();
  type State = { readonly seq: number };
  const { seq } = await api<State>(`/sessions/${session}/state`);
  const mode = await api<unknown>(`/sessions/${session}/mode`);
  const approvals = await api<{ readonly waiting: number }>(`/sessions/${session}/approvals`);
  return JSON.stringify([seq, mode, approvals.waiting, exchanges().length]);
}

/** Same site: another port of this machine, to which browsers send our cookie. Cross site: another host. */
const origins = ["same site", "cross site"] as const;
const originOf = (where: (typeof origins)[number]): string =>
  where === "same site" ? `http://127.0.0.1:${foreignSite.port}` : `http://evil.example:${foreignSite.port}`;

/** Opens a foreign page for each test and expects an unchanged state after it. */
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
      expect(await readState()).toBe(before);
    };
  });
  return {
    open,
    page: () => page,
    /** Proves that the browser sent the requests and the server refused them. */
    expectRefused: async (atLeast: number): Promise<void> => {
      expect((await refused()) - refusedBefore).toBeGreaterThanOrEqual(atLeast);
    },
  };
}

const writes = [
  [
    "a command",
    "ops",
    (block: number) => ({ command: { verb: "archive", target: `${block}`, reason: "theirs" } }),
  ],
  ["an undo", "undo", () => ({})],
  ["all approvals", "approvals", () => ({ decision: "approve" })],
] as const;

describe.each(origins)("a %s page writes nothing", (where) => {
  const { open, page, expectRefused } = visits(where);

  test.each(writes)("%s by a form is refused", async (_, path, bodyOf) => {
    const url = `${setup().url}/api/v1/sessions/${session}/${path}`;
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const posting = await open();
      const answered = posting.waitForResponse(url);
      await posting.evaluate(
        ([action, enctype, json]) => {
          const form = document.createElement("form");
          Object.assign(form, { action, enctype, method: "post" });
          const field = document.createElement("input");
          // Name and value of the field together are valid JSON.
          field.name = `${json.slice(0, -1)},"x":"`;
          field.value = '"}';
          form.append(field);
          document.body.append(form);
          // After this call returns: leaving the page would lose its result.
          setTimeout(() => form.submit());
        },
        [url, type, JSON.stringify(bodyOf(block))] as const,
      );
      expect((await answered).status()).toBe(403);
      // Closing a page during a navigation may hang.
      await posting.waitForURL(url);
      await posting.close();
    }
  });

  test.each(writes)("%s by a script is refused", async (_, path, bodyOf) => {
    const url = `${setup().url}/api/v1/sessions/${session}/${path}`;
    const tries = [
      { mode: "no-cors", headers: { "content-type": "text/plain" } },
      { mode: "cors", headers: { "content-type": "text/plain" } },
      { mode: "cors", headers: { "content-type": "application/json", "x-aperture-csrf": "1" } },
    ] as const;
    for (const { mode, headers } of tries) {
      const result = await tryFetch(page(), url, {
        method: "POST",
        mode,
        headers,
        body: JSON.stringify(bodyOf(block)),
      });
      expect(result).toMatch(/^failed/);
    }
    await expectRefused(tries.length);
  });

  test("a mode or a selection by a script is refused", async () => {
    for (const [path, body] of [
      ["mode", { mode: "auto" }],
      ["selection", { blocks: [block] }],
    ] as const) {
      const url = `${setup().url}/api/v1/sessions/${session}/${path}`;
      const headers = { "content-type": "application/json", "x-aperture-csrf": "1" };
      const result = await tryFetch(page(), url, { method: "PUT", headers, body: JSON.stringify(body) });
      expect(result).toMatch(/^failed/);
    }
  });
});

describe.each(origins)("a %s page reads nothing", (where) => {
  const { page, expectRefused } = visits(where);

  test("by fetch, script, picture, style or events", async () => {
    const urls = ["/api/v1/sessions", `/api/v1/sessions/${session}/state`, "/", "/healthz"].map(
      (path) => setup().url + path,
    );
    for (const url of urls) expect(await tryFetch(page(), url, {})).toMatch(/^failed/);
    for (const tag of ["script", "img", "link"]) {
      for (const url of urls)
        expect([tag, url, await tryElement(page(), tag, url)]).toEqual([tag, url, "error"]);
    }
    expect(await tryEvents(page(), `${setup().url}/api/v1/events`)).toBe("error");
    await expectRefused(4 * urls.length + 1);
  });

  test("requests to the model are refused", async () => {
    const body = JSON.stringify({ model: "claude-opus-4-6", max_tokens: 9, messages: [] });
    const headers = { "content-type": "text/plain", "x-api-key": "k" };
    const url = `${setup().url}/v1/messages`;
    expect(await tryFetch(page(), url, { method: "POST", headers, body })).toMatch(/^failed/);
    expect(await tryFetch(page(), url, { method: "POST", mode: "no-cors", body })).toMatch(/^failed/);
    await expectRefused(2);
  });

  test.each(["/", "/api/v1/sessions"])("%s is not shown in a frame", async (path) => {
    const url = setup().url + path;
    expect(await framed(page(), url)).not.toMatch(/live|Sessions|rows/);
    await expectRefused(1);
    // Without sec-fetch-site the page is sent, with a policy that forbids frames.
    await page().route(url, async (route) => {
      const { "sec-fetch-site": _, ...headers } = await route.request().allHeaders();
      await route.fulfill({ response: await route.fetch({ headers }) });
    });
    expect(await framed(page(), url)).not.toMatch(/live|Sessions|rows|error/);
  });
});

test("the same request from the panel succeeds", async () => {
  const page = await context.newPage();
  await page.goto(setup().url);
  const url = `${setup().url}/api/v1/sessions/${session}/selection`;
  const headers = { "content-type": "application/json", "x-aperture-csrf": "1" };
  const body = JSON.stringify({ blocks: [block] });
  const result = await tryFetch(page, url, { method: "PUT", headers, body });
  expect(result).toMatch(/^basic 200 .*user-selected/);
  await tryFetch(page, url, { method: "PUT", headers, body: '{"blocks":[]}' });
  before = await readState();
  await page.close();
});

test("browsers send the cookie to other ports of this machine", async () => {
  const page = await context.newPage();
  await page.goto(originOf("same site"));
  expect(foreignSite.cookies.at(-1)).toMatch(/^aperture-/);
  await page.close();
});

test("a rebound host name gets 421", async () => {
  const page = await context.newPage();
  const port = new URL(setup().url).port;
  const answer = await page.goto(`http://rebound.example:${port}/`);
  expect(answer?.status()).toBe(421);
  expect(await page.content()).not.toContain("/assets/");
  // The browser takes page and API for one origin; the Host header differs.
  const headers = { "content-type": "application/json", "x-aperture-csrf": "1" };
  for (const path of ["/api/v1/sessions", "/login?code=1", "/healthz", "/metrics", "/v1/messages"]) {
    expect(await tryFetch(page, path, { headers })).toMatch(/^basic 421 /);
    expect(await tryFetch(page, path, { method: "POST", headers, body: "{}" })).toMatch(/^basic 421 /);
  }
  await page.close();
  expect(await readState()).toBe(before);
});

test("the page shows nothing without a login", async () => {
  const fresh = await setup().browser.newContext();
  const page = await fresh.newPage();
  await page.goto(`${setup().url}/s/${session}`);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  expect(await page.content()).not.toContain("token is refreshed");
  expect(await tryFetch(page, "/api/v1/sessions", {})).toMatch(/^basic 401 /);
  await fresh.close();
});

test("a login link works once", async () => {
  const link = await setup().link();
  const [one, other] = await Promise.all([setup().browser.newContext(), setup().browser.newContext()]);
  await (await one.newPage()).goto(link);
  const page = await other.newPage();
  expect((await page.goto(link))?.status()).toBe(401);
  expect(await other.cookies()).toEqual([]);
  const [cookie] = await one.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  await Promise.all([one.close(), other.close()]);
});

/** The number of requests the server has refused. */
async function refused(): Promise<number> {
  const metrics = await setup().metrics();
  return Number(/^aperture_requests_refused_total (\d+)$/m.exec(metrics)?.[1]);
}

/** The text of a frame in a page. */
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

type FetchOptions = {
  readonly method?: string;
  readonly mode?: "cors" | "no-cors";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The result a script of the page gets. */
function tryFetch(page: Page, url: string, options: FetchOptions): Promise<string> {
  return page.evaluate(
    async ([address, init]) => {
      try {
        const answer = await fetch(address, { credentials: "include", ...init });
        return `${answer.type} ${answer.status} ${(await answer.text()).slice(0, 2_000)}`;
      } catch (error) {
        return `failed: ${error}`;
      }
    },
    [url, options] as const,
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
