import fc from "fast-check";
import { expect, it } from "vitest";
import { must } from "../../base/index.ts";
import { protocolOf, type WireRequest } from "../../protocols/index.ts";
import { type BodyPatch, BodyReceiver, BodySender } from "./body-patch.ts";

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

function sharedOf(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

it("sends only the bytes that differ from the body before", () => {
  const [sender, receiver] = [new BodySender(), new BodyReceiver()];
  const first = sender.patchFor(
    { request: "r1", body: bytes("abcdef"), read: null },
    { streamKey: "l", baseRequest: null, sharedBytes: 0, sharedEndBytes: 0 },
  );
  expect(receiver.restore("r1", first).body.toString()).toBe("abcdef");
  const next = sender.patchFor(
    { request: "r2", body: bytes("abcdXYZ"), read: null },
    { streamKey: "l", baseRequest: "r1", sharedBytes: 4, sharedEndBytes: 0 },
  );
  expect(Buffer.from(next.rest).toString()).toBe("XYZ");
  expect(receiver.restore("r2", next).body.toString()).toBe("abcdXYZ");
});

it("sends a body whole if the receiver does not hold its base", () => {
  const sender = new BodySender();
  sender.patchFor(
    { request: "r1", body: bytes("abc"), read: null },
    { streamKey: "l", baseRequest: null, sharedBytes: 0, sharedEndBytes: 0 },
  );
  for (const overlap of [
    { streamKey: "l", baseRequest: "r0", sharedBytes: 2, sharedEndBytes: 0 },
    { streamKey: "m", baseRequest: "r1", sharedBytes: 2, sharedEndBytes: 0 },
    { streamKey: null, baseRequest: null, sharedBytes: 0, sharedEndBytes: 0 },
  ]) {
    expect(sender.heldBytes(overlap)).toBe(0);
    expect(sender.patchFor({ request: "r2", body: bytes("abd"), read: null }, overlap)).toMatchObject({
      sharedBytes: 0,
      rest: bytes("abd"),
    });
    sender.clear();
    sender.patchFor(
      { request: "r1", body: bytes("abc"), read: null },
      { streamKey: "l", baseRequest: null, sharedBytes: 0, sharedEndBytes: 0 },
    );
  }
  sender.clear();
  expect(sender.heldBytes({ streamKey: "l", baseRequest: "r1", sharedBytes: 2, sharedEndBytes: 0 })).toBe(0);
});

it("sends a copy of the bytes", () => {
  const body = bytes("abc");
  const { rest } = new BodySender().patchFor(
    { request: "r1", body: body, read: null },
    {
      streamKey: "l",
      baseRequest: null,
      sharedBytes: 0,
      sharedEndBytes: 0,
    },
  );
  body.fill(0);
  expect(Buffer.from(rest).toString()).toBe("abc");
});

it("throws if the base of a patch is not held", () => {
  const patch = {
    streamKey: "l",
    baseRequest: "r1",
    sharedBytes: 1,
    sharedEndBytes: 0,
    read: null,
    rest: bytes("b"),
    dropped: [],
  };
  const receiver = new BodyReceiver();
  expect(() => receiver.restore("r2", patch)).toThrow("the body before is here");
  receiver.restore("r0", { ...patch, baseRequest: null, sharedBytes: 0, sharedEndBytes: 0 });
  expect(() => receiver.restore("r2", patch)).toThrow("it is the one that is meant");
});

it("does not hold a body that was dropped before it was restored", () => {
  const receiver = new BodyReceiver();
  const whole = { baseRequest: null, sharedBytes: 0, sharedEndBytes: 0, read: null, dropped: [] };
  const next = {
    streamKey: "l",
    baseRequest: "r1",
    sharedBytes: 1,
    sharedEndBytes: 0,
    read: null,
    rest: bytes("b"),
    dropped: [],
  };
  receiver.restore("r2", {
    ...whole,
    streamKey: "m",
    rest: bytes("x"),
    dropped: [{ streamKey: "l", request: "r1" }],
  });
  expect(receiver.restore("r1", { ...whole, streamKey: "l", rest: bytes("a") }).body.toString()).toBe("a");
  expect(() => receiver.restore("r3", next)).toThrow("the body before is here");
  receiver.restore("r1", { ...whole, streamKey: "l", rest: bytes("a") });
  expect(receiver.restore("r3", next).body.toString()).toBe("ab");
});

/** Random bodies in several streams: the next stream, how many bytes it keeps at each end, what is new. */
const streams = fc.array(
  fc.record({
    streamKey: fc.constantFrom("a", "b", "c", null),
    keeps: fc.nat(40),
    keepsEnd: fc.nat(20),
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
      for (const [at, { streamKey, keeps, keepsEnd, adds, isLost }] of steps.entries()) {
        const base = streamKey === null ? undefined : last.get(streamKey);
        const before = base?.body ?? "";
        const end = before.slice(Math.max(keeps, before.length - keepsEnd));
        const body = `${before.slice(0, keeps)}${adds}${end}`.replace(/[^ -~]/g, "?");
        const id = `r${at}`;
        const sharedBytes = sharedOf(before, body);
        const sharedEndBytes = Math.min(
          end.length,
          before.length - sharedBytes,
          Math.max(0, body.length - sharedBytes),
        );
        last.set(streamKey, { id, body });
        // A body that found no room in the queue is never sent, but the next one still overlaps with it.
        if (isLost) continue;
        const overlap = { streamKey, baseRequest: base?.id ?? null, sharedBytes, sharedEndBytes };
        const patch = sender.patchFor({ request: id, body: bytes(body), read: null }, overlap);
        queue.push({ id, streamKey, body, patch });
      }
      const hastened = queue.filter(({ streamKey }) => streamKey === "b");
      for (const { id, body, patch } of [
        ...hastened,
        ...queue.filter(({ streamKey }) => streamKey !== "b"),
      ]) {
        expect(receiver.restore(id, patch).body.toString()).toBe(body);
      }
    }),
  );
});

