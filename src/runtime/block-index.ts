import type { BlockId, Seq, StreamId, ViewId } from "../base/index.ts";
import type { AddedBlock, Block, BlockKind, Frame } from "../engine/frames/index.ts";
import type { State, Stream, View } from "../engine/index.ts";
import { asOf, blockOf, blockViewOf, isPinned, type Moment, now, streamOf } from "../engine/moment/index.ts";
import { activationOf } from "./activation.ts";

/** Kinds that are looked up by stream, without a walk through all blocks. */
const indexedKinds: readonly BlockKind[] = ["system", "ambient", "activation"];
/**
 * Kinds that are only read as they are now, so a removed block leaves the index. Of the other kinds a fork
 * sees the blocks there were when it was forked.
 */
const sharedKinds: readonly BlockKind[] = ["ambient", "activation"];

/**
 * The blocks of a space that an agent is shown wherever its window is: system texts, ambient blocks,
 * activations and pinned blocks. The index is updated with every frame, so no lookup searches the history.
 */
export class BlockIndex {
  readonly #blocks = new Map<StreamId, Set<BlockId>>();
  readonly #pinned = new Map<ViewId, Set<BlockId>>();
  /** By agent and stream: the seq at which its last activation was removed. */
  readonly #endSeqs = new Map<string, number>();

  constructor(state: State) {
    for (const [, { block, attributes }] of state.blocks.entries()) {
      this.#add(block);
      if (!attributes.value.present) this.#remove(block, attributes.seq);
    }
    for (const [, view] of state.views.entries())
      for (const [id, log] of view.facts.entries())
        if (log.pin !== undefined) this.#pin(view.id, id as BlockId);
  }

  addFrame({ deltas, seq }: Frame): void {
    for (const delta of deltas) {
      if (delta.type === "block-added") this.#add(delta.block);
      else if (delta.type === "block-removed") this.#remove(delta.block, seq);
      else if (delta.type === "pin-set") this.#pin(delta.view, delta.block);
    }
  }

  /**
   * The blocks of a kind in a stream and in its parents, oldest first. Ambient blocks of a parent are read as
   * they are now; other blocks of a parent as they were when the stream was forked.
   */
  blocksOfKind(moment: Moment, stream: StreamId, kind: BlockKind): readonly AddedBlock[] {
    const found: AddedBlock[] = [];
    let [then, id] = [moment, stream as StreamId | null];
    while (id !== null) {
      const own = [...(this.#blocks.get(id) ?? [])].flatMap((block) => blockOf(then, block) ?? []);
      const wanted = own.filter((block) => block.kind === kind && !block.ephemeral);
      // Each stream reserves its ids in ranges, so a later block may have a smaller id.
      found.unshift(...wanted.sort((a, b) => a.addedSeq - b.addedSeq || a.id - b.id));
      const parent: Stream["parent"] = streamOf(moment, id)?.parent ?? null;
      if (parent !== null && kind !== "ambient") then = asOf(then, parent.seq);
      id = parent?.stream ?? null;
    }
    return found;
  }

  /** The activation blocks of all streams. */
  activations(state: State): readonly AddedBlock[] {
    const ids = [...this.#blocks.values()].flatMap((blocks) => [...blocks]);
    const there = ids.flatMap((id) => blockOf(now(state), id) ?? []);
    return there.filter(({ kind }) => kind === "activation").sort((a, b) => a.id - b.id);
  }

  /** The seq of the frame that ended the last run of an agent in a stream; 0 if there was none. */
  lastRunEndSeq({ agent, stream }: Pick<View, "agent" | "stream">): number {
    return this.#endSeqs.get(runKey(agent, stream)) ?? 0;
  }

  /** The pinned blocks of a view, oldest first. */
  pinned(moment: Moment, view: View): readonly AddedBlock[] {
    const blockViews = [...(this.#pinned.get(view.id) ?? [])].flatMap(
      (id) => blockViewOf(moment, view, id) ?? [],
    );
    return blockViews
      .filter(isPinned)
      .map(({ block }) => block)
      .sort((a, b) => a.id - b.id);
  }

  #add({ id, kind, stream }: Pick<AddedBlock, "id" | "kind" | "stream">): void {
    if (!indexedKinds.includes(kind)) return;
    const blocks = this.#blocks.get(stream);
    if (blocks === undefined) this.#blocks.set(stream, new Set([id]));
    else blocks.add(id);
  }

  #remove(block: Block, seq: Seq): void {
    if (sharedKinds.includes(block.kind)) this.#blocks.get(block.stream)?.delete(block.id);
    this.#noteRunEnd(block, seq);
  }

  #noteRunEnd(block: Block, seq: number): void {
    const activation = activationOf(block);
    if (activation === null || "call" in activation) return;
    const key = runKey(activation.agent, block.stream);
    this.#endSeqs.set(key, Math.max(seq, this.#endSeqs.get(key) ?? 0));
  }

  #pin(view: ViewId, block: BlockId): void {
    const blocks = this.#pinned.get(view);
    if (blocks === undefined) this.#pinned.set(view, new Set([block]));
    else blocks.add(block);
  }
}

function runKey(agent: string, stream: StreamId): string {
  return JSON.stringify([agent, stream]);
}
