import type { AppendBuffer } from "./append-buffer.ts";
import { dropBranch, type LedgerNode, moveToBuffer, sentPosition } from "./node.ts";
import type { RequestHead } from "./request-head.ts";

const branchesMax = 256;
const branchBytesMax = 32 * 1024 * 1024;

/** The branches of a ledger, each in a buffer of its own, the last used one at the end. */
export class Branches {
  /** Each buffer with the leaf of its branch. */
  readonly #leaves = new Map<AppendBuffer, LedgerNode>();

  memoryBytes(): number {
    return [...this.#leaves.keys()].reduce((sum, { capacity }) => sum + capacity, 0);
  }

  /** Puts the whole path of a branch in use into one buffer, and drops branches long unused. */
  keep(leaf: LedgerNode, heads: readonly RequestHead[]): void {
    const { buffer } = sentPosition(leaf);
    if (!this.#leaves.delete(buffer)) moveToBuffer(buffer, leaf);
    this.#leaves.set(buffer, leaf);
    for (const old of this.#leaves.keys()) {
      if (old === buffer || (this.#leaves.size <= branchesMax && this.memoryBytes() <= branchBytesMax))
        return;
      this.#leaves.delete(old);
      // Other branches may share a part of their path with the one that is dropped.
      for (const [kept, end] of this.#leaves) moveToBuffer(kept, end);
      for (const { root } of heads) dropBranch(root, old);
    }
  }
}
