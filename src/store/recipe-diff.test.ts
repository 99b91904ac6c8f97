import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ContentHash, hashContent, must } from "../base/index.ts";
import { pieceLength } from "./recipe.ts";
import { type ContentSlice, diffRecipe } from "./recipe-diff.ts";
import type { RecipePiece } from "./store.ts";

const side = "client-request";
type Parts = { readonly previous: Uint8Array; readonly contents: ReadonlyMap<ContentHash, Uint8Array> };

function restore(pieces: readonly RecipePiece[], { previous, contents }: Parts): Buffer {
  return Buffer.concat(
    pieces.map((piece) => {
      if (piece.from === "literal") return piece.bytes;
      const source = piece.from === "body" ? previous : must(contents.get(piece.content), "a known content");
      const part = source.subarray(piece.start, piece.start + piece.length);
      expect(part.length).toBe(piece.length);
      return part;
    }),
  );
}

function check(
  previous: Uint8Array,
  next: Uint8Array,
  slices: readonly ContentSlice[] = [],
): readonly RecipePiece[] {
  const contents = new Map(
    slices.map(({ start, length, content }) => [content, next.subarray(start, start + length)]),
  );
  const pieces = diffRecipe({ previous: { exchange: 1, side, bytes: previous }, next, slices });
  expect(restore(pieces, { previous, contents }).equals(next)).toBe(true);
  expect(pieces.every((piece) => pieceLength(piece) > 0)).toBe(true);
  expectNoLiteralInSlices(pieces, slices);
  return pieces;
}

function expectNoLiteralInSlices(pieces: readonly RecipePiece[], slices: readonly ContentSlice[]): void {
  let at = 0;
  for (const piece of pieces) {
    const end = at + pieceLength(piece);
    const cut = slices.some(({ start, length }) => length > 0 && start < end && at < start + length);
    if (piece.from === "literal") expect(cut).toBe(false);
    at = end;
  }
}

function sliceOf(body: Uint8Array, text: string): ContentSlice {
  const bytes = Buffer.from(text);
  const start = Buffer.from(body).indexOf(bytes);
  expect(start).toBeGreaterThanOrEqual(0);
  return { start, length: bytes.length, content: hashContent(bytes) };
}

const literalBytes = (pieces: readonly RecipePiece[]): number =>
  pieces.reduce((sum, piece) => sum + (piece.from === "literal" ? piece.bytes.length : 0), 0);

/** Random texts with something to find in them: few letters, so that runs repeat. */
const text = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc
    .array(fc.constantFrom("ab", "abc", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "\u{1f525}", "0"), {
      maxLength: 60,
    })
    .map((words) => new Uint8Array(Buffer.from(words.join("")))),
);
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.nat({ max: 80 }),
  add: text,
});

function applyEdits(
  bytes: Uint8Array,
  edits: readonly { at: number; drop: number; add: Uint8Array }[],
): Uint8Array {
  return edits.reduce((body, { at, drop, add }) => {
    const start = Math.floor(at * body.length);
    return new Uint8Array(Buffer.concat([body.subarray(0, start), add, body.subarray(start + drop)]));
  }, bytes);
}

