// `select`, `expand` and `manifest`.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { RequestsPage, SelectionAnswer, StateRow } from "../../src/queries/answers/index.ts";
import { api, converse, openRig, post, type Rig, type Sent } from "./rig.ts";

const last = "/api/v1/sessions/last";
const mark = String.fromCharCode(27);

/** Long enough for a busy machine. */
const waiting = { timeout: 20_000, interval: 50 };

let rig: Rig;
let ids: readonly number[];
let sent: readonly Sent[];

/** The next turn of the conversation. */
async function nextTurn(text: string): Promise<void> {
  const { sent: previous, body } = sent.at(-1) as Sent; // there were turns before
  const { messages, ...rest } = JSON.parse(previous.toString("utf8")) as {
    readonly messages: readonly object[];
  };
  const { content } = JSON.parse(body.toString("utf8")) as { readonly content: unknown };
  const all = [...messages, { role: "assistant", content }, { role: "user", content: text }];
  await post(rig, JSON.stringify({ ...rest, messages: all }), { "x-aperture-session": "main" });
}

beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  sent = await converse(rig, "main", [`say hello ${mark}[31mred`, "say it again"]);
  await vi.waitFor(async () => {
    const { rows } = (await api(rig, `${last}/requests`)) as RequestsPage;
    expect(rows.map(({ outcome }) => outcome)).toEqual(["complete", "complete"]);
  }, waiting);
  ids = ((await api(rig, `${last}/state`)) as StateRow).blocks.map(({ n }) => n);
}, 60_000);
afterAll(() => rig.close());

describe("select", () => {
  test("prints what the model will read, for every way to write a block", async () => {
    const [one = 0, two = 0, three = 0] = ids;
    for (const args of [[`${one}`, `#${two}`], [`${one}..${two}`], [`block-${one}`, `block-${two}`]]) {
      const { code, out, err } = await rig.run(["select", ...args]);
      expect([code, out]).toEqual([0, `selected #${one} #${two}\n`]);
      expect(err).toBe(`The next turn tells the model: [user-selected] #${one} #${two}\n`);
    }
    expect(await rig.run(["select", "-q", `${three}`])).toMatchObject({
      out: `selected #${three}\n`,
      err: "",
    });
    const shown = await rig.run(["select"]);
    expect([shown.code, shown.out]).toEqual([0, `selected #${three}\n`]);
    const { out } = await rig.run(["select", "--json"]);
    expect(JSON.parse(out)).toEqual(await api(rig, `${last}/selection`));
  });

  test("reaches the model in its next turn", async () => {
    const [one = 0] = ids;
    await rig.run(["select", `${one}`]);
    await nextTurn("and more");
    expect(rig.upstream.exchanges.at(-1)?.body.toString()).toContain(`[user-selected] #${one}`);
  });

  test("--clear clears the selection, and an empty selection explains the syntax", async () => {
    const cleared = await rig.run(["select", "--clear", "--session", "last", "--stream", "1"]);
    expect(cleared).toMatchObject({
      code: 0,
      out: "nothing is selected\n",
      err: "The model will see no selection.\n",
    });
    expect((await rig.run(["select"])).err).toContain("In most shells a # needs quotes");
    expect(((await api(rig, `${last}/selection`)) as SelectionAnswer).selected).toEqual([]);
  });

  test("names unknown blocks, and keeps the selection if all are unknown", async () => {
    const [one = 0] = ids;
    const some = await rig.run(["select", `${one}`, "4000000"]);
    expect(some).toMatchObject({ code: 0, out: `selected #${one}\n` });
    expect(some.err).toContain("There is no block #4000000 in this view.");
    const none = await rig.run(["select", "4000000"]);
    expect(none).toMatchObject({ code: 4, out: "" });
    expect(none.err).toMatch(/There is no block #4000000 in this view; the nearest are #\d+/);
    expect((await rig.run(["select", "-q"])).out).toBe(`selected #${one}\n`);
  });

  test.each([
    [["select", "seven"], "is not a block"],
    [["select", "message-3"], "is not a block"],
    [["select", "1", "--clear"], "Give blocks or --clear, not both"],
  ])("%j is refused", async (args, message) => {
    const ended = await rig.run(args);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.err).toContain(message);
  });
});

