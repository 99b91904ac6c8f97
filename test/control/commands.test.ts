// Commands of the user over the API: executed, planned, refused, repeated.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Reply, serve, type TestControl, token } from "./serve.ts";

const session = "/api/v1/sessions/s1";
const headers = { authorization: `Bearer ${token}` };

let served: TestControl;
beforeEach(async () => {
  served = await serve();
  const watched = await served.session("s1");
  await watched.talk({ user: "Fix the login page, please", answer: "I will look at it." });
  await watched.talk({ user: "And the tests", answer: "Done." });
});
afterEach(() => served.close());

const send = (method: string, path: string, body: unknown): Promise<Reply> =>
  served.call(`${session}/${path}`, { method, headers, body: JSON.stringify(body) });
const act = (command: unknown, more: object = {}): Promise<Reply> =>
  send("POST", "ops", { command, ...more });
const plan = (command: unknown): Promise<Reply> => send("POST", "plan", { command });
const stateNow = async () => (await served.get(`${session}/state`)).json();
const rows = async () => (await stateNow())["blocks"] as readonly { n: number; pinned: boolean }[];
const seqNow = async () => (await served.get(`${session}/steps`)).json()["seq"];

describe("a command of the user", () => {
  it.each([
    ["as text", "@pin(block-1)"],
    ["as fields", { verb: "pin", target: 1 }],
  ])("is executed, %s, and undone", async (_, command) => {
    const done = await act(command);
    expect([done.status, done.json()]).toMatchObject([
      200,
      {
        verb: "pin",
        step: 1,
        blocks: [1],
        dryRun: false,
        skipped: [],
        command: "@pin(block-1, position: top)",
      },
    ]);
    expect((await rows())[0]).toMatchObject({ n: 1, pinned: true });
    expect((await send("POST", "undo", {})).status).toBe(200);
    expect((await rows())[0]).toMatchObject({ n: 1, pinned: false });
  });

  it("is only planned in a dry run, with the same figures", async () => {
    const seq = await seqNow();
    const command = { verb: "archive", target: "1..2", reason: "done with it" };
    const planned = (await plan(command)).json();
    expect(planned).toMatchObject({ dryRun: true, step: null, blocks: [1, 2], verb: "archive" });
    expect(await seqNow()).toBe(seq);
    const done = (await act(command)).json();
    expect(done).toMatchObject({ dryRun: false, step: 1, blocks: [1, 2], freed: planned["freed"] });
    expect([done["cut"], done["bill"]]).toEqual([planned["cut"], planned["bill"]]);
  });

  it("reports skipped blocks and their reasons", async () => {
    await act("@pin(block-1)");
    const done = (await act({ verb: "archive", target: "1..2" })).json();
    expect(done).toMatchObject({
      blocks: [2],
      locks: [1],
      skipped: [{ block: 1, code: "AP_CHANGE_PINNED" }],
    });
  });

  it("restores, and sets the scope", async () => {
    await act({ verb: "archive", target: 2, reason: "done" });
    expect((await act("@restore(2)")).json()).toMatchObject({ verb: "restore", blocks: [2], step: 2 });
    expect((await act("@scope(project, 2)")).json()).toMatchObject({ blocks: [2], step: 3 });
    expect((await act({ verb: "scope", target: 2, scope: "project" })).json()).toMatchObject({
      blocks: [],
      step: null,
    });
  });

  it("creates a memory, and undoes it", async () => {
    const done = (
      await act({ verb: "create", text: "The login page is in src/login.ts", topic: "login" })
    ).json();
    expect(done).toMatchObject({ verb: "create", step: 1 });
    expect(String(done["text"])).toMatch(/^Noted as #\d+\.$/);
    const before = (await rows()).length;
    expect((await send("POST", "undo", {})).status).toBe(200);
    expect((await rows()).length).toBe(before - 1);
  });

  it("purges for good", async () => {
    const purged = await act("@purge(2)");
    expect(purged.json()).toMatchObject({ verb: "purge", blocks: [2], step: null });
    const block = (await served.get(`${session}/blocks/2`)).json();
    expect(block).toMatchObject({ content: null, problem: "AP_CONTENT_PURGED" });
    expect((await act({ verb: "recall", target: 2 })).json()).toMatchObject({
      skipped: [{ block: 2, code: "AP_BLOCK_PURGED" }],
    });
  });

  it("refuses to withhold in an observed session", async () => {
    const refused = await act("@withhold(1)");
    expect([refused.status, refused.json()]).toMatchObject([409, { error: { code: "AP_COMMAND_REFUSED" } }]);
  });

  it("recalls", async () => {
    const read = (await act('@recall("login")')).json();
    expect(read).toMatchObject({ verb: "recall", step: null, blocks: [] });
    expect(read["text"]).toContain("Fix the login page");
  });

  it("answers lookups in a dry run, and writes nothing", async () => {
    const before = await seqNow();
    const planned = (await plan('@recall("login")')).json();
    expect(planned).toMatchObject({ verb: "recall", dryRun: true, step: null, blocks: [] });
    expect(planned["text"]).toContain("Fix the login page");
    expect((await plan("@expand(1)")).json()["text"]).toContain("Fix the login page, please");
    expect(await seqNow()).toBe(before);
  });

  it.each([
    ["an unknown id", "@pin(block-99)", [404, "AP_BLOCKS_UNKNOWN"]],
    ["an unknown verb", "@forget(block-1)", [400, "AP_COMMAND_INVALID"]],
    ["a verb without a target", { verb: "purge" }, [400, "AP_COMMAND_INVALID"]],
    ["an empty target", "@purge()", [400, "AP_COMMAND_INVALID"]],
    ["an unknown scope", "@scope(world, 1)", [400, "AP_COMMAND_INVALID"]],
    ["an unknown topic", '@archive("quantum")', [404, "AP_TOPIC_UNKNOWN"]],
    ["a list", ["@pin(1)"], [400, "AP_INPUT_INVALID"]],
    ["nothing", null, [400, "AP_INPUT_INVALID"]],
  ])("is refused with %s, and changes nothing", async (_, command, [status, code]) => {
    const seq = await seqNow();
    for (const reply of [await act(command), await plan(command)]) {
      expect([reply.status, reply.json()]).toMatchObject([status, { error: { code } }]);
    }
    expect(await seqNow()).toBe(seq);
  });

  it("is executed once per key", async () => {
    const note = { verb: "create", text: "kept once" };
    const [one, two] = await Promise.all([act(note, { key: "a" }), act(note, { key: "a" })]);
    expect(one.text).toBe(two.text);
    expect(await seqNow()).toBe(one.json()["seq"]);
    const other = await act({ verb: "create", text: "another" }, { key: "a" });
    expect(other.json()).toMatchObject({ error: { code: "AP_INPUT_INVALID" } });
    expect((await act(note, { kee: "a" })).status).toBe(400);
  });
});

describe("a lasting permission", () => {
  it.each([
    {},
    { verb: "archive" },
    { verb: "fly", rule: "allow" },
    { verb: "archive", rule: "maybe" },
    { verb: "archive", zone: "moon", rule: "allow" },
    { verb: "archive", rule: "allow", actor: "client" },
    [],
  ])("is refused as %j", async (body) => {
    const sent = { method: "PUT", headers, body: JSON.stringify(body) };
    expect((await served.call("/api/v1/permissions", sent)).status).toBe(400);
  });
});

describe("the mode of a session", () => {
  it("is set, read, and undone", async () => {
    expect((await served.get(`${session}/mode`)).json()).toMatchObject({ mode: null });
    expect((await send("PUT", "mode", { mode: "ask" })).json()).toMatchObject({ mode: "ask" });
    await send("POST", "undo", {});
    expect((await served.get(`${session}/mode`)).json()).toMatchObject({ mode: null });
    await send("PUT", "mode", { mode: "auto" });
    expect((await send("PUT", "mode", { mode: null })).json()).toMatchObject({ mode: null });
  });

  it.each([{}, { mode: "loud" }, { mode: "ask", more: 1 }, []])("is refused as %j", async (body) => {
    expect((await send("PUT", "mode", body)).status).toBe(400);
  });
});
