import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { GENESIS_HASH, hashContent, sessionId, unwrap } from "../../src/base/index.ts";
import type { Body, RecipePiece, Store } from "../../src/store/index.ts";
import {
  body,
  codeOf,
  content,
  folder,
  frame,
  frames,
  mustPut,
  noise,
  put,
  session,
  slice,
  snapshot,
} from "./samples.ts";

export function snapshotsContract(open: () => Store): void {
  it("come back with all pages though only the new ones were written", async () => {
    const store = open();
    const log = frames(6);
    const [second, fourth] = [log[1], log[3]] as [(typeof log)[number], (typeof log)[number]];
    await mustPut(store, { frames: log, snapshots: [snapshot(second, ["page a", "page b", "page c"])] });
    await mustPut(store, { snapshots: [snapshot(fourth, ["page a", "page c", "page d"], ["page d"])] });
    const read = unwrap(await store.snapshot(session));
    expect(read).toEqual(snapshot(fourth, ["page a", "page c", "page d"]));
    expect(unwrap(await store.verify("all")).pages).toBe(3);
  });

  it("older than the stored one are ignored", async () => {
    const store = open();
    const log = frames(4);
    const [second, fourth] = [log[1], log[3]] as [(typeof log)[number], (typeof log)[number]];
    await mustPut(store, { frames: log, snapshots: [snapshot(fourth, ["new"])] });
    await mustPut(store, { snapshots: [snapshot(second, ["old"])] });
    await mustPut(store, { snapshots: [snapshot(fourth, ["new"])] });
    expect(unwrap(await store.snapshot(session))).toEqual(snapshot(fourth, ["new"]));
    expect(unwrap(await store.verify("all"))).toMatchObject({ pages: 1, damage: [] });
  });

  it("that are incomplete, misnamed or of an unknown frame are refused", async () => {
    const store = open();
    const log = frames(2);
    const [first] = log as [(typeof log)[number]];
    await mustPut(store, { frames: log });
    const incomplete = snapshot(first, ["a", "b"], ["a"]);
    expect(codeOf(await put(store, { snapshots: [incomplete] }))).toBe("AP_SNAPSHOT_DAMAGED");
    const misnamed = { ...snapshot(first, ["a"]), pages: new Map([[hashContent("a"), Buffer.from("b")]]) };
    expect(codeOf(await put(store, { snapshots: [misnamed] }))).toBe("AP_SNAPSHOT_DAMAGED");
    const elsewhere = snapshot(frame({ seq: 1, prevHash: GENESIS_HASH, note: "elsewhere" }), ["a"]);
    expect(codeOf(await put(store, { snapshots: [elsewhere] }))).toBe("AP_STORE_GAP");
    expect(unwrap(await store.snapshot(session))).toBeNull();
  });
}

