import { expect, it } from "vitest";
import { GENESIS_HASH, hashContent, unwrap } from "../../src/base/index.ts";
import type { Store } from "../../src/store/index.ts";
import { codeOf, content, frame, frames, mustPut, otherSession, put, session } from "./samples.ts";

export function framesContract(open: () => Store): void {
  it("come back unchanged, in order, in the given range", async () => {
    const store = open();
    const log = frames(20, { note: "ünï \u{1f525}" });
    await mustPut(store, { frames: log.slice(0, 12) });
    await mustPut(store, { frames: log.slice(12) });
    expect(unwrap(await store.frames({ session, after: 0, limit: 100 }))).toEqual(log);
    expect(unwrap(await store.frames({ session, after: 5, limit: 3 }))).toEqual(log.slice(5, 8));
    expect(unwrap(await store.frames({ session, after: 20, limit: 3 }))).toEqual([]);
    const { seq, hash } = log[19] as (typeof log)[number];
    expect(unwrap(await store.head(session))).toEqual({ session, seq, hash });
  });

  it("are kept apart by session", async () => {
    const store = open();
    const [mine, theirs] = [frames(3), frames(2, { session: otherSession })];
    await mustPut(store, { frames: [...mine, ...theirs] });
    expect(unwrap(await store.sessions()).map(({ session: id, seq }) => [id, seq])).toEqual([
      [session, 3],
      [otherSession, 2],
    ]);
    expect(unwrap(await store.frames({ session: otherSession, after: 0, limit: 9 }))).toEqual(theirs);
  });

  it("of an unknown session are none", async () => {
    const store = open();
    expect(unwrap(await store.sessions())).toEqual([]);
    expect(unwrap(await store.head(session))).toBeNull();
    expect(unwrap(await store.frames({ session, after: 0, limit: 9 }))).toEqual([]);
    expect(unwrap(await store.bodies(session))).toEqual([]);
    expect(unwrap(await store.snapshot(session))).toBeNull();
  });

  it("are durable in the order they were appended, without waiting in between", async () => {
    const store = open();
    const log = frames(200);
    const durable = log.map((one) => put(store, { frames: [one] }));
    await store.flush();
    expect(store.status()).toMatchObject({ storage: "ok", waitingFrames: 0, waitingBytes: 0 });
    expect((await Promise.all(durable)).every(({ ok }) => ok)).toBe(true);
    expect(unwrap(await store.frames({ session, after: 0, limit: 500 }))).toEqual(log);
  });

  it("may be sent twice", async () => {
    const store = open();
    const log = frames(4);
    await mustPut(store, { frames: log });
    await mustPut(store, { frames: log.slice(1, 3) });
    await mustPut(store, { frames: log });
    expect(unwrap(await store.head(session))).toMatchObject({ seq: 4 });
  });
}

export function refusedFramesContract(open: () => Store): void {
  it("that do not continue their session are refused", async () => {
    const store = open();
    const log = frames(5);
    expect(codeOf(await put(store, { frames: log.slice(1, 2) }))).toBe("AP_STORE_GAP");
    await mustPut(store, { frames: log.slice(0, 2) });
    expect(codeOf(await put(store, { frames: log.slice(3) }))).toBe("AP_STORE_GAP");
    const foreign = frame({ seq: 3, prevHash: hashContent("x") as never });
    expect(codeOf(await put(store, { frames: [foreign] }))).toBe("AP_STORE_GAP");
    const other = frame({ seq: 2, prevHash: log[0]?.hash ?? GENESIS_HASH, note: "other" });
    expect(codeOf(await put(store, { frames: [other] }))).toBe("AP_STORE_DIVERGED");
    const zero = frame({ seq: 0, prevHash: GENESIS_HASH });
    expect(codeOf(await put(store, { frames: [zero] }))).toBe("AP_STORE_GAP");
    expect(unwrap(await store.head(session))).toMatchObject({ seq: 2 });
  });

  it("with a wrong seal or an invalid value are refused", async () => {
    const store = open();
    const [one] = frames(1) as [ReturnType<typeof frame>];
    expect(codeOf(await put(store, { frames: [{ ...one, turn: 7 as never }] }))).toBe("AP_FRAME_HASH");
    expect(codeOf(await put(store, { frames: [{ ...one, time: Number.NaN }] }))).toBe("AP_FRAME_SHAPE");
    await mustPut(store, { frames: [one] });
  });

  it("are refused with their whole batch, but without the batches around it", async () => {
    const store = open();
    const log = frames(3);
    const lost = content("lost with its batch");
    const results = await Promise.all([
      put(store, { frames: log.slice(0, 1) }),
      put(store, { contents: [lost], frames: [log[2] as (typeof log)[number]] }),
      put(store, { frames: frames(1, { session: otherSession }) }),
      put(store, { frames: log.slice(1, 2) }),
    ]);
    expect(results.map(codeOf)).toEqual(["ok", "AP_STORE_GAP", "ok", "ok"]);
    expect(codeOf(await store.content(lost.hash))).toBe("AP_CONTENT_UNKNOWN");
    expect(unwrap(await store.head(session))).toMatchObject({ seq: 2 });
  });

  it("cannot be changed through the objects that were appended or read", async () => {
    const store = open();
    const [one] = structuredClone(frames(1)) as [ReturnType<typeof frame>];
    const kept = structuredClone(one);
    const durable = put(store, { frames: [one] });
    (one as { time: number }).time = 0;
    unwrap(await durable);
    const [read] = unwrap(await store.frames({ session, after: 0, limit: 1 })) as [ReturnType<typeof frame>];
    (read.deltas as unknown[]).length = 0;
    expect(unwrap(await store.frames({ session, after: 0, limit: 1 }))).toEqual([kept]);
  });
}
