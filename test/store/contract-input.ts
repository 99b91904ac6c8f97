import { expect, it } from "vitest";
import { GENESIS_HASH, hashContent, limits, unwrap } from "../../src/base/index.ts";
import { type Frame, sealFrame } from "../../src/engine/frames/index.ts";
import type { Batch, Body, RecipePiece, Store } from "../../src/store/index.ts";
import {
  body,
  codeOf,
  content,
  frame,
  frames,
  literal,
  mustPut,
  put,
  session,
  slice,
  snapshot,
} from "./samples.ts";

/** Expects that stored data stays readable after an invalid batch. */
async function expectUsable(store: Store): Promise<void> {
  expect(codeOf(await store.sessions())).toBe("ok");
  expect(codeOf(await store.bodies(session))).toBe("ok");
  expect(codeOf(await store.gc())).toBe("ok");
  expect(unwrap(await store.verify("all")).damage).toEqual([]);
}

function sealedFrame(changes: object): Frame {
  const { hash: _, prevHash, ...draft } = frame({ seq: 1, prevHash: GENESIS_HASH });
  return sealFrame({ ...draft, ...changes } as typeof draft, prevHash);
}

export function shapeContract(open: () => Store): void {
  it("frames of another shape are refused, even with a valid seal", async () => {
    const store = open();
    for (const changes of [{ time: 2 ** 60 }, { actor: "nobody" }, { session: "Not One" }, { more: 1 }]) {
      expect(codeOf(await put(store, { frames: [sealedFrame(changes)] }))).toBe("AP_FRAME_SHAPE");
    }
    await expectUsable(store);
    await mustPut(store, { frames: frames(1) });
  });

  it("bodies with unreadable fields are refused", async () => {
    const store = open();
    const bytes = Buffer.from("abc");
    const good = body({ exchange: 1, bytes, recipe: [literal(bytes)] });
    const changes = [
      { hash: "zz" },
      { side: "nope" },
      { session: "Not One" },
      { exchange: -1 },
      { exchange: 2 ** 60 },
      { length: 0.5 },
      { recipe: [{ from: "nowhere" }] },
      { recipe: [{ from: "content", content: "zz", start: 0, length: 3 }] },
      { recipe: [{ from: "body", exchange: 1, side: "nope", start: 0, length: 3 }] },
    ];
    for (const change of changes) {
      const bad = { ...good, ...change } as unknown as Body;
      expect(codeOf(await put(store, { bodies: [bad] }))).toBe("AP_BATCH_INVALID");
    }
    await expectUsable(store);
    await mustPut(store, { bodies: [good] });
  });

  it("snapshots with an invalid name, root or page are refused", async () => {
    const store = open();
    const log = frames(1);
    await mustPut(store, { frames: log });
    const good = snapshot(log[0] as Frame, ["a"]);
    const changes = [
      { session: "Not One" },
      { seq: 0.5 },
      { hash: "zz" },
      { root: "" },
      { pageHashes: [5] },
      { pageHashes: ["zz"] },
      { pages: new Map([["zz", Buffer.from("a")]]) },
      { pages: {} },
    ];
    for (const change of changes) {
      const bad = { ...good, ...change } as unknown as typeof good;
      expect(codeOf(await put(store, { snapshots: [bad] }))).toBe("AP_BATCH_INVALID");
    }
    await expectUsable(store);
  });
}

export function emptyContract(open: () => Store): void {
  it("empty contents, bodies and snapshots come back empty", async () => {
    const store = open();
    const log = frames(1);
    const nothing = content("");
    const held = body({ exchange: 1, bytes: nothing.bytes, recipe: [] });
    const bare = snapshot(log[0] as Frame, []);
    const pages = snapshot(log[0] as Frame, [""]);
    await mustPut(store, { contents: [nothing], frames: log, bodies: [held], snapshots: [bare] });
    expect(unwrap(await store.content(nothing.hash)).length).toBe(0);
    expect(unwrap(await store.body(held)).length).toBe(0);
    expect(unwrap(await store.snapshot(session))).toEqual(bare);
    await expectUsable(store);
    await mustPut(store, { snapshots: [pages] });
    expect(unwrap(await store.snapshot(session))).toEqual(pages);
    await expectUsable(store);
  });
}