export function erasingContract(open: () => Store): void {
  it("purging erases contents for good, and every body that held them", async () => {
    const store = open();
    const [secret, kept] = [content(`secret ${noise("s", 600)}`), content(`kept ${noise("k", 600)}`)];
    const bytes = Buffer.concat([kept.bytes, secret.bytes]);
    const bodies = [
      body({ exchange: 1, bytes, recipe: [slice(kept), slice(secret)] }),
      body({ exchange: 2, bytes: bytes.subarray(9), recipe: [copyOf(1, 9, bytes.length - 9)] }),
      body({ exchange: 3, bytes: bytes.subarray(0, 300), recipe: [copyOf(1, 0, 300)] }),
    ];
    const log = frames(1, { contents: [secret.hash, kept.hash] });
    await mustPut(store, { contents: [secret, kept], frames: log, bodies });
    expect(unwrap(await store.purge([secret.hash, hashContent("never there")]))).toEqual({
      contents: 1,
      bodies: 2,
    });
    expect(codeOf(await store.content(secret.hash))).toBe("AP_CONTENT_PURGED");
    expect(codeOf(await store.body(bodies[0] as Body))).toBe("AP_CONTENT_PURGED");
    expect(codeOf(await store.body(bodies[1] as Body))).toBe("AP_CONTENT_PURGED");
    expect(codeOf(await store.body(bodies[2] as Body))).toBe("ok");
    expect(codeOf(await store.content(kept.hash))).toBe("ok");
    expect(unwrap(await store.frames({ session, after: 0, limit: 1 }))).toEqual(log);
    expect(unwrap(await store.purge([secret.hash]))).toEqual({ contents: 0, bodies: 0 });
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
  });

  it("a purged content does not come back, not even when it is sent again", async () => {
    const store = open();
    const secret = content("secret");
    await mustPut(store, { contents: [secret] });
    unwrap(await store.purge([secret.hash]));
    unwrap(await store.gc());
    await mustPut(store, { contents: [secret], frames: frames(1, { contents: [secret.hash] }) });
    expect(codeOf(await store.content(secret.hash))).toBe("AP_CONTENT_PURGED");
  });

  it("contents that shared their beginning with a purged one stay whole", async () => {
    const store = open();
    const start = noise("start", 2_000);
    const chain = [0, 1, 2, 3, 4].map((n) => content(start + noise("more", n * 1_000)));
    for (const one of chain) await mustPut(store, { contents: [one] });
    unwrap(await store.purge([chain[0]?.hash, chain[2]?.hash].filter((hash) => hash !== undefined)));
    expect(await Promise.all(chain.map(async ({ hash }) => codeOf(await store.content(hash))))).toEqual([
      "AP_CONTENT_PURGED",
      "ok",
      "AP_CONTENT_PURGED",
      "ok",
      "ok",
    ]);
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
  });
}

export function gcContract(open: () => Store): void {
  it("gc keeps contents that are named and drops the rest", async () => {
    const store = open();
    const start = noise("named", 2_000);
    const base = content(start);
    const grown = content(start + noise("grown", 500));
    const inFrame = content("named by a frame");
    const inBody = content("named by a body");
    const loose = content(`nobody ${noise("loose", 900)}`);
    const held = body({ exchange: 1, bytes: inBody.bytes, recipe: [slice(inBody)] });
    await mustPut(store, { contents: [base] });
    await mustPut(store, {
      contents: [grown, inFrame, inBody, loose],
      frames: frames(1, { contents: [inFrame.hash, grown.hash] }),
      bodies: [held],
    });
    const report = unwrap(await store.gc());
    expect(report.contents).toBeGreaterThanOrEqual(1);
    expect(report.freedBytes).toBeGreaterThan(400);
    expect(codeOf(await store.content(loose.hash))).toBe("AP_CONTENT_UNKNOWN");
    for (const { hash } of [grown, inFrame, inBody]) expect(codeOf(await store.content(hash))).toBe("ok");
    expect(codeOf(await store.body(held))).toBe("ok");
    expect(unwrap(await store.gc())).toMatchObject({ contents: 0, freedBytes: 0 });
    await mustPut(store, { contents: [loose] });
    expect(codeOf(await store.content(loose.hash))).toBe("ok");
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
  });
}

function copyOf(exchange: number, start: number, length: number): RecipePiece {
  return { from: "body", exchange, side: "client-request", start, length };
}