/** Random sessions: how many messages a request takes over, how many it adds, where its mark stands. */
const sessions = fc.array(
  fc.record({
    keeps: fc.nat(8),
    adds: fc.nat(3),
    marked: fc.nat(8),
    tool: fc.constantFrom("read", "write"),
    isLost: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

it("restores every request as it was read, and sends only its new messages", () => {
  const { request: readRequest } = protocolOf({ protocol: "anthropic" }).read;
  fc.assert(
    fc.property(sessions, (steps) => {
      const [sender, receiver] = [new BodySender(), new BodyReceiver()];
      let history: readonly string[] = [];
      let before: WireRequest | null = null;
      for (const [at, { keeps, adds, marked, tool, isLost }] of steps.entries()) {
        const added = Array.from({ length: adds }, (_, n) => `message ${at}.${n}`);
        history = [...history.slice(0, keeps), ...added];
        const messages = history.map((text, n) => {
          const mark = n === marked ? { cache_control: { type: "ephemeral" } } : {};
          return { role: n % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text, ...mark }] };
        });
        const tools = [{ name: tool, input_schema: { type: "object" } }];
        const body = Buffer.from(JSON.stringify({ model: "m", messages, system: "Be brief.", tools }));
        const read: WireRequest = must(readRequest(body, before), "the body can be read");
        const { sharedBytes, sharedEndBytes } = read;
        const baseRequest = before === null ? null : `r${at - 1}`;
        before = read;
        if (isLost) continue;
        const overlap = { streamKey: "l", baseRequest, sharedBytes, sharedEndBytes };
        const patch = structuredClone(sender.patchFor({ request: `r${at}`, body, read }, overlap));
        const restored = receiver.restore(`r${at}`, patch);
        expect(restored.body.equals(body)).toBe(true);
        expect(restored.read).toEqual({ ...read, bytes: restored.body });
        const isPatched = patch.sharedBytes > 0;
        if (isPatched)
          expect(patch.read?.messages.length).toBe(history.length - (patch.read?.keptMessages ?? 0));
        if (isPatched) expect(patch.rest.length).toBe(body.length - sharedBytes - sharedEndBytes);
      }
    }),
  );
});