export function invalidInputContract(open: () => Store): void {
  const circle: unknown[] = [];
  circle.push(circle);
  const trap = Object.defineProperty({}, "contents", {
    get: () => {
      throw new Error("a trap");
    },
  });
  const nonsense: readonly unknown[] = [
    null,
    undefined,
    7,
    "batch",
    { contents: 5 },
    { contents: [null] },
    { contents: [{ hash: hashContent("") }] },
    { contents: [{ hash: "zz", bytes: new Uint8Array(0) }] },
    { bodies: [{}] },
    { bodies: {} },
    { snapshots: [{}] },
    { frames: [null] },
    { frames: [{}] },
    { frames: [{ deltas: circle }] },
    { frames: [{ deltas: [], run: () => 1 }] },
    trap,
  ];

  it("invalid batches are refused, and nothing is thrown", async () => {
    const store = open();
    for (const batch of nonsense) {
      expect(codeOf(await put(store, batch as Batch))).toMatch(/^AP_(BATCH_INVALID|FRAME_SHAPE)$/);
    }
    await mustPut(store, { frames: frames(1) });
    expect(store.status().storage).toBe("ok");
  });

  it("invalid queries are answered, and nothing is thrown", async () => {
    const store = open();
    const odd = [null, undefined, () => 1, Symbol("odd"), {}] as never[];
    for (const value of odd) {
      await store.head(value);
      await store.frames(value);
      await store.content(value);
      await store.body(value);
      await store.bodies(value);
      await store.snapshot(value);
      expect(codeOf(await store.backup(value))).not.toBe("ok");
      await store.purge(value);
    }
    await mustPut(store, { frames: frames(1) });
    await expectUsable(store);
  });
}

/** Many pieces that do not continue each other, so that they are not merged. */
function scatteredPieces(count: number, piece: (start: number) => RecipePiece): readonly RecipePiece[] {
  return Array.from({ length: count }, (_, at) => piece(at % 2 === 0 ? 0 : 2));
}

export function recipeLimitContract(open: () => Store): void {
  it("recipes that multiply beyond the limit are refused when they are stored", async () => {
    const store = open();
    const text = content("abc");
    const bytes = Buffer.from("ac".repeat(limits.recipePiecesMax / 2));
    const many = body({
      exchange: 1,
      bytes,
      recipe: scatteredPieces(limits.recipePiecesMax, (start) => slice(text, start, 1)),
    });
    await mustPut(store, { contents: [text], bodies: [many] });
    const copies = (count: number): Body => {
      const whole: RecipePiece = {
        from: "body",
        exchange: 1,
        side: "client-request",
        start: 0,
        length: bytes.length,
      };
      const all = Buffer.concat(Array.from({ length: count }, () => bytes));
      return body({ exchange: count, bytes: all, recipe: Array.from({ length: count }, () => whole) });
    };
    expect(codeOf(await put(store, { bodies: [copies(300)] }))).toBe("AP_RECIPE_INVALID");
    await mustPut(store, { bodies: [copies(10)] });
    expect(unwrap(await store.body(copies(10))).length).toBe(bytes.length * 10);
    const long = { ...many, exchange: 2, recipe: [...many.recipe, literal(Buffer.of(1))] };
    expect(codeOf(await put(store, { bodies: [long] }))).toBe("AP_RECIPE_INVALID");
  });

  it("a body that copies two parts of the one before, turn after turn, is accepted", async () => {
    const store = open();
    let bytes = Buffer.from("[]");
    const made: Body[] = [body({ exchange: 1, bytes, recipe: [literal(bytes)] })];
    for (let exchange = 2; exchange <= 60; exchange++) {
      const part = (start: number, length: number): RecipePiece => {
        return { from: "body", exchange: exchange - 1, side: "client-request", start, length };
      };
      const half = bytes.length / 2;
      const more = Buffer.from("xy");
      bytes = Buffer.concat([bytes.subarray(0, half), more, bytes.subarray(half)]);
      made.push(body({ exchange, bytes, recipe: [part(0, half), literal(more), part(half, half)] }));
    }
    for (const one of made) await mustPut(store, { bodies: [one] });
    expect(Buffer.from(unwrap(await store.body(made.at(-1) as Body)))).toEqual(bytes);
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
  });
}
