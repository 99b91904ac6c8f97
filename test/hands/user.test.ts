// The user acts on the context of a live session, and decides what its model may do.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PricedApprovals, PricedCommand, PricedRequests } from "../../src/control/index.ts";
import type { DecideAnswer, PermissionsAnswer } from "../../src/execute/index.ts";
import type { StateRow } from "../../src/queries/answers/index.ts";
import { type ModelReply, type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, startTestApp, type TestApp } from "../support/app.ts";
import { rejections, TestClient } from "../support/test-client.ts";

type ReplyPart = ModelReply["content"][number];

const text = (words: string): ReplyPart => ({ type: "text", text: words });
const call = (name: string, input: Record<string, unknown>): ReplyPart =>
  ({ type: "tool_use", name, input }) as ReplyPart;

let upstream: StrictUpstream;
let app: TestApp;
let talker: TestClient;
let replies: (readonly ReplyPart[])[] = [];
let answers = 0;

beforeEach(async () => {
  replies = [];
  answers = 0;
  upstream = await startStrictUpstream({
    model: () => {
      answers += 1;
      return { content: replies.shift() ?? [text(`nothing more, for the time ${answers}`)] };
    },
  });
  app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } });
  talker = new TestClient({ model: "claude-opus-4-6", bulk: 80_000 });
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

async function turn(words: string): Promise<string> {
  const answer = await talker.turn(app.url, words);
  expect([answer.status, answer.isWhole]).toEqual([200, true]);
  await app.recorded();
  return bodyNow();
}

const bodyNow = (): string => upstream.exchanges.at(-1)?.body.toString() ?? "";

async function send<T>(method: string, path: string, body: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
  const address = `${app.url}/api/v1/sessions/last/${path}`;
  const answer = await ask(address, { method, headers, body: JSON.stringify(body) });
  expect([answer.status, answer.status === 200 ? "" : answer.body.toString()]).toEqual([200, ""]);
  return JSON.parse(answer.body.toString()) as T;
}
const act = (command: unknown): Promise<PricedCommand> => send("POST", "ops", { command });
const plan = (command: unknown): Promise<PricedCommand> => send("POST", "plan", { command });
const approvals = async (): Promise<PricedApprovals> =>
  JSON.parse((await app.api("/sessions/last/approvals?all=1")).body.toString()) as PricedApprovals;

