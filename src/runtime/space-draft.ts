import { type BlockId, must, type StreamId, type Turn, turnOf } from "../base/index.ts";
import type { Block, Delta } from "../engine/frames/index.ts";
import { streamOf, turnNow } from "../engine/moment/index.ts";
import { ttlOf } from "../policy/index.ts";
import type { HashedContent } from "../store/index.ts";
import { unitTokens } from "../tokens/index.ts";
import { wire } from "./runtime-protocol.ts";
import { wireBytes } from "./sendable.ts";
import type { SpaceLog } from "./space-log.ts";

/** A block to add to a frame, before it has its ids. */
export type BlockInput = Pick<Block, "kind" | "stream" | "speaker" | "taint"> & {
  /** In the form of the Messages API. */
  readonly bytes: Uint8Array;
  readonly anchor?: string;
  readonly pair?: Block["pair"];
  readonly turn?: Turn;
  /** Absent: the block is a message of its own. */
  readonly message?: Block["message"];
  readonly ephemeral?: boolean;
  readonly during?: string;
};

/** Collects the deltas and contents of one frame. Only one draft is made at a time, without an await. */
export class SpaceDraft {
  readonly deltas: Delta[] = [];
  readonly contents: HashedContent[] = [];
  readonly #log: SpaceLog;

  constructor(log: SpaceLog) {
    this.#log = log;
    log.dropUnusedIds();
  }

  newMessage(stream: StreamId): Block["message"] {
    return this.#log.nextMessageId(stream, this.deltas);
  }

  addBlock(input: BlockInput): Block {
    const { kind, stream, speaker, taint, bytes, pair = null, turn = this.#nextTurn(stream) } = input;
    const content = this.#log.contents.add(bytes);
    this.contents.push(content);
    const id = this.#log.nextBlockId(stream, this.deltas);
    const block: Block = {
      id,
      kind,
      stream,
      message: input.message ?? this.newMessage(stream),
      turn,
      speaker,
      content: content.hash,
      form: wire.name,
      anchor: input.anchor ?? `${kind}-${id}`,
      pair,
      taint,
      supersedes: null,
      ttl: ttlOf(kind, turn),
      ...(input.ephemeral && { ephemeral: true }),
      ...(input.during !== undefined && { during: input.during }),
    };
    this.deltas.push({ type: "block-added", block });
    if (!input.ephemeral) this.#addTokenCount(block, bytes);
    return block;
  }

  addText(input: Omit<BlockInput, "bytes"> & { readonly text: string }): Block {
    return this.addBlock({ ...input, bytes: wireBytes({ type: "text", text: input.text }) });
  }

  /** The blocks that this draft adds. */
  addedBlocks(): readonly Block[] {
    return this.deltas.flatMap((delta) => (delta.type === "block-added" ? [delta.block] : []));
  }

  /** Removes a block once, even if several inputs of the frame remove it. */
  removeBlock(id: BlockId): void {
    if (!this.isRemoved(id)) this.deltas.push({ type: "block-removed", block: this.#blockById(id) });
  }

  isRemoved(id: BlockId): boolean {
    return this.deltas.some((delta) => delta.type === "block-removed" && delta.block.id === id);
  }

  #blockById(id: BlockId): Block {
    const added = this.addedBlocks().find((block) => block.id === id);
    if (added !== undefined) return added;
    const { addedSeq: _, ...block } = must(this.#log.state().blocks.get(id), "it is known").block;
    return block;
  }

  #addTokenCount({ id, kind }: Block, bytes: Uint8Array): void {
    const tokens = { count: unitTokens({ bytes, kind }, null), exact: false };
    this.deltas.push({ type: "tokens-counted", block: id, tokens });
  }

  /** A block that is added now is read with the next turn. */
  #nextTurn(id: StreamId): Turn {
    const moment = this.#log.moment();
    const stream = streamOf(moment, id);
    return turnOf(stream === null ? 1 : turnNow(moment, stream) + 1);
  }
}
