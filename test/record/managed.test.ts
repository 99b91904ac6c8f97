import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contentHash, must, type SessionId, sessionId, unwrap } from "../../src/base/index.ts";
import { now, sentPath, shownOf, viewBlocks } from "../../src/engine/moment/index.ts";
import type { RequestCopy } from "../../src/exchange/index.ts";
import { openSqliteStore, type Store } from "../../src/store/index.ts";
import { hashesOf, placesOf, shared } from "../support/hand-ledger.ts";
import { body, line, Managed, named, ours, thought, turnAt, turns } from "../support/managed-kit.ts";
import { call, model, result, text, user } from "../support/recorder-kit.ts";

describe("a managed conversation", () => {
  it("is recorded as the ledger sent it: units, bytes and turns", async () => {
    const managed = new Managed();
    for (const at of turns.keys()) await managed.turn(at);
    const state = await managed.state();
    const path = sentPath(now(state), await managed.view()).map((id) => state.units.get(id));
    const last = turnAt(2).upstream;
    expect(path.map((unit) => unit?.bytes)).toEqual(hashesOf(last));
    const origins =
      "client aperture client aperture aperture client model client aperture model aperture client";
    expect(path.map((unit) => unit?.origin).join(" ")).toBe(origins);
    expect(path.every((unit) => (unit?.origin === "aperture") === (unit?.shows.length === 0))).toBe(true);
    expect(await managed.kit.standings("s-1")).toEqual(["turn first", "turn append", "turn append"]);
    for (const [at, { client, upstream }] of turns.entries()) {
      expect(await managed.bytes(at + 1, "upstream-request")).toBe(upstream.toString());
      expect(await managed.bytes(at + 1, "client-request")).toBe(client.toString());
    }
    const exchanges = await managed.kit.exchanges("s-1");
    expect(exchanges.map(({ rendering }) => rendering)).toEqual(["managed", "managed", "managed"]);
    expect(unwrap(await managed.store.verify("all")).damage).toEqual([]);
  });

  it("keeps blocks of the client that the ledger left out", async () => {
    const managed = new Managed();
    for (const at of turns.keys()) await managed.turn(at);
    const moment = now(await managed.state());
    const view = await managed.view();
    const blocks = [...viewBlocks(moment, view)];
    const reasoning = blocks.filter(({ kind }) => kind === "reasoning");
    expect(reasoning.map(({ id }) => shownOf(moment, view, id))).toEqual(["absent"]);
    const content = unwrap(await managed.store.content(must(reasoning[0], "there is one").content));
    expect(JSON.parse(Buffer.from(content).toString())).toEqual(thought);
    const kinds = "system system user reasoning tool-call tool-result assistant user assistant";
    expect(blocks.map(({ kind }) => kind).join(" ")).toBe(kinds);
  });

  it("loses purged content on both sides, and nothing else", async () => {
    const managed = new Managed();
    for (const at of turns.keys()) await managed.turn(at);
    await managed.store.flush();
    const client = hashesOf(turnAt(2).client);
    unwrap(await managed.store.purge([contentHash(must(client.at(-1), "the last thing said"))]));
    for (const side of ["client-request", "upstream-request"] as const) {
      await expect(managed.bytes(3, side)).rejects.toThrow("AP_CONTENT_PURGED");
    }
    expect(await managed.bytes(2, "upstream-request")).toBe(turnAt(1).upstream.toString());
  });

  it("is stored the same in a database and in memory", async () => {
    const folder = mkdtempSync(join(tmpdir(), "aperture-managed-"));
    const store = openSqliteStore({ path: join(folder, "aperture.db") });
    const managed = new Managed(store);
    for (const at of turns.keys()) await managed.turn(at);
    for (const [at, { upstream }] of turns.entries()) {
      expect(await managed.bytes(at + 1, "upstream-request")).toBe(upstream.toString());
    }
    const remembered = await new Managed(store, "t").remembered();
    expect(remembered?.turns.map((turn) => Buffer.from(turn.body).toString())).toEqual([
      turnAt(2).upstream.toString(),
    ]);
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it("stores new bytes once and references for the rest", async () => {
    const managed = new Managed();
    for (const at of turns.keys()) await managed.turn(at);
    const bytes = turns.reduce((sum, { client, upstream }) => sum + client.length + upstream.length, 0);
    expect(managed.kit.literalBytes).toBeLessThan(bytes / 4);
  });

  it("has two exchanges, each with its bytes, if it is refused once and sent again", async () => {
    const managed = new Managed();
    await managed.turn(0);
    const { client, upstream } = turnAt(1);
    const id = await managed.ask({ client, upstream });
    const plain = body([user([text("fix it")]), model([call("t1")]), user([result("t1", "a file")])]);
    await managed.kit.recorder.recordResend(
      id,
      managed.ledger.report({ client, upstream: plain, rendering: "plain" }),
    );
    await managed.kit.answer(id, { content: [text("done")] });
    expect(await managed.kit.standings("s-1")).toEqual(["turn first", "turn append", "turn retry 2"]);
    const ends = (await managed.kit.exchanges("s-1")).map(({ rendering, end }) => [rendering, end?.status]);
    expect(ends).toEqual([
      ["managed", 200],
      ["managed", 400],
      ["plain", 200],
    ]);
    expect(await managed.bytes(2, "upstream-request")).toBe(upstream.toString());
    expect(await managed.bytes(3, "upstream-request")).toBe(plain.toString());
    expect(await managed.bytes(3, "client-request")).toBe(client.toString());
    const phases = managed.kit.events.flatMap((event) => (event.type === "request" ? [event.phase] : []));
    expect(phases).toEqual(["opened", "closed", "opened", "closed", "opened", "closed"]);
  });

  it("is raw if it is sent again unchanged", async () => {
    const managed = new Managed();
    const { client, upstream } = turnAt(0);
    const id = await managed.ask({ client, upstream });
    await managed.kit.recorder.recordResend(id, null);
    await managed.kit.answer(id);
    const exchanges = await managed.kit.exchanges("s-1");
    expect(exchanges.map(({ rendering }) => rendering)).toEqual(["managed", "raw"]);
    expect(await managed.bytes(2, "upstream-request")).toBe(client.toString());
  });

  it("is recorded as the client's own path if an earlier report was lost", async () => {
    const managed = new Managed();
    const lost = turnAt(0);
    managed.ledger.report(lost);
    await managed.turn(1);
    const state = await managed.state();
    const path = sentPath(now(state), await managed.view()).map((id) => state.units.get(id));
    expect(path.map((unit) => unit?.bytes)).toEqual(hashesOf(turnAt(1).client));
    expect(await managed.kit.standings("s-1")).toEqual(["turn first"]);
    expect(await managed.bytes(1, "upstream-request")).toBe(turnAt(1).upstream.toString());
    const remembered = await managed.remembered();
    const sent = remembered?.turns[0];
    expect(sent?.path.map(({ bytesHash }) => bytesHash)).toEqual(hashesOf(turnAt(1).upstream));
    const origins = "client aperture client aperture aperture client model client aperture";
    expect(sent?.path.map(({ origin }) => origin).join(" ")).toBe(origins);
    expect(unwrap(await managed.store.verify("all")).damage).toEqual([]);
  });

  it("begins an epoch below the unit the ledger names", async () => {
    const managed = new Managed();
    await managed.turn(0);
    const upstream = ours([user([text("[rewritten]")]), model([call("t1")]), user([result("t1", "a file")])]);
    const cut = placesOf(upstream)[3] ?? "";
    const client = turnAt(1).client;
    await managed.ask({
      client,
      upstream,
      over: { epoch: { cut, reason: "pressure", means: "own", predicted: null } },
    });
    const view = await managed.view();
    const [epoch] = [...view.epochs.entries()].map(([, one]) => one);
    expect(epoch).toMatchObject({ reason: "pressure", means: "own", cut: 3 });
  });

  it("is not extended by requests that are no turns", async () => {
    const managed = new Managed();
    await managed.turn(0);
    const before = (await managed.state()).units.size;
    const { client, upstream } = turnAt(1);
    const count = { ...named, target: "/v1/messages/count_tokens" };
    await managed.ask({ client, upstream, over: { isTurn: false } }, count);
    await managed.ask({ client, upstream, over: { isTurn: false } });
    expect(await managed.kit.standings("s-1")).toEqual(["turn first", "count none", "compaction none"]);
    expect((await managed.state()).units.size).toBe(before);
    for (const exchange of [2, 3]) {
      expect(await managed.bytes(exchange, "upstream-request")).toBe(upstream.toString());
      expect(await managed.bytes(exchange, "client-request")).toBe(client.toString());
    }
  });

  it("has no upstream bytes if they were not kept, and never the client's instead", async () => {
    const managed = new Managed();
    const { client, upstream } = turnAt(0);
    await managed.ask({ client, upstream, over: { body: [], fresh: [] } });
    await expect(managed.bytes(1, "upstream-request")).rejects.toThrow("AP_BODY_UNKNOWN");
  });
});

describe("a credential inside a managed body", () => {
  const secret = "sk-ant-very-secret-0123456789";

  it("is stored nowhere, and the shared body stays unchanged", async () => {
    const managed = new Managed();
    const messages = [user([text(`my key is ${secret}`)])];
    const client = body(messages);
    const upstream = ours([user([line(1), text(`my key is ${secret}`)])]);
    const sent = managed.ledger.report({ client, upstream });
    const before = Buffer.concat(sent.body).toString();
    const id = await managed.kit.send(client, { ...named, secrets: [secret], sent });
    await managed.kit.recorder.recordResend(
      id,
      managed.ledger.report({ client, upstream: client, rendering: "plain" }),
    );
    await managed.kit.answer(id, { content: [text("hidden")] });
    expect(Buffer.concat(sent.body).toString()).toBe(before);
    const kept = await everythingIn(managed.store, sessionId("s-1"));
    expect(kept).toContain("my key is ***");
    expect(kept).not.toContain(secret);
    const [first, second] = await managed.kit.exchanges("s-1");
    expect([first?.end?.problem, second?.end?.problem]).toEqual([
      "it was refused, and sent again in another form",
      "a credential stood in its body and was masked in this record",
    ]);
  });

  it("in a body in shared memory is masked in a copy", async () => {
    const managed = new Managed();
    const client = shared(body([user([text(`my key is ${secret}`)])]));
    const copy: RequestCopy = {
      id: "x",
      protocol: "anthropic",
      upstream: "anthropic",
      method: "POST",
      target: "/v1/messages",
      headers: {},
      caller: { owner: "local", credential: "c1", secrets: [secret] },
      startedMs: 0,
      body: client,
      length: client.length,
      sent: null,
    };
    await managed.kit.recorder.recordRequest(copy);
    expect(client.toString()).toContain(secret);
    expect(await everythingIn(managed.store, sessionId("s-1"))).not.toContain(secret);
  });
});

/** All frames, contents and bodies of a session as one text. */
async function everythingIn(store: Store, session: SessionId): Promise<string> {
  await store.flush();
  const frames = unwrap(await store.frames({ session, after: 0, limit: 100 }));
  const hashes = frames.flatMap(({ deltas }) =>
    deltas.flatMap((delta) =>
      delta.type === "unit-sent"
        ? [delta.unit.bytes]
        : delta.type === "block-added"
          ? [delta.block.content]
          : [],
    ),
  );
  const contents = await Promise.all(hashes.map(async (hash) => unwrap(await store.content(hash))));
  const rows = unwrap(await store.bodies(session));
  const bodies = await Promise.all(rows.map(async (row) => unwrap(await store.body(row))));
  return [
    JSON.stringify(frames),
    ...[...contents, ...bodies].map((bytes) => Buffer.from(bytes).toString()),
  ].join("\n");
}
