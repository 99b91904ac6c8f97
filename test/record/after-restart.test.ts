import { describe, expect, it } from "vitest";
import { unwrap } from "../../src/base/index.ts";
import { now, sentPath } from "../../src/engine/moment/index.ts";
import { HandLedger, hashesOf, messageKeysOf } from "../support/hand-ledger.ts";
import { body, Managed, named, ours, question, thought, turnAt, turns } from "../support/managed-kit.ts";
import { call, model, text, user } from "../support/recorder-kit.ts";

describe("after a restart", () => {
  it("the ledger gets back what it sent: bytes, path and answer", async () => {
    const before = new Managed();
    for (const at of turns.keys()) await before.turn(at);
    const after = new Managed(before.store, "t");
    const remembered = await after.remembered();
    const [last, ...others] = remembered?.turns ?? [];
    expect([others, remembered?.wasManaged, remembered?.generatedName]).toEqual([[], true, null]);
    expect(Buffer.from(last?.body ?? []).toString()).toBe(turnAt(2).upstream.toString());
    expect(last?.path.map(({ bytesHash }) => bytesHash)).toEqual(hashesOf(turnAt(2).upstream));
    expect(last?.path.filter(({ origin }) => origin === "aperture")).toHaveLength(5);
    expect([last?.turn, last?.answer?.contentType]).toEqual([3, "application/json"]);
    expect(Buffer.from(last?.answer?.body ?? []).toString()).toContain("at your service");
  });

  it("a conversation continues with the same units, without a rewind for omitted blocks", async () => {
    const before = new Managed();
    await before.turn(0);
    await before.turn(1);
    const after = new Managed(before.store, "t");
    for (const { client, upstream } of turns.slice(0, 2)) after.ledger.report({ client, upstream });
    await after.turn(2);
    expect(await after.kit.standings("s-1")).toEqual(["turn first", "turn append", "turn append"]);
    const state = await after.state();
    const path = sentPath(now(state), await after.view()).map((id) => state.units.get(id)?.bytes);
    expect(path).toEqual(hashesOf(turnAt(2).upstream));
    expect(state.units.size).toBe(path.length);
  });

  it("a unit that was sent for one turn only is in the bytes, not in the path", async () => {
    const before = new Managed();
    const { client, upstream } = turnAt(0);
    const whole = before.ledger.report({ client, upstream });
    const [tail, above] = [whole.fresh.at(-1), whole.fresh.at(-2)];
    const sent = { ...whole, fresh: whole.fresh.filter((unit) => unit !== tail), leaf: above?.id ?? "" };
    await before.kit.send(client, { ...named, sent });
    const remembered = await new Managed(before.store, "t").remembered();
    expect(remembered?.turns[0]?.path.map(({ bytesHash }) => bytesHash)).toEqual(
      hashesOf(upstream).slice(0, -1),
    );
    expect(Buffer.from(remembered?.turns[0]?.body ?? []).toString()).toBe(upstream.toString());
  });

  it("other branches are given back too, the last one last", async () => {
    const before = new Managed();
    for (const at of turns.keys()) await before.turn(at);
    const other = {
      client: body([user([text("start over")])]),
      upstream: ours([user([text("start over")])]),
    };
    await before.kit.answer(await before.ask(other));
    const after = new Managed(before.store, "t");
    const remembered = await after.remembered();
    const bodies = remembered?.turns.map((turn) => Buffer.from(turn.body).toString());
    expect(bodies).toEqual([turnAt(2).upstream.toString(), other.upstream.toString()]);
  });

  it("a request that the provider refused is not given back", async () => {
    const before = new Managed();
    await before.turn(0);
    const refused = { client: body([user([text("else")])]), upstream: ours([user([text("else")])]) };
    await before.kit.answer(await before.ask(refused), { status: 400 });
    const remembered = await new Managed(before.store, "t").remembered();
    const bodies = remembered?.turns.map((turn) => Buffer.from(turn.body).toString());
    expect(bodies).toEqual([turnAt(0).upstream.toString()]);
  });

  it("text that the client wrote differently is not taken for ours if a report was lost", async () => {
    const before = new Managed();
    const client = body([user([text("fix it\n")])]);
    const whole = before.ledger.report({ client, upstream: turnAt(0).upstream });
    await before.kit.send(client, { ...named, sent: { ...whole, fresh: whole.fresh.slice(1) } });
    const remembered = await new Managed(before.store, "t").remembered();
    const origins = remembered?.turns[0]?.path.map(({ origin }) => origin);
    expect(origins?.slice(-2)).toEqual(["aperture", "client"]);
  });

  it("a conversation without a name is found by its content, under the name the ledger gave it", async () => {
    const before = new Managed();
    const unnamed = { credential: "c1" };
    await before.turn(0, unnamed, { generatedName: "talk-a" });
    await before.turn(1, unnamed, { generatedName: "talk-a" });
    const twin = new HandLedger();
    const other = turnAt(0);
    const sent = twin.report({
      client: other.client,
      upstream: other.upstream,
      over: { generatedName: "talk-b" },
    });
    await before.kit.answer(await before.kit.send(other.client, { sent }), { content: [text("no")] });
    expect(await before.kit.sessions()).toHaveLength(2);
    const after = new Managed(before.store, "t");
    const messageKeys = messageKeysOf(turnAt(2).client);
    const found = await after.remembered({ sessionKey: null, messageKeys });
    expect([found?.generatedName, found?.wasManaged, found?.turns.length]).toEqual(["talk-a", true, 1]);
    expect(await after.remembered({ sessionKey: null, messageKeys, credential: "c2" })).toBe(null);
    expect(await after.remembered({ sessionKey: null, messageKeys: ["user:else"] })).toBe(null);
  });

  it("a conversation whose beginning was cut off is found among the last of its credential", async () => {
    const before = new Managed();
    const unnamed = { credential: "c1" };
    await before.turn(0, unnamed, { generatedName: "talk-a" });
    const cut = { client: body([user([text("summary")])]), upstream: ours([user([text("summary")])]) };
    await before.kit.answer(await before.ask({ ...cut, over: { generatedName: "talk-a" } }, unnamed));
    const after = new Managed(before.store, "t");
    const next = body([user([text("summary")]), model([text("done")]), user([text("go on")])]);
    const found = await after.remembered({ sessionKey: null, messageKeys: messageKeysOf(next) });
    expect(found?.generatedName).toBe("talk-a");
  });

  it("an unknown session gives back nothing", async () => {
    const managed = new Managed();
    expect(await managed.remembered()).toBe(null);
    await managed.turn(0);
    expect(await managed.remembered({ agent: "agent x", sessionKey: "two" })).toBe(null);
  });
});

