import type { BlockId } from "../base/index.ts";
import { isCommandTool } from "../commands/index.ts";
import type { AddedBlock, BlockKind } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import { attributesOf, type Moment, viewBlocks } from "../engine/moment/index.ts";
import { contentText } from "../protocols/index.ts";
import { LexicalIndex, type RecallHit } from "../recall/index.ts";
import type { Store } from "../store/index.ts";

/** Kinds of blocks that recall finds by their text. */
const recallableKinds: readonly BlockKind[] = ["user", "assistant", "tool-call", "tool-result", "memory"];

/** Reads in flight at once: enough to hide the round trip to the store. */
const readsTogether = 32;

export type RecallInput = {
  readonly moment: Moment;
  readonly view: View;
  readonly store: Pick<Store, "content">;
  /** Number of blocks to read at most; the next update reads the rest. */
  readonly max?: number;
};

/**
 * Finds the blocks of a stream by their text. New blocks are added only when a search or an offer needs them,
 * so a session without either does not pay for it.
 */
export class StreamRecall {
  readonly #index = new LexicalIndex();
  readonly #known = new Set<BlockId>();
  /** Pairs of our own tools: a search must not find the call that asked for it. */
  readonly #ownPairs = new Set<NonNullable<AddedBlock["pair"]>>();

  async update({ moment, view, store, max }: RecallInput): Promise<void> {
    const fresh = [...viewBlocks(moment, view)].filter(({ id }) => !this.#known.has(id)).slice(0, max);
    // Calls come first, so that results of our own tools are recognised: they repeat the text of other
    // blocks.
    await this.#addBlocks(
      fresh.filter(({ kind }) => kind === "tool-call"),
      store,
    );
    await this.#addBlocks(
      fresh.filter(({ kind }) => kind !== "tool-call"),
      store,
    );
    for (const id of this.#known) if (attributesOf(moment, id)?.purged) this.#index.remove(id);
  }

  find(
    words: string,
    options: { readonly max: number; readonly now: AddedBlock["turn"] },
  ): readonly RecallHit[] {
    return this.#index.find(words, options);
  }

  findTopic(words: string): readonly BlockId[] {
    return this.#index.findTopic(words);
  }

  async #addBlocks(blocks: readonly AddedBlock[], store: RecallInput["store"]): Promise<void> {
    for (let at = 0; at < blocks.length; at += readsTogether) {
      await Promise.all(blocks.slice(at, at + readsTogether).map((block) => this.#addBlock(block, store)));
    }
  }

  async #addBlock(added: AddedBlock, store: RecallInput["store"]): Promise<void> {
    const { id: block, kind, turn, speaker, content, pair } = added;
    this.#known.add(block);
    if (!recallableKinds.includes(kind) || (pair !== null && this.#ownPairs.has(pair))) return;
    const stored = await store.content(content);
    const text = stored.ok ? contentText(stored.value, added) : null;
    if (kind === "tool-call" && isCommandTool(text?.split("(")[0] ?? "")) {
      if (pair !== null) this.#ownPairs.add(pair);
      return;
    }
    if (text !== null) this.#index.add({ block, kind, turn, speaker, text });
  }
}
