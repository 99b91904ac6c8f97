import type { Head } from "./head.ts";
import type { Image } from "./image.ts";
import { cutBranch, moveTo, type Place, sentOf } from "./place.ts";

const branchesMax = 256;
const branchBytesMax = 32 * 1024 * 1024;

/** The branches of a ledger, each in an image of its own; the one used last at the end. */
export class Branches {
  /** With where each ends. */
  readonly #images = new Map<Image, Place>();

  /** Of what they hold in memory. */
  bytes(): number {
    return [...this.#images.keys()].reduce((sum, { capacity }) => sum + capacity, 0);
  }

  /** A branch in use holds its whole path in one image; branches long unused are given up. */
  hold(leaf: Place, heads: readonly Head[]): void {
    const { image } = sentOf(leaf);
    if (!this.#images.delete(image)) moveTo(image, leaf);
    this.#images.set(image, leaf);
    for (const old of this.#images.keys()) {
      if (old === image || (this.#images.size <= branchesMax && this.bytes() <= branchBytesMax)) return;
      this.#images.delete(old);
      // What it has in common with others may lie in the branch that goes.
      for (const [kept, end] of this.#images) moveTo(kept, end);
      for (const { root } of heads) cutBranch(root, old);
    }
  }
}