export function restContract(open: () => Store, openBackup: (path: string) => Store): void {
  it("verify counts everything and finds no damage", async () => {
    const store = open();
    const stored = content("stored");
    const log = frames(100, { contents: [stored.hash] });
    const last = log[99] as (typeof log)[number];
    await mustPut(store, {
      contents: [stored],
      frames: log,
      bodies: [body({ exchange: 1, bytes: stored.bytes, recipe: [slice(stored)] })],
      snapshots: [snapshot(last, ["a", "b"])],
    });
    const whole = { sessions: 1, frames: 100, contents: 1, bodies: 1, pages: 2, damage: [] };
    expect(unwrap(await store.verify("all"))).toEqual({ scope: "all", ...whole });
    expect(unwrap(await store.verify("tail"))).toMatchObject({
      scope: "tail",
      sessions: 1,
      frames: 64,
      damage: [],
    });
  });

  it("a backup opens, is equal, is readable by its owner alone, and never overwrites", async () => {
    const store = open();
    const stored = content(noise("stored", 2_000));
    const log = frames(10, { contents: [stored.hash] });
    const held = body({ exchange: 1, bytes: stored.bytes.subarray(5), recipe: [slice(stored, 5, 1_995)] });
    const last = log[9] as (typeof log)[number];
    await mustPut(store, {
      contents: [stored],
      frames: log,
      bodies: [held],
      snapshots: [snapshot(last, ["a"])],
    });
    const path = join(folder(), "copy.db");
    const report = unwrap(await store.backup(path));
    expect(report).toEqual({ path, bytes: statSync(path).size });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await mustPut(store, { frames: frames(1, { seq: 11, prevHash: last.hash }) });
    const copy = openBackup(path);
    expect(unwrap(await copy.frames({ session, after: 0, limit: 99 }))).toEqual(log);
    expect(Buffer.compare(unwrap(await copy.body(held)), stored.bytes.subarray(5))).toBe(0);
    expect(unwrap(await copy.snapshot(session))).toEqual(snapshot(last, ["a"]));
    expect(unwrap(await copy.verify("all"))).toMatchObject({
      frames: 10,
      contents: 1,
      bodies: 1,
      pages: 1,
      damage: [],
    });
    await copy.close();
    expect(codeOf(await store.backup(path))).toBe("AP_BACKUP_EXISTS");
    const nowhere = join(folder(), "missing", "copy.db");
    expect(codeOf(await store.backup(nowhere))).not.toBe("ok");
    expect(existsSync(nowhere)).toBe(false);
  });

  it("a closed store refuses everything, and may be closed twice", async () => {
    const store = open();
    await mustPut(store, { frames: frames(1) });
    await Promise.all([store.close(), store.close()]);
    expect(codeOf(await put(store, { frames: frames(1) }))).toBe("AP_STORE_CLOSED");
    expect(codeOf(await store.head(session))).toBe("AP_STORE_CLOSED");
    expect(codeOf(await store.verify("all"))).toBe("AP_STORE_CLOSED");
    await store.flush();
  });
}

export function dropContract(open: () => Store): void {
  it("dropping a session deletes its log, bodies and contents no other session holds, and nothing else", async () => {
    const store = open();
    const [own, shared] = [content(`own ${noise("o", 600)}`), content(`shared ${noise("s", 600)}`)];
    const other = sessionId("dropped-1");
    const log = frames(2, { contents: [shared.hash] });
    await mustPut(store, { contents: [shared], frames: log });
    const theirs = frames(3, { contents: [own.hash, shared.hash], session: other });
    const bytes = Buffer.concat([own.bytes, shared.bytes]);
    const held = { ...body({ exchange: 1, bytes, recipe: [slice(own), slice(shared)] }), session: other };
    await mustPut(store, { contents: [own], frames: theirs, bodies: [held] });
    expect(unwrap(await store.drop(other))).toMatchObject({ frames: 3, bodies: 1, contents: 1 });
    expect(unwrap(await store.sessions()).map((head) => head.session)).toEqual([session]);
    expect(codeOf(await store.content(own.hash))).toBe("AP_CONTENT_UNKNOWN");
    expect(codeOf(await store.content(shared.hash))).toBe("ok");
    expect(unwrap(await store.bodies(other))).toEqual([]);
    expect(unwrap(await store.frames({ session, after: 0, limit: 9 }))).toEqual(log);
    expect(unwrap(await store.verify("all"))).toMatchObject({ sessions: 1, frames: 2, damage: [] });
    // The same id may be used again, and nothing of before is in it.
    await mustPut(store, { frames: frames(1, { session: other }) });
    expect(unwrap(await store.drop(sessionId("never-there")))).toMatchObject({ frames: 0, bodies: 0 });
    expect(unwrap(await store.verify("all"))).toMatchObject({ sessions: 2, damage: [] });
  });
}
