import { createHash, type Hash } from "node:crypto";
import { assert, type ContentHash, contentHash } from "../../base/index.ts";

/** The hash of so many first bytes of a body, to be gone on with. */
export type HashedStart = { readonly length: number; readonly hash: Hash };
export type Hashed = { readonly hash: ContentHash; readonly start: HashedStart };

/**
 * The hash of a body that begins like the one before for `shared` bytes. Of what was hashed there nothing is
 * hashed again, and what this one shares with it is hashed for the next.
 */
export function hashOnwards(bytes: Uint8Array, shared: number, before: HashedStart | null): Hashed {
  assert(shared <= bytes.length, "a body shares no more than it has");
  const known = before !== null && before.length <= shared ? before : null;
  const hash = known === null ? createHash("sha256") : known.hash.copy();
  hash.update(bytes.subarray(known?.length ?? 0, shared));
  const start = { length: shared, hash: hash.copy() };
  return { hash: contentHash(hash.update(bytes.subarray(shared)).digest("hex")), start };
}