describe("a conversation the ledger has forgotten", () => {
  it("stays one session under its new name", async () => {
    const managed = new Managed();
    await managed.turn(0, {}, { generatedName: "talk-a" });
    await managed.turn(1, {}, { generatedName: "talk-b" });
    expect(await managed.kit.sessions()).toHaveLength(1);
    const found = await managed.remembered({
      sessionKey: null,
      messageKeys: messageKeysOf(turnAt(2).client),
    });
    expect(found?.generatedName).toBe("talk-b");
  });

  it("is another session if it only begins alike", async () => {
    const managed = new Managed();
    const { client, upstream } = turnAt(0);
    await managed.ask({ client, upstream, over: { generatedName: "talk-a" } }, {});
    await managed.ask({ client, upstream, over: { generatedName: "talk-b" } }, {});
    expect(await managed.kit.sessions()).toHaveLength(2);
  });
});

describe("a conversation that was observed first", () => {
  it("stays one session when the ledger takes it over, and was not managed before", async () => {
    const managed = new Managed();
    const { client } = turnAt(0);
    await managed.kit.answer(await managed.kit.send(client, {}), { content: [thought, call("t1")] });
    const messageKeys = messageKeysOf(turnAt(1).client);
    const before = await managed.remembered({ sessionKey: null, messageKeys });
    expect([before?.wasManaged, before?.turns.length]).toEqual([false, 1]);
    expect(Buffer.from(before?.turns[0]?.body ?? []).toString()).toBe(client.toString());
    await managed.turn(1, {}, { generatedName: "talk-a" });
    await managed.turn(2, {}, { generatedName: "talk-a" });
    expect(await managed.kit.sessions()).toHaveLength(1);
    expect(await managed.kit.standings("s-1")).toEqual(["turn first", "turn append", "turn append"]);
  });
});

describe("waiting copies", () => {
  it("of a session are recorded before a question about it is answered; others are not", async () => {
    const managed = new Managed();
    const { recorder } = managed.kit;
    const done: string[] = [];
    const { client, upstream } = turnAt(0);
    const others = [1, 2, 3].map((n) => {
      const headers = { "x-aperture-session": `other-${n}` };
      return managed.kit.send(client, { headers }).then(() => done.push(`other-${n}`));
    });
    const own = managed.ask({ client, upstream }).then(() => done.push("own"));
    const remembered = unwrap(await recorder.streamRecord(question));
    done.push("answer");
    await Promise.all([...others, own]);
    expect(remembered?.turns.map((turn) => Buffer.from(turn.body).toString())).toEqual([upstream.toString()]);
    expect(done.indexOf("own")).toBeLessThan(done.indexOf("other-2"));
    expect(recorder.counts()).toMatchObject({ requests: 4, gaps: 0 });
  });
});
