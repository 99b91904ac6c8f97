import fc from "fast-check";
import { expect, it } from "vitest";
import { hashContent, limits, unwrap } from "../../src/base/index.ts";
import { type Body, diffRecipe, type RecipePiece, type Store } from "../../src/store/index.ts";
import { exchangeSides } from "../../src/store/store.ts";
import { body, codeOf, content, frames, literal, mustPut, noise, put, session, slice } from "./samples.ts";

export function contentsContract(open: () => Store): void {
  it("come back unchanged, whatever the bytes are", async () => {
    const store = open();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 5 }), async (texts) => {
        const contents = texts.map(content);
        await mustPut(store, { contents });
        for (const { hash, bytes } of contents) {
          expect(Buffer.compare(unwrap(await store.content(hash)), bytes)).toBe(0);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("that grow, shrink or branch come back unchanged", async () => {
    const store = open();
    const trunk = noise("trunk", 4_000);
    const grown = Array.from({ length: 40 }, (_, n) => content(trunk + noise("grow", n * 700)));
    const branches = [
      content(`${trunk.slice(0, 2_500)}${noise("branch", 1_000)}`),
      content(trunk.slice(0, 2_200)),
      content(`${trunk.slice(0, 300)}${noise("apart", 5_000)}`),
    ];
    for (const one of [...grown, ...branches]) await mustPut(store, { contents: [one] });
    for (const { hash, bytes } of [...grown, ...branches]) {
      expect(Buffer.compare(unwrap(await store.content(hash)), bytes)).toBe(0);
    }
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
  });

  it("that were never stored are unknown", async () => {
    expect(codeOf(await open().content(hashContent("never")))).toBe("AP_CONTENT_UNKNOWN");
  });

  it("with another hash, or too large, are refused", async () => {
    const store = open();
    const { hash } = content("one");
    expect(codeOf(await put(store, { contents: [{ hash, bytes: content("two").bytes }] }))).toBe(
      "AP_CONTENT_DAMAGED",
    );
    const bytes = new Uint8Array(limits.contentBytesMax + 1);
    expect(codeOf(await put(store, { contents: [{ hash, bytes }] }))).toBe("AP_CONTENT_TOO_LARGE");
    expect(codeOf(await store.content(hash))).toBe("AP_CONTENT_UNKNOWN");
  });

  it("cannot be changed through the arrays that were appended or read", async () => {
    const store = open();
    const { hash, bytes } = content("as it was");
    const durable = put(store, { contents: [{ hash, bytes }] });
    bytes.fill(0);
    unwrap(await durable);
    unwrap(await store.content(hash)).fill(0);
    expect(Buffer.from(unwrap(await store.content(hash))).toString()).toBe("as it was");
  });
}

/** Bytes that any text decoder would change. */
const invalidUtf8 = Uint8Array.of(0xff, 0xfe, 0x00, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x22, 0x0a);

export function bodiesContract(open: () => Store): void {
  it("come back unchanged from contents, earlier bodies and literal bytes", async () => {
    const store = open();
    const stored = content(noise("told", 3_000));
    const first = Buffer.concat([invalidUtf8, stored.bytes, Buffer.from("}")]);
    const second = Buffer.concat([Buffer.from("{"), first.subarray(4, 2_000), invalidUtf8]);
    const copy: RecipePiece = { from: "body", exchange: 1, side: "client-request", start: 4, length: 1_996 };
    const bodies = [
      body({
        exchange: 1,
        bytes: first,
        recipe: [literal(invalidUtf8), slice(stored), literal(Buffer.from("}"))],
      }),
      body({
        exchange: 2,
        side: "upstream-request",
        bytes: second,
        recipe: [literal(Buffer.from("{")), copy, literal(invalidUtf8)],
      }),
    ];
    await mustPut(store, { contents: [stored], frames: frames(1), bodies });
    const [one, two] = bodies as [Body, Body];
    expect(Buffer.compare(unwrap(await store.body(one)), first)).toBe(0);
    expect(Buffer.compare(unwrap(await store.body(two)), second)).toBe(0);
    const rows = bodies.map(({ recipe: _, ...row }) => row);
    expect(unwrap(await store.bodies(session))).toEqual(rows);
  });

  it("are listed by exchange and side, also before the first frame", async () => {
    const store = open();
    const bytes = Buffer.from("x");
    const all = [3, 1, 2].flatMap((exchange) =>
      [...exchangeSides].reverse().map((side) => body({ exchange, side, bytes, recipe: [literal(bytes)] })),
    );
    await mustPut(store, { bodies: all });
    const keys = unwrap(await store.bodies(session)).map(({ exchange, side }) => [exchange, side]);
    expect(keys).toEqual([1, 2, 3].flatMap((exchange) => exchangeSides.map((side) => [exchange, side])));
    expect(unwrap(await store.sessions())).toEqual([]);
  });

  it("may be sent twice, but not with other bytes", async () => {
    const store = open();
    const make = (text: string): Body =>
      body({ exchange: 1, bytes: Buffer.from(text), recipe: [literal(Buffer.from(text))] });
    await mustPut(store, { bodies: [make("one")] });
    await mustPut(store, { bodies: [make("one")] });
    expect(codeOf(await put(store, { bodies: [make("two")] }))).toBe("AP_BODY_EXISTS");
    expect(Buffer.from(unwrap(await store.body(make("one")))).toString()).toBe("one");
  });
}

export function refusedBodiesContract(open: () => Store): void {
  it("with an invalid recipe are refused", async () => {
    const store = open();
    const known = content("0123456789");
    await mustPut(store, { contents: [known] });
    const bytes = Buffer.from("abc");
    const recipes: readonly (readonly [string, readonly RecipePiece[]])[] = [
      ["AP_RECIPE_INVALID", [literal(Buffer.from("ab"))]],
      ["AP_RECIPE_INVALID", [slice(known, 8, 3)]],
      ["AP_RECIPE_INVALID", [slice(known, -1, 3)]],
      ["AP_RECIPE_INVALID", [slice(known, 0.5, 3)]],
      ["AP_CONTENT_UNKNOWN", [slice(content("nobody has this"), 0, 3)]],
      ["AP_BODY_UNKNOWN", [{ from: "body", exchange: 9, side: "client-request", start: 0, length: 3 }]],
    ];
    for (const [code, recipe] of recipes) {
      expect(codeOf(await put(store, { bodies: [body({ exchange: 1, bytes, recipe })] }))).toBe(code);
    }
    const missing = { session, exchange: 1, side: "client-request" } as const;
    expect(codeOf(await store.body(missing))).toBe("AP_BODY_UNKNOWN");
  });

  it("whose recipe gives other bytes than its hash are never returned", async () => {
    const store = open();
    const wrong = body({ exchange: 1, bytes: Buffer.from("abc"), recipe: [literal(Buffer.from("abd"))] });
    await mustPut(store, { bodies: [wrong] });
    expect(codeOf(await store.body(wrong))).toBe("AP_BODY_DAMAGED");
    expect(unwrap(await store.verify("all")).damage.length).toBe(1);
  });

  it("that copy from each other in a chain longer than its limit come back", async () => {
    const store = open();
    const count = limits.recipeChainMax + 44;
    let previous: Buffer = Buffer.from("");
    const made: { readonly body: Body; readonly bytes: Buffer }[] = [];
    for (let exchange = 1; exchange <= count; exchange++) {
      const bytes = Buffer.concat([
        previous.subarray(0, -1),
        Buffer.from(noise(`turn ${exchange}`, 50)),
        Buffer.from("]"),
      ]);
      const from =
        exchange === 1 ? null : { exchange: exchange - 1, side: "client-request" as const, bytes: previous };
      const recipe = diffRecipe({ previous: from, next: bytes, slices: [] });
      made.push({ body: body({ exchange, bytes, recipe }), bytes });
      previous = bytes;
    }
    await mustPut(store, { bodies: made.map((one) => one.body) });
    for (const at of [0, 1, limits.recipeChainMax, limits.recipeChainMax + 1, count - 1]) {
      const one = made[at] as (typeof made)[number];
      expect(Buffer.compare(unwrap(await store.body(one.body)), one.bytes)).toBe(0);
    }
    expect(unwrap(await store.verify("all"))).toMatchObject({ bodies: count, damage: [] });
  });
}
