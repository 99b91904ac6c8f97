import type { BlockId, Seq, StreamId, ViewId } from "../base/index.ts";
import {
  type AddedBlock,
  asOf,
  type Block,
  type BlockKind,
  blockOf,
  type Frame,
  isPinned,
  type Moment,
  now,
  placeOf,
  type State,
  type Stream,
  streamOf,
  type View,
} from "../engine/index.ts";
import { activationOf } from "./activation.ts";

/** Kinds that are looked for without looking at everything. */
const standingKinds: readonly BlockKind[] = ["system", "memory", "ambient", "activation"];
/** Of these nobody looks at what there was: a fork shares what is around, others know what was said then. */
const sharedKinds: readonly BlockKind[] = ["ambient", "activation"];

/**
 * The blocks of a space that stay with an agent wherever its window is: what it was told for good, memories,
 * what is around it, what is going on, and what is pinned. Kept as frames come, so nobody searches the
 * history.
 */
export class Standing {
  readonly #blocks = new Map<StreamId, Set<BlockId>>();
  readonly #pinned = new Map<ViewId, Set<BlockId>>();
  /** By agent and stream: when it last ceased to be asked for something. */
  readonly #ended = new Map<string, number>();

  constructor(state: State) {
    for (const [, { block, notes }] of state.blocks.entries()) {
      this.#add(block);
      if (!notes.value.present) this.#remove(block, notes.seq);
    }
    for (const [, view] of state.views.entries())
      for (const [id, log] of view.facts.entries())
        if (log.pin !== undefined) this.#pin(view.id, id as BlockId);
  }

  note({ deltas, seq }: Frame): void {
    for (const delta of deltas) {
      if (delta.type === "block-added") this.#add(delta.block);
      else if (delta.type === "block-removed") this.#remove(delta.block, seq);
      else if (delta.type === "pin-set") this.#pin(delta.view, delta.block);
    }
  }

  /**
   * Those of a kind in a stream and in those above it, first come first. What is around is shared as it is
   * now; what was said above a fork is known as it was when the stream was forked.
   */
  of(moment: Moment, stream: StreamId, kind: BlockKind): readonly AddedBlock[] {
    const found: AddedBlock[] = [];
    let [then, id] = [moment, stream as StreamId | null];
    while (id !== null) {
      const own = [...(this.#blocks.get(id) ?? [])].flatMap((block) => blockOf(then, block) ?? []);
      const wanted = own.filter((block) => block.kind === kind && !block.ephemeral);
      // Numbers are given out from several hands, so a later block may have a smaller one.
      found.unshift(...wanted.sort((a, b) => a.addedSeq - b.addedSeq || a.id - b.id));
      const parent: Stream["parent"] = streamOf(moment, id)?.parent ?? null;
      if (parent !== null && kind !== "ambient") then = asOf(then, parent.seq);
      id = parent?.stream ?? null;
    }
    return found;
  }

  /** Everything that is asked to act, in any stream. */
  activations(state: State): readonly AddedBlock[] {
    const ids = [...this.#blocks.values()].flatMap((blocks) => [...blocks]);
    const there = ids.flatMap((id) => blockOf(now(state), id) ?? []);
    return there.filter(({ kind }) => kind === "activation").sort((a, b) => a.id - b.id);
  }

  /** The frame with which an agent was last done in a stream; 0: it never was. */
  endedSeq({ agent, stream }: Pick<View, "agent" | "stream">): number {
    return this.#ended.get(endKey(agent, stream)) ?? 0;
  }

  /** What the view has pinned, first come first. */
  pinned(moment: Moment, view: View): readonly AddedBlock[] {
    const places = [...(this.#pinned.get(view.id) ?? [])].flatMap((id) => placeOf(moment, view, id) ?? []);
    return places
      .filter(isPinned)
      .map(({ block }) => block)
      .sort((a, b) => a.id - b.id);
  }

  #add({ id, kind, stream }: Pick<AddedBlock, "id" | "kind" | "stream">): void {
    if (!standingKinds.includes(kind)) return;
    const blocks = this.#blocks.get(stream);
    if (blocks === undefined) this.#blocks.set(stream, new Set([id]));
    else blocks.add(id);
  }

  #remove(block: Block, seq: Seq): void {
    if (sharedKinds.includes(block.kind)) this.#blocks.get(block.stream)?.delete(block.id);
    this.#end(block, seq);
  }

  #end(block: Block, seq: number): void {
    const activation = activationOf(block);
    if (activation === null || "call" in activation) return;
    const key = endKey(activation.agent, block.stream);
    this.#ended.set(key, Math.max(seq, this.#ended.get(key) ?? 0));
  }

  #pin(view: ViewId, block: BlockId): void {
    const blocks = this.#pinned.get(view);
    if (blocks === undefined) this.#pinned.set(view, new Set([block]));
    else blocks.add(block);
  }
}

function endKey(agent: string, stream: StreamId): string {
  return JSON.stringify([agent, stream]);
}