describe("expand", () => {
  test("prints stored content, and changes no request", async () => {
    const state = (await api(rig, `${last}/state`)) as StateRow;
    const spoken = state.blocks.find(({ kind }) => kind === "user");
    const { code, out, err } = await rig.run(["expand", `#${spoken?.n}`]);
    expect([code, err]).toEqual([0, "(printed from the store; requests to the model do not change)\n"]);
    expect(out).toContain(
      `[---- preserved user #${spoken?.n}, message ${spoken?.message}, turn 1]\nsay hello`,
    );
    expect(out).not.toContain(mark);
    const range = await rig.run(["expand", `message-${spoken?.message}..9999`, "-q"]);
    expect([range.err, range.out.split("end of #").length > 2]).toEqual(["", true]);
    const { out: json } = await rig.run(["expand", `${spoken?.n}`, "--json"]);
    expect(JSON.parse(json)).toEqual(await api(rig, `${last}/expansion?block=${spoken?.n}`));
    expect(((await api(rig, `${last}/state`)) as StateRow).seq).toBe(state.seq);
  });

  test.each([
    [["expand"], 2, "needs TARGET"],
    [["expand", "x"], 2, "cannot be expanded"],
    [["expand", "1..2"], 2, "message-10..25"],
    [["expand", "4000000"], 4, "the nearest are #"],
    [["expand", "message-4000000"], 4, "its messages are"],
    [["expand", "1", "--stream", "9"], 4, "There is no stream 9"],
  ])("%j ends with %d", async (args, code, message) => {
    const ended = await rig.run(args);
    expect(ended).toMatchObject({ code, out: "" });
    expect(ended.err).toContain(message);
  });
});

describe("manifest", () => {
  test("prints the manifest, in both forms", async () => {
    const { out } = await rig.run(["manifest"]);
    expect(out).toMatch(
      /^\[CONTEXT MANIFEST ---- turn \d+ \| \d+ blocks \| ~?[\d.]+k?\/200k tokens, \d+%\]\n/,
    );
    const detailed = (await rig.run(["manifest", "--detailed"])).out;
    expect(detailed.split("\n").length).toBeGreaterThan(out.split("\n").length);
  });
});

test("verbs say that a session is only observed", async () => {
  const body = {
    model: "claude-sonnet-4-5",
    max_tokens: 9,
    messages: [{ role: "user", content: "hi there" }],
  };
  await post(rig, JSON.stringify(body), { "x-aperture-session": "raw", "x-aperture-mode": "observe" });
  await vi.waitFor(async () => {
    const [, row = ""] = (await rig.run(["sessions"])).out.split("\n");
    expect(row).toMatch(/hi there.*\bobserved\b/);
  }, 10_000);
  expect((await rig.run(["status"])).out).toMatch(/^sessions +2, 0 active, 1 managed, 1 observed$/m);
  expect((await rig.run(["select", "1"])).err).toContain("only observed: its model learns nothing of it");
  expect((await rig.run(["manifest"])).err).toContain("only observed: its model does not get the manifest");
  // A session in mode ask counts as managed.
  expect((await rig.run(["mode", "ask", "--session", "name:main"])).code).toBe(0);
  expect((await rig.run(["status"])).out).toMatch(/^sessions +2, 0 active, 1 managed, 1 observed$/m);
});

test("a session mode cannot override an Aperture that only observes", async () => {
  const quiet = await openRig();
  try {
    const started = quiet.start(["up"], { APERTURE_MODE: "observe" });
    await started.saw(/listening on/);
    await converse(quiet, "main", ["say hello"]);
    const raised = await vi.waitFor(async () => {
      const ended = await quiet.run(["mode", "auto"]);
      expect(ended.code).toBe(0);
      return ended;
    }, waiting);
    expect(raised.err).toContain("configured to observe");
    expect((await quiet.run(["mode", "observe"])).err).toContain("requests are sent unchanged");
  } finally {
    await quiet.close();
  }
}, 60_000);
