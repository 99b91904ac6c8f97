import fc from "fast-check";
import { expect, it } from "vitest";
import { must, sessionId, sha256Hex, streamId, unwrap } from "../../base/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import type { SentReport } from "../exchange.ts";
import type { Attached } from "../outbox.ts";
import { BodyMemory } from "./body-memory.ts";
import { KeptBodies } from "./kept-bodies.ts";

const session = sessionId("s-1");
const rest = {
  rendering: "managed",
  line: "l",
  talkName: null,
  briefed: 0,
  leaf: "",
  fresh: [],
  copies: [],
  isTurn: true,
  epoch: null,
} as const;

function reportOf(body: Uint8Array): SentReport {
  return { ...rest, body: [body], length: body.length };
}

/** Bodies that grow, are cut back and differ inside, as those of a talk do. */
const step = fc.record({
  kept: fc.double({ min: 0, max: 1, noNaN: true }),
  added: fc.string({ maxLength: 300 }),
  tail: fc.constantFrom("", "]}", ',"tools":[{"name":"read"},{"name":"write"}]}'),
  stream: fc.constantFrom(1, 1, 1, 2),
});

it("what is written down stays as it was, whatever becomes of the memory of its body", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const memory = new BodyMemory();
      const bodies = new KeptBodies(session, memory);
      const store = openMemoryStore();
      const written: { readonly bytes: Buffer; readonly attached: Required<Attached> }[] = [];
      let before = "";
      for (const [at, { kept, added, tail, stream }] of steps.entries()) {
        before = `{"messages":[${before.slice(0, Math.floor(kept * before.length))}${added}${tail}`;
        const bytes = Buffer.from(before);
        const asked = { exchange: at + 1, stream: streamId(stream), draft: null, forms: [] };
        const attached = bodies.upstream(reportOf(memory.join([bytes])), null, asked);
        written.push({ bytes, attached });
      }
      // Only now, when all memory was used again.
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
