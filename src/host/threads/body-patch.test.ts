import fc from "fast-check";
import { expect, it } from "vitest";
import { type BodyPatch, BodyReceiver, BodySender } from "./body-patch.ts";

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

function sharedOf(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

it("sends only the bytes that differ from the body before", () => {
  const [sender, receiver] = [new BodySender(), new BodyReceiver()];
  const first = sender.patchFor("r1", bytes("abcdef"), { streamKey: "l", baseRequest: null, sharedBytes: 0 });
  expect(receiver.restore("r1", first).toString()).toBe("abcdef");
  const next = sender.patchFor("r2", bytes("abcdXYZ"), { streamKey: "l", baseRequest: "r1", sharedBytes: 4 });
  expect(Buffer.from(next.rest).toString()).toBe("XYZ");
  expect(receiver.restore("r2", next).toString()).toBe("abcdXYZ");
});

it("sends a body whole if the receiver does not hold its base", () => {
  const sender = new BodySender();
  sender.patchFor("r1", bytes("abc"), { streamKey: "l", baseRequest: null, sharedBytes: 0 });
  for (const overlap of [
    { streamKey: "l", baseRequest: "r0", sharedBytes: 2 },
    { streamKey: "m", baseRequest: "r1", sharedBytes: 2 },
    { streamKey: null, baseRequest: null, sharedBytes: 0 },
  ]) {
    expect(sender.heldBytes(overlap)).toBe(0);
    expect(sender.patchFor("r2", bytes("abd"), overlap)).toMatchObject({
      sharedBytes: 0,
      rest: bytes("abd"),
    });
    sender.clear();
    sender.patchFor("r1", bytes("abc"), { streamKey: "l", baseRequest: null, sharedBytes: 0 });
  }
  sender.clear();
  expect(sender.heldBytes({ streamKey: "l", baseRequest: "r1", sharedBytes: 2 })).toBe(0);
});

it("sends a copy of the bytes", () => {
  const body = bytes("abc");
  const { rest } = new BodySender().patchFor("r1", body, {
    streamKey: "l",
    baseRequest: null,
    sharedBytes: 0,
  });
  body.fill(0);
  expect(Buffer.from(rest).toString()).toBe("abc");
});

it("throws if the base of a patch is not held", () => {
  const patch = { streamKey: "l", baseRequest: "r1", sharedBytes: 1, rest: bytes("b"), dropped: [] };
  const receiver = new BodyReceiver();
  expect(() => receiver.restore("r2", patch)).toThrow("the body before is here");
  receiver.restore("r0", { ...patch, baseRequest: null, sharedBytes: 0 });
  expect(() => receiver.restore("r2", patch)).toThrow("it is the one that is meant");
});

it("does not hold a body that was dropped before it was restored", () => {
  const receiver = new BodyReceiver();
  const whole = { baseRequest: null, sharedBytes: 0, dropped: [] };
  const next = { streamKey: "l", baseRequest: "r1", sharedBytes: 1, rest: bytes("b"), dropped: [] };
  receiver.restore("r2", {
    ...whole,
    streamKey: "m",
    rest: bytes("x"),
    dropped: [{ streamKey: "l", request: "r1" }],
  });
  expect(receiver.restore("r1", { ...whole, streamKey: "l", rest: bytes("a") }).toString()).toBe("a");
  expect(() => receiver.restore("r3", next)).toThrow("the body before is here");
  receiver.restore("r1", { ...whole, streamKey: "l", rest: bytes("a") });
  expect(receiver.restore("r3", next).toString()).toBe("ab");
});

/** Random bodies in several streams: which stream is next, how many bytes it keeps, what is new. */
const streams = fc.array(
  fc.record({
    streamKey: fc.constantFrom("a", "b", "c", null),
    keeps: fc.nat(40),
    adds: fc.string({ maxLength: 30 }),
    isLost: fc.boolean(),
  }),
  { maxLength: 40 },
);

it("restores every body, in any order that keeps the order of each stream", () => {
  fc.assert(
    fc.property(streams, fc.nat(120), (steps, bytesMax) => {
      const [sender, receiver] = [new BodySender(bytesMax), new BodyReceiver()];
      const last = new Map<string | null, { readonly id: string; readonly body: string }>();
      const queue: { id: string; streamKey: string | null; body: string; patch: BodyPatch }[] = [];
      for (const [at, { streamKey, keeps, adds, isLost }] of steps.entries()) {
        const baseRequest = streamKey === null ? undefined : last.get(streamKey);
        const body = `${baseRequest?.body.slice(0, keeps) ?? ""}${adds}`.replace(/[^ -~]/g, "?");
        const id = `r${at}`;
        const sharedBytes = sharedOf(baseRequest?.body ?? "", body);
        last.set(streamKey, { id, body });
        // A body that found no room in the queue is never sent, but the next one still overlaps with it.
        if (isLost) continue;
        const overlap = { streamKey, baseRequest: baseRequest?.id ?? null, sharedBytes };
        queue.push({ id, streamKey, body, patch: sender.patchFor(id, bytes(body), overlap) });
      }
      const hastened = queue.filter(({ streamKey }) => streamKey === "b");
      for (const { id, body, patch } of [
        ...hastened,
        ...queue.filter(({ streamKey }) => streamKey !== "b"),
      ]) {
        expect(receiver.restore(id, patch).toString()).toBe(body);
      }
    }),
  );
});