/** The block whose text holds the words. */
async function blockWith(words: string): Promise<number> {
  const recalled = await act({ verb: "recall", target: `"${words}"` });
  return Number(/#(\d+)/.exec(recalled.text)?.[1]);
}

/** Another model has no cache, so that a rewrite is free and comes with the next turn. */
function switchModel(model: string): void {
  const other = new TestClient({ session: talker.session, model });
  other.messages = talker.messages;
  talker = other;
}

describe("the user", () => {
  it("plans and archives; a rewrite removes the block, and an undo restores identical bytes", async () => {
    await turn("first question");
    await turn(`second question about ${"banana tree ".repeat(2_000)}`);
    await turn("third question");
    const block = await blockWith("banana");
    const planned = await plan({ verb: "archive", target: block, reason: "eaten" });
    expect(planned).toMatchObject({ dryRun: true, step: null, blocks: [block], mode: "auto" });
    expect(planned.freed).toBeGreaterThan(500);
    expect(planned.cut).toMatchObject({ block, freed: planned.freed });
    expect(planned.bill?.savedEach.tokens).toBeGreaterThan(0);
    const whole = messageWith(await turn("fourth question"), "banana tree");
    // The provider has counted another prompt since, which changes all fitted sizes.
    const { freed } = await plan({ verb: "archive", target: block, reason: "eaten" });
    const done = await act({ verb: "archive", target: block, reason: "eaten" });
    expect(done).toMatchObject({ blocks: [block], freed, dryRun: false });
    switchModel("claude-opus-4-8");
    const pruned = await turn("fifth question");
    expect(pruned).not.toContain("banana tree");
    expect(pruned).toContain("eaten");
    await send("POST", "undo", { step: done.step });
    switchModel("claude-opus-4-6");
    expect(messageWith(await turn("sixth question"), "banana tree")).toBe(whole);
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("forces a rewrite with the next request by `when: now`", async () => {
    await turn("first question");
    await turn(`second question about ${"banana tree ".repeat(40)}`);
    await turn(`third question ${"of something else ".repeat(4_000)}`);
    const block = await blockWith("banana");
    const archive = { verb: "archive", target: block, reason: "eaten" };
    await send("POST", "ops", { command: archive });
    // Little would be freed and the cache is warm, so the change waits.
    expect(await turn("fourth question")).toContain("banana tree");
    await send("POST", "ops", { command: { verb: "restore", target: block } });
    await send("POST", "ops", { command: archive, when: "now" });
    expect(await turn("fifth question")).not.toContain("banana tree");
    const { rows } = JSON.parse((await app.api("/sessions/last/requests")).body.toString()) as PricedRequests;
    expect(rows.at(-1)?.rewrite).toMatchObject({ reason: "user", blocks: [block] });
    expect(await turn("sixth question")).not.toContain("banana tree");
    const again = JSON.parse((await app.api("/sessions/last/requests")).body.toString()) as PricedRequests;
    expect(again.rows.at(-1)?.rewrite).toBeNull();
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("pins, and the model is told once", async () => {
    await turn("first question");
    await turn("second question");
    const block = await blockWith("first question");
    await act({ verb: "pin", target: block });
    expect(await turn("third question")).toContain(`user pinned #${block}`);
    expect(await turn("fourth question")).not.toContain(`user pinned #${block}`);
  });

  it("creates a memory that is in every request until it is withheld", async () => {
    await turn("first question");
    const created = await act({ verb: "create", text: "Never touch\nthe production database." });
    const memory = Number(/#(\d+)/.exec(created.text)?.[1]);
    const line = `memory #${memory}, the user's: Never touch the production database.]`;
    expect((await turn("second question")).split(line)).toHaveLength(2);
    expect((await turn("third question")).split(line)).toHaveLength(2);
    switchModel("claude-opus-4-8");
    expect((await turn("fourth question")).split(line)).toHaveLength(2);
    await act(`@withhold(${memory})`);
    expect(await turn("fifth question")).not.toContain("production database");
    expect(await turn("sixth question")).not.toContain("production database");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("purges a memory of the model with the call that made it", async () => {
    const text = "The staging server is the one called heron.";
    replies = [[call("aperture_note", { verb: "create", text })]];
    await turn("first question");
    expect((await turn("second question")).split(text)).toHaveLength(2);
    const stateNow = async () =>
      JSON.parse((await app.api("/sessions/last/state")).body.toString()) as StateRow;
    const blockOfKind = (kindName: string, { blocks }: StateRow): number =>
      blocks.find(({ kind }) => kind === kindName)?.n ?? expect.fail(`there is no ${kindName}`);
    const state = await stateNow();
    const [memory, noteCall] = [blockOfKind("memory", state), blockOfKind("tool-call", state)];
    const callNow = async () => (await app.api(`/sessions/last/blocks/${noteCall}`)).body.toString();
    expect(await callNow()).toContain("heron");
    await act(`@purge(${memory})`);
    expect((await turn("third question")).includes("heron")).toBe(false);
    expect(await callNow()).not.toContain("heron");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("withholds a block, and it is not sent any more", async () => {
    await turn("my secret is a very blue elephant");
    await turn("second question");
    const block = await blockWith("blue elephant");
    expect(await act(`@withhold(${block})`)).toMatchObject({ blocks: [block] });
    const sent = await turn("third question");
    expect(sent).not.toContain("blue elephant");
    expect(sent).toContain("withheld by the user");
    await act(`@release(${block})`);
    switchModel("claude-opus-4-8");
    expect(await turn("fourth question")).toContain("blue elephant");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("purges blocks, and they are neither sent, nor shown, nor exported any more", async () => {
    await turn("my secret is a very blue elephant");
    replies = [[call("look", { n: 4_711 })]];
    await turn("second question");
    await turn("");
    const [block, looked] = [await blockWith("blue elephant"), await blockWith("result 3")];
    await act(`@purge(${block}, ${looked})`);
    const sent = await turn("third question");
    expect(sent).not.toContain("blue elephant");
    expect(sent).not.toContain("result 3 xx");
    expect(sent.split("withheld by the user").length).toBeGreaterThanOrEqual(3);
    expect(await turn("fourth question")).not.toMatch(/blue elephant|result 3 xx/);
    for (const purged of [block, looked])
      expect((await app.api(`/sessions/last/blocks/${purged}`)).body.toString()).not.toMatch(
        /blue elephant|result 3 xx/,
      );
    const exported = (await app.api("/sessions/last/export?format=jsonl")).body.toString();
    expect(exported).toContain("second question");
    expect(exported.includes("blue elephant")).toBe(false);
    expect(exported.includes("result 3 xx")).toBe(false);
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("learns from a purge which block it cannot withhold", async () => {
    await turn("first question");
    const { blocks } = JSON.parse((await app.api("/sessions/last/state")).body.toString()) as StateRow;
    const system = blocks.find(({ kind }) => kind === "system")?.n ?? 0;
    const purged = await act(`@purge(${system})`);
    expect(purged.blocks).toEqual([system]);
    expect(purged.skipped).toMatchObject([{ block: system, code: "AP_COMMAND_REFUSED" }]);
    expect(purged.skipped[0]?.message).toContain("nothing can stand in the place of its system");
  });

  it("withholds a block in results of our tools, too", async () => {
    await turn("my secret is a very blue elephant");
    const block = await blockWith("blue elephant");
    replies = [[call("aperture_read", { verb: "expand", target: `${block}` })], [text("I have read it")]];
    expect((await turn("second question")).split("blue elephant")).toHaveLength(3);
    await act(`@withhold(${block})`);
    expect(await turn("third question")).not.toContain("blue elephant");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("switches a session to observe and back", async () => {
    expect(await turn("first question")).toContain("aperture_");
    await send("PUT", "mode", { mode: "observe" });
    expect(await turn("second question")).not.toContain('"name":"aperture_');
    await send("PUT", "mode", { mode: null });
    expect(await turn("third question")).toContain("aperture_");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });
});

describe("in ask mode", () => {
  const archivingInAsk = async (): Promise<number> => {
    await turn("first question");
    await turn("second question");
    await send("PUT", "mode", { mode: "ask" });
    const block = await blockWith("time 1");
    const archive = { verb: "archive", target: `${block}`, reason: "done with it" };
    replies = [[call("aperture_manage", archive)], [text("I wait.")]];
    await turn("third question");
    return block;
  };
  const archiving = async (): Promise<number> => {
    const block = await archivingInAsk();
    await vi.waitFor(async () => expect((await approvals()).waiting).toBe(1));
    const { rows } = JSON.parse((await app.api("/sessions/last/requests")).body.toString()) as PricedRequests;
    // Both exchanges of the turn have ended, also the one that called our tools.
    expect(rows.map(({ outcome }) => outcome)).toEqual(rows.map(() => "complete"));
    return block;
  };

  it("an approved command is executed as the model's, and reported once", async () => {
    const block = await archiving();
    expect((await approvals()).rows).toMatchObject([
      { approval: 1, actor: "model", verb: "archive", blocks: [block], stand: "waiting", turnsLeft: 19 },
    ]);
    const { rows } = await send<DecideAnswer>("POST", "approvals/1", { decision: "approve" });
    expect(rows).toMatchObject([{ stand: "approved", by: "user" }]);
    expect(rows[0]?.outcome).toContain(`#${block} archived`);
    const note = `user approved your archive of #${block}`;
    const next = await turn("fourth question");
    expect(next).toContain(note);
    expect(next).toContain(`you archived #${block}`);
    switchModel("claude-opus-4-8");
    expect((await turn("fifth question")).split(note)).toHaveLength(1);
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("an approval for always holds in all sessions, for that verb and zone, until it is removed", async () => {
    await archiving();
    await send("POST", "approvals/1", { decision: "approve", scope: "always" });
    const permissions = JSON.parse((await app.api("/permissions")).body.toString()) as PermissionsAnswer;
    expect(permissions.rows).toMatchObject([
      { actor: "model", verb: "archive", zone: "middle", rule: "allow" },
    ]);
    talker = new TestClient({ model: "claude-opus-4-6", bulk: 80_000 });
    answers = 0;
    const block = await archivingInAsk();
    expect(bodyNow()).toContain(`#${block} archived`);
    expect((await approvals()).rows).toEqual([]);
    const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
    const body = JSON.stringify({ verb: "archive", zone: "middle", rule: null });
    const taken = await ask(`${app.url}/api/v1/permissions`, { method: "PUT", headers, body });
    expect([taken.status, taken.body.toString()]).toEqual([200, '{"rows":[]}']);
    talker = new TestClient({ model: "claude-opus-4-6", bulk: 80_000 });
    answers = 0;
    await archiving();
  });

  it("a denied command is reported with its reason, once", async () => {
    const block = await archiving();
    const decision = { decision: "deny", reason: "still needed" };
    const { rows } = await send<DecideAnswer>("POST", "approvals/1", decision);
    expect(rows).toMatchObject([{ stand: "denied", outcome: null, step: null }]);
    const note = `user denied your archive of #${block} (\\"still needed\\")`;
    expect(await turn("fourth question")).toContain(note);
    expect((await turn("fifth question")).split(note)).toHaveLength(1);
    const again = await ask(`${app.url}/api/v1/sessions/last/approvals/1`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.token}` },
      body: JSON.stringify(decision),
    });
    expect(again.status).toBe(409);
  });
});

/** The exact bytes of the message that holds the words. */
function messageWith(body: string, words: string): string {
  const at = body.indexOf(words);
  expect(at).toBeGreaterThan(0);
  return body.slice(body.lastIndexOf('{"role"', at), body.indexOf('{"role"', at));
}
