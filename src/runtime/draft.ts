import { type BlockId, must, type StreamId, type Turn, turnOf } from "../base/index.ts";
import { type Block, type Delta, streamOf, turnNow } from "../engine/index.ts";
import { ttlOf, unitTokens } from "../session/index.ts";
import type { Content } from "../store/index.ts";
import type { SpaceLog } from "./space-log.ts";
import { wireBytes } from "./takeable.ts";

/** A block that is wanted, but for its numbers. */
export type Wish = Pick<Block, "kind" | "stream" | "speaker" | "taint"> & {
  /** In the form of the Messages interface. */
  readonly bytes: Uint8Array;
  readonly anchor?: string;
  readonly pair?: Block["pair"];
  readonly turn?: Turn;
  /** Left out: a message of its own. */
  readonly message?: Block["message"];
  readonly ephemeral?: boolean;
  readonly during?: string;
};

/** What one frame adds, put together before anything is appended. One is made at a time, without waiting. */
export class Draft {
  readonly deltas: Delta[] = [];
  readonly contents: Content[] = [];
  readonly #log: SpaceLog;

  constructor(log: SpaceLog) {
    this.#log = log;
    log.forgetUnlogged();
  }

  message(stream: StreamId): Block["message"] {
    return this.#log.messageFor(stream, this.deltas);
  }

  block(wish: Wish): Block {
    const { kind, stream, speaker, taint, bytes, pair = null, turn = this.#nextTurn(stream) } = wish;
    const content = this.#log.contents.keep(bytes);
    this.contents.push(content);
    const id = this.#log.blockFor(stream, this.deltas);
    const block: Block = {
      id,
      kind,
      stream,
      message: wish.message ?? this.message(stream),
      turn,
      speaker,
      content: content.hash,
      anchor: wish.anchor ?? `${kind}-${id}`,
      pair,
      taint,
      supersedes: null,
      ttl: ttlOf(kind, turn),
      ...(wish.ephemeral && { ephemeral: true }),
      ...(wish.during !== undefined && { during: wish.during }),
    };
    this.deltas.push({ type: "block-added", block });
    if (!wish.ephemeral) this.#count(block, bytes);
    return block;
  }

  text(wish: Omit<Wish, "bytes"> & { readonly text: string }): Block {
    return this.block({ ...wish, bytes: wireBytes({ type: "text", text: wish.text }) });
  }

  /** Blocks that this frame brings. */
  added(): readonly Block[] {
    return this.deltas.flatMap((delta) => (delta.type === "block-added" ? [delta.block] : []));
  }

  /** Once, also where several things that happen together end it. */
  remove(id: BlockId): void {
    if (!this.isRemoved(id)) this.deltas.push({ type: "block-removed", block: this.#known(id) });
  }

  isRemoved(id: BlockId): boolean {
    return this.deltas.some((delta) => delta.type === "block-removed" && delta.block.id === id);
  }

  #known(id: BlockId): Block {
    const added = this.added().find((block) => block.id === id);
    if (added !== undefined) return added;
    const { addedSeq: _, ...block } = must(this.#log.state().blocks.get(id), "it is known").block;
    return block;
  }

  #count({ id, kind }: Block, bytes: Uint8Array): void {
    const tokens = { count: unitTokens({ bytes, kind }, null), exact: false };
    this.deltas.push({ type: "tokens-counted", block: id, tokens });
  }

  /** What is said now will be read with the next turn. */
  #nextTurn(id: StreamId): Turn {
    const moment = this.#log.moment();
    const stream = streamOf(moment, id);
    return turnOf(stream === null ? 1 : turnNow(moment, stream) + 1);
  }
}
