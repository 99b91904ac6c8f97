import fc from "fast-check";
import { expect, it } from "vitest";
import { BodiesHeld } from "./bodies-held.ts";
import { BodiesSent, type Crossing } from "./bodies-sent.ts";

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

function sharedOf(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

it("of a body that begins like the one before, only the rest crosses", () => {
  const [sent, held] = [new BodiesSent(), new BodiesHeld()];
  const first = sent.cross("r1", bytes("abcdef"), { line: "l", before: null, shared: 0 });
  expect(held.join("r1", first).toString()).toBe("abcdef");
  const next = sent.cross("r2", bytes("abcdXYZ"), { line: "l", before: "r1", shared: 4 });
  expect(Buffer.from(next.rest).toString()).toBe("XYZ");
  expect(held.join("r2", next).toString()).toBe("abcdXYZ");
});

it("what was not told crosses whole: another request before, another line, none at all", () => {
  const sent = new BodiesSent();
  sent.cross("r1", bytes("abc"), { line: "l", before: null, shared: 0 });
  for (const likeness of [
    { line: "l", before: "r0", shared: 2 },
    { line: "m", before: "r1", shared: 2 },
    { line: null, before: null, shared: 0 },
  ]) {
    expect(sent.shared(likeness)).toBe(0);
    expect(sent.cross("r2", bytes("abd"), likeness)).toMatchObject({ shared: 0, rest: bytes("abd") });
    sent.clear();
    sent.cross("r1", bytes("abc"), { line: "l", before: null, shared: 0 });
  }
  sent.clear();
  expect(sent.shared({ line: "l", before: "r1", shared: 2 })).toBe(0);
});

it("the bytes that cross are a copy", () => {
  const body = bytes("abc");
  const { rest } = new BodiesSent().cross("r1", body, { line: "l", before: null, shared: 0 });
  body.fill(0);
  expect(Buffer.from(rest).toString()).toBe("abc");
});

it("a body that is told in terms of what is not there is none", () => {
  const crossing = { line: "l", before: "r1", shared: 1, rest: bytes("b"), forgotten: [] };
  const held = new BodiesHeld();
  expect(() => held.join("r2", crossing)).toThrow("the body before is here");
  held.join("r0", { ...crossing, before: null, shared: 0 });
  expect(() => held.join("r2", crossing)).toThrow("it is the one that is meant");
});

it("a body that is forgotten before it was put together is not kept", () => {
  const held = new BodiesHeld();
  const whole = { before: null, shared: 0, forgotten: [] };
  const next = { line: "l", before: "r1", shared: 1, rest: bytes("b"), forgotten: [] };
  held.join("r2", { ...whole, line: "m", rest: bytes("x"), forgotten: [{ line: "l", request: "r1" }] });
  expect(held.join("r1", { ...whole, line: "l", rest: bytes("a") }).toString()).toBe("a");
  expect(() => held.join("r3", next)).toThrow("the body before is here");
  held.join("r1", { ...whole, line: "l", rest: bytes("a") });
  expect(held.join("r3", next).toString()).toBe("ab");
});

/** Random talks in several lines: which line speaks next, how much of it stays, what is new. */
const talks = fc.array(
  fc.record({
    line: fc.constantFrom("a", "b", "c", null),
    keeps: fc.nat(40),
    adds: fc.string({ maxLength: 30 }),
    isLost: fc.boolean(),
  }),
  { maxLength: 40 },
);

it("every body arrives as it left, in any order that keeps each line's own, whatever is forgotten", () => {
  fc.assert(
    fc.property(talks, fc.nat(120), (steps, bytesMax) => {
      const [sent, held] = [new BodiesSent(bytesMax), new BodiesHeld()];
      const last = new Map<string | null, { readonly id: string; readonly body: string }>();
      const queue: { id: string; line: string | null; body: string; crossing: Crossing }[] = [];
      for (const [at, { line, keeps, adds, isLost }] of steps.entries()) {
        const before = line === null ? undefined : last.get(line);
        const body = `${before?.body.slice(0, keeps) ?? ""}${adds}`.replace(/[^ -~]/g, "?");
        const id = `r${at}`;
        const shared = sharedOf(before?.body ?? "", body);
        last.set(line, { id, body });
        // One that finds no room on its way is never handed over, and the next is like it all the same.
        if (isLost) continue;
        const likeness = { line, before: before?.id ?? null, shared };
        queue.push({ id, line, body, crossing: sent.cross(id, bytes(body), likeness) });
      }
      const hastened = queue.filter(({ line }) => line === "b");
      for (const { id, body, crossing } of [...hastened, ...queue.filter(({ line }) => line !== "b")]) {
        expect(held.join(id, crossing).toString()).toBe(body);
      }
    }),
  );
});
