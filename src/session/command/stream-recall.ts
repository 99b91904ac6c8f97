import type { BlockId } from "../../base/index.ts";
import { isCommandTool } from "../../commands/index.ts";
import {
  type AddedBlock,
  type BlockKind,
  blocksOf,
  type Moment,
  notesOf,
  type View,
} from "../../engine/index.ts";
import { LexicalIndex, type RecallHit } from "../../recall/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "../read/stored-words.ts";

/** What can be found again by its words: what people, models and tools have said, and notes. */
const foundKinds: readonly BlockKind[] = ["user", "assistant", "tool-call", "tool-result", "memory"];

/** So many are read together: enough to hide the way to the store and back. */
const readsTogether = 32;

export type RecallPlace = {
  readonly moment: Moment;
  readonly view: View;
  readonly store: Pick<Store, "content">;
  /** So many blocks are read at most; the rest the next time. */
  readonly max?: number;
};

/**
 * The blocks of a stream by their words. It is filled with what has come since, when somebody asks or blocks
 * are archived that could be offered: a session without either pays nothing for it.
 */
export class StreamRecall {
  readonly #index = new LexicalIndex();
  readonly #known = new Set<BlockId>();
  /** Calls of our own tools: asking for words must not find the asking. */
  readonly #ownPairs = new Set<NonNullable<AddedBlock["pair"]>>();

  async ready({ moment, view, store, max }: RecallPlace): Promise<void> {
    const fresh = [...blocksOf(moment, view)].filter(({ id }) => !this.#known.has(id)).slice(0, max);
    // Calls first: what answers one of ours repeats what others have said.
    await this.#addAll(
      fresh.filter(({ kind }) => kind === "tool-call"),
      store,
    );
    await this.#addAll(
      fresh.filter(({ kind }) => kind !== "tool-call"),
      store,
    );
    for (const id of this.#known) if (notesOf(moment, id)?.purged) this.#index.forget(id);
  }

  find(
    words: string,
    asked: { readonly max: number; readonly now: AddedBlock["turn"] },
  ): readonly RecallHit[] {
    return this.#index.find(words, asked);
  }

  topic(words: string): readonly BlockId[] {
    return this.#index.topic(words);
  }

  async #addAll(blocks: readonly AddedBlock[], store: RecallPlace["store"]): Promise<void> {
    for (let at = 0; at < blocks.length; at += readsTogether) {
      await Promise.all(blocks.slice(at, at + readsTogether).map((block) => this.#add(block, store)));
    }
  }

  async #add(
    { id: block, kind, turn, speaker, content, pair }: AddedBlock,
    store: RecallPlace["store"],
  ): Promise<void> {
    this.#known.add(block);
    if (!foundKinds.includes(kind) || (pair !== null && this.#ownPairs.has(pair))) return;
    const stored = await store.content(content);
    const text = stored.ok ? storedWords(stored.value, kind) : null;
    if (kind === "tool-call" && isCommandTool(text?.split("(")[0] ?? "")) {
      if (pair !== null) this.#ownPairs.add(pair);
      return;
    }
    if (text !== null) this.#index.add({ block, kind, turn, speaker, text });
  }
}
