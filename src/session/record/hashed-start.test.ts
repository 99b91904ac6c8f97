import fc from "fast-check";
import { expect, it } from "vitest";
import { sha256Hex } from "../../base/index.ts";
import { commonPrefixLength } from "../../store/index.ts";
import { type HashedStart, hashOnwards } from "./hashed-start.ts";

const bytes = fc.uint8Array({ maxLength: 200 });
/** How much of the body before is kept, and what follows. */
const step = fc.record({ kept: fc.nat({ max: 400 }), added: bytes });

it("a hash that goes on from the body before is the hash of the whole", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      let [before, start]: [Uint8Array, HashedStart | null] = [new Uint8Array(), null];
      for (const { kept, added } of steps) {
        const next: Uint8Array = Buffer.concat([before.subarray(0, kept), added]);
        const hashed = hashOnwards(next, commonPrefixLength(before, next), start);
        expect(hashed.hash).toBe(sha256Hex(next));
        [before, start] = [next, hashed.start];
      }
    }),
  );
});

it("hashes nothing again that was hashed before", () => {
  const first = hashOnwards(Buffer.from("abc"), 3, null);
  const changed = Buffer.from("xbcde");
  expect(hashOnwards(changed, 3, first.start).hash).toBe(sha256Hex("abcde"));
});
