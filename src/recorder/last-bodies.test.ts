import fc from "fast-check";
import { expect, it } from "vitest";
import { must, sessionId, sha256Hex, streamId, unwrap } from "../base/index.ts";
import type { SentRequest } from "../exchange/index.ts";
import type { FrameAttachments } from "../log/index.ts";
import { commonPrefixLength, openMemoryStore } from "../store/index.ts";
import { BodyBufferPool } from "./body-buffer-pool.ts";
import { extendHash, LastBodies, type PrefixHash } from "./last-bodies.ts";

const session = sessionId("s-1");
const sentFields = {
  rendering: "managed",
  streamKey: "l",
  generatedName: null,
  wishesSeq: 0,
  leaf: "",
  fresh: [],
  aliases: [],
  isTurn: true,
  epoch: null,
} as const;

function sentRequest(body: Uint8Array): SentRequest {
  return { ...sentFields, body: [body], length: body.length };
}

/** Bodies that grow, are cut back and differ inside, as those of a conversation do. */
const step = fc.record({
  kept: fc.double({ min: 0, max: 1, noNaN: true }),
  added: fc.string({ maxLength: 300 }),
  tail: fc.constantFrom("", "]}", ',"tools":[{"name":"read"},{"name":"write"}]}'),
  stream: fc.constantFrom(1, 1, 1, 2),
});

it("a stored body stays the same after its buffer is reused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const buffers = new BodyBufferPool();
      const bodies = new LastBodies(session, buffers);
      const store = openMemoryStore();
      const written: { readonly bytes: Buffer; readonly attached: Required<FrameAttachments> }[] = [];
      let before = "";
      for (const [at, { kept, added, tail, stream }] of steps.entries()) {
        before = `{"messages":[${before.slice(0, Math.floor(kept * before.length))}${added}${tail}`;
        const bytes = Buffer.from(before);
        const input = { exchange: at + 1, stream: streamId(stream), draft: null, forms: [] };
        const attached = bodies.writeUpstreamBody(sentRequest(buffers.join([bytes])), null, input);
        written.push({ bytes, attached });
      }
      // The store is read only after all buffers were reused.
      for (const [at, { bytes, attached }] of written.entries()) {
        const appended = store.append(attached);
        if (appended.accepted) unwrap(await appended.durable);
        const side = "upstream-request";
        const found = unwrap(await store.body({ session, exchange: at + 1, side }));
        expect(Buffer.from(found).toString()).toBe(bytes.toString());
        expect(must(attached.bodies[0], "it was written").hash).toBe(sha256Hex(bytes));
      }
      await store.close();
    }),
    { numRuns: 60 },
  );
});

const addedBytes = fc.uint8Array({ maxLength: 200 });
/** The part of the previous body that is kept, and the bytes that follow. */
const growth = fc.record({ kept: fc.nat({ max: 400 }), added: addedBytes });

it("an extended hash equals the hash of the whole body", () => {
  fc.assert(
    fc.property(fc.array(growth, { minLength: 1, maxLength: 12 }), (steps) => {
      let [before, start]: [Uint8Array, PrefixHash | null] = [new Uint8Array(), null];
      for (const { kept, added } of steps) {
        const next: Uint8Array = Buffer.concat([before.subarray(0, kept), added]);
        const hashed = extendHash(next, commonPrefixLength(before, next), start);
        expect(hashed.hash).toBe(sha256Hex(next));
        [before, start] = [next, hashed.start];
      }
    }),
  );
});

it("does not hash the shared bytes again", () => {
  const first = extendHash(Buffer.from("abc"), 3, null);
  const changed = Buffer.from("xbcde");
  expect(extendHash(changed, 3, first.start).hash).toBe(sha256Hex("abcde"));
});
