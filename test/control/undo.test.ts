// Undo and redo over the API: accepted and refused bodies.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Reply, serve, type TestControl, token } from "./serve.ts";

const session = "/api/v1/sessions/s1";
const headers = { authorization: `Bearer ${token}` };

let served: TestControl;
beforeEach(async () => {
  served = await serve();
  const watched = await served.session("s1");
  await watched.talk({ user: "hello", answer: "yes" });
  await watched.talk({ user: "more", answer: "no" });
});
afterEach(() => served.close());

const post = (path: string, body: unknown): Promise<Reply> => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return served.call(`${session}/${path}`, { method: "POST", headers, body: text });
};
const select = (...blocks: number[]): Promise<Reply> =>
  served.call(`${session}/selection`, { method: "PUT", headers, body: JSON.stringify({ blocks }) });
const selected = async () => (await served.get(`${session}/selection`)).json()["selected"];
const seqNow = async () => (await served.get(`${session}/steps`)).json()["seq"];

describe("undo and redo", () => {
  it("reverse the last step", async () => {
    await select(1);
    const undone = await post("undo", {});
    expect([undone.status, undone.json()]).toMatchObject([
      200,
      { verb: "undo", pending: [], step: { step: 1, did: "selected #1", done: false, by: "user" } },
    ]);
    expect(await selected()).toEqual([]);
    expect((await post("redo", {})).json()).toMatchObject({ verb: "redo", step: { step: 1, done: true } });
    expect(await selected()).toMatchObject([{ block: 1 }]);
  });

  it("restore a seq: steps done since are undone, steps undone since are redone", async () => {
    await select(1);
    await select(1, 2);
    const then = await seqNow();
    const before = await selected();
    await post("undo", {});
    await select(3);
    const restored = (await post("undo", { to: then })).json();
    expect(restored).toMatchObject({
      problem: null,
      steps: [
        { step: 3, done: false },
        { step: 2, done: true },
      ],
    });
    expect(await selected()).toEqual(before);
    expect((await post("undo", { to: then })).json()).toMatchObject({ error: { code: "AP_UNDO_EMPTY" } });
    expect((await post("undo", { to: 9_999 })).status).toBe(404);
    expect((await post("redo", { to: then })).status).toBe(400);
  });

  it("outlive the process", async () => {
    await select(1);
    await post("undo", { step: 1 });
    await served.reopen();
    expect((await served.get(`${session}/steps`)).json()).toMatchObject({ rows: [{ step: 1, done: false }] });
    expect((await post("redo", { step: 1 })).status).toBe(200);
  });

  it("are refused with a code, and then change nothing", async () => {
    expect([(await post("undo", {})).status, (await post("redo", {})).json()]).toMatchObject([
      409,
      { error: { code: "AP_UNDO_EMPTY" } },
    ]);
    await select(1);
    await select(2);
    const seq = await seqNow();
    expect((await post("undo", { step: 9 })).status).toBe(404);
    expect((await post("redo", { step: 1 })).json()).toMatchObject({ error: { code: "AP_UNDO_NOTHING" } });
    const conflict = await post("undo", { step: 1 });
    expect([conflict.status, conflict.json()]).toEqual([
      409,
      {
        error: {
          code: "AP_UNDO_CONFLICT",
          message: `Step 1 cannot be reversed: frame ${String(seq)} has changed the selection of #1 since.`,
        },
      },
    ]);
    expect(await seqNow()).toBe(seq);
  });

  it.each([
    ["nothing", ""],
    ["a list", "[1]"],
    ["null", "null"],
    ["another field", { steps: 1 }],
    ["one field too many", { step: 1, force: true }],
    ["a text", { step: "1" }],
    ["a fraction", { step: 1.5 }],
    ["zero", { step: 0 }],
  ])("are refused with %s", async (_, body) => {
    await select(1);
    const seq = await seqNow();
    expect((await post("undo", body)).json()).toMatchObject({ error: { code: "AP_INPUT_INVALID" } });
    expect(await seqNow()).toBe(seq);
  });
});

describe("steps", () => {
  it("come in pages, the newest last", async () => {
    for (const block of [1, 2, 3]) await select(block);
    const page = (await served.get(`${session}/steps?limit=2`)).json();
    expect(page).toMatchObject({ total: 3, next: 2, rows: [{ step: 2 }, { step: 3, actor: "user" }] });
    expect((await served.get(`${session}/steps?below=2`)).json()).toMatchObject({
      next: null,
      rows: [{ step: 1, did: "selected #1" }],
    });
    expect((await served.get(`${session}/steps?below=x`)).status).toBe(400);
  });
});