describe("diffRecipe", () => {
  it("restores the new body after any edits, with any slices", () => {
    const cuts = fc.array(fc.tuple(fc.nat({ max: 200 }), fc.nat({ max: 120 })), { maxLength: 6 });
    fc.assert(
      fc.property(text, fc.array(edit, { maxLength: 4 }), cuts, (previous, edits, spans) => {
        const next = applyEdits(previous, edits);
        let at = 0;
        const slices = spans.flatMap(([skip, length]) => {
          const start = Math.min(at + skip, next.length);
          const end = Math.min(start + length, next.length);
          at = end;
          return [{ start, length: end - start, content: hashContent(next.subarray(start, end)) }];
        });
        check(previous, next, slices);
      }),
      { numRuns: 400 },
    );
  });

  it("needs at most two pieces more for each edit of a text that does not repeat itself", () => {
    const words = Array.from({ length: 4_000 }, (_, n) => hashContent(`word ${n}`).slice(0, 9)).join(" ");
    const previous = new Uint8Array(Buffer.from(words));
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
        const pieces = check(previous, applyEdits(previous, edits));
        expect(pieces.length).toBeLessThanOrEqual(2 * edits.length + 1);
      }),
      { numRuns: 200 },
    );
  });

  it("needs a few copies for a turn that moves a cache mark and adds a message", () => {
    const mark = ',"cache_control":{"type":"ephemeral"}';
    const message = (n: number, marked: boolean): string =>
      `{"role":"user","content":[{"type":"text","text":"message ${n} ${hashContent(`m${n}`)}"${marked ? mark : ""}}]}`;
    const body = (count: number, marks: readonly number[]): Buffer =>
      Buffer.from(
        `{"model":"m","messages":[${Array.from({ length: count }, (_, n) => message(n, marks.includes(n))).join(",")}],"stream":true,"max_tokens":32000}`,
      );
    const pieces = check(body(200, [197, 199]), body(201, [199, 200]));
    expect(pieces.length).toBeLessThanOrEqual(8);
    expect(literalBytes(pieces)).toBeLessThan(200);
  });

  it("follows a message that turns from a string into a list of blocks", () => {
    const filler = Array.from({ length: 300 }, (_, n) => hashContent(`f${n}`)).join(" ");
    const message = hashContent("said").repeat(4);
    const before = Buffer.from(`{"a":"${filler}","content":"${message}"},{"b":"${filler}"}`);
    const after = Buffer.from(
      `{"a":"${filler}","content":[{"type":"text","text":"${message}"}]},{"b":"${filler}"}`,
    );
    const pieces = check(before, after);
    expect(pieces.length).toBeLessThanOrEqual(5);
    expect(literalBytes(pieces)).toBeLessThan(64);
  });

  it("names new messages as content, whole", () => {
    const message = hashContent("told").repeat(30);
    const before = Buffer.from(
      `{"messages":["${hashContent("one")}"],"stream":true,"more":"${hashContent("x")}"}`,
    );
    const after = Buffer.from(
      `{"messages":["${hashContent("one")}","${message}"],"stream":true,"more":"${hashContent("x")}"}`,
    );
    const pieces = check(before, after, [sliceOf(after, message)]);
    expect(pieces.filter((piece) => piece.from === "content")).toEqual([
      { from: "content", content: hashContent(message), start: 0, length: message.length },
    ]);
  });

  it("makes a first body from contents and literals", () => {
    const next = Buffer.from(`[${"a".repeat(100)},${"b".repeat(100)}]`);
    const slices = ["a", "b"].map((letter) => sliceOf(next, letter.repeat(100)));
    const pieces = diffRecipe({ previous: null, next, slices });
    expect(pieces.map(({ from }) => from)).toEqual(["literal", "content", "literal", "content", "literal"]);
    expect(diffRecipe({ previous: null, next: new Uint8Array(), slices: [] })).toEqual([]);
  });

  it("does not split a new content for the sake of a short copy", () => {
    const shared = hashContent("shared");
    const content = `${hashContent("new")}${shared}${hashContent("newer")}`;
    const before = Buffer.from(`[${hashContent("p")},"${shared}",${hashContent("q")}]`);
    const after = Buffer.from(`{${hashContent("r")},"${content}",${hashContent("s")}}`);
    const pieces = check(before, after, [sliceOf(after, content)]);
    expect(pieces.filter((piece) => piece.from === "content").length).toBe(1);
    expect(pieces.some((piece) => piece.from === "body")).toBe(false);
  });

  it("restores large bodies, also those that repeat one byte", () => {
    const size = 2_000_000;
    const zeros = new Uint8Array(size);
    const changed = new Uint8Array(size);
    for (let at = 0; at < size; at += 1_000) changed[at] = 1;
    check(zeros, changed);
    check(changed, zeros);
  });
});

it("a slice may be the middle of a content", () => {
  const content = Buffer.from('{"type":"text","text":"hello"}');
  const next = Buffer.from('{"content":"hello"}');
  const slice = { start: next.indexOf('"hello"'), length: 7, content: hashContent(content), from: 22 };
  const pieces = diffRecipe({ previous: null, next, slices: [slice] });
  const contents = new Map([[hashContent(content), content]]);
  expect(restore(pieces, { previous: Buffer.alloc(0), contents }).equals(next)).toBe(true);
  expectNoLiteralInSlices(pieces, [slice]);
});
