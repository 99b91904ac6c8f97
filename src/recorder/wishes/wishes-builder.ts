import { changesIn, FactsTally } from "../../awareness/index.ts";
import { type BlockId, blockId, must, type ViewId } from "../../base/index.ts";
import type { Delta, Frame } from "../../engine/frames/index.ts";
import type { State, View } from "../../engine/index.ts";
import { type Moment, modeOf, now, streamOf, turnNow } from "../../engine/moment/index.ts";
import type { Wishes } from "../../exchange/index.ts";
import type { Offer } from "../../notes/index.ts";
import type { Store } from "../../store/index.ts";
import type { RecordedStream } from "../recorded-stream.ts";
import { lastUsage, windowTokens } from "../window-row.ts";
import { shownMemories } from "./memories.ts";
import { offersFor } from "./offers.ts";
import { heldBlocks, isWantedLower, levelWishes, loweredBlocks, mayHoldBlock } from "./wanted-levels.ts";
import { withheldKeys } from "./withheld-content.ts";

/** A stream by its key, and the tokens of its model's window; null if unknown. */
export type WishesTarget = { readonly streamKey: string; readonly window: number | null };

export type WishesOptions = {
  readonly store: Pick<Store, "content">;
  /** True if the planner knows nothing of the stream yet: then all wishes are built, not only changes. */
  readonly isWhole: boolean;
  /**
   * True if the run continues: its user message may need an archived block. Absent: offers stay as they are.
   */
  readonly isRunOpen?: boolean;
};

/** Changes in older frames than these are not reported to the model. */
const unreportedMax = 200;

/** Builds the wishes of a session's streams, and collects from frames what they have to contain. */
export class WishesBuilder {
  /** Frames whose changes no request has reported to the model yet. */
  #unreported: readonly Frame[] = [];
  readonly #targets = new Map<RecordedStream, WishesTarget & { readonly tally: FactsTally }>();

  readonly #offers = new Map<RecordedStream, readonly Offer[]>();

  /** Blocks whose wanted level may have changed since the last wishes, by view. */
  readonly #changedBlocks = new Map<ViewId, Set<BlockId>>();

  /**
   * Blocks with new renditions, by view: a lower level may have been wanted before there was a text for it.
   */
  readonly #newlyRendered = new Map<ViewId, Set<BlockId>>();

  /** Views in which a block is or was withheld. */
  readonly #withholdingViews = new Set<ViewId>();

  /** Blocks that were ever pinned, selected, focused or given a level by user or model. */
  readonly #heldCandidates = new Set<BlockId>();

  noteFrame(frame: Frame): void {
    this.#unreported = [...this.#unreported.slice(-unreportedMax), frame];
    for (const delta of frame.deltas) {
      if (mayHoldBlock(delta)) this.#heldCandidates.add(delta.block);
      if (changesVisibility(delta)) addTo(this.#changedBlocks, delta.view, delta.block);
      if (delta.type === "withhold-set") this.#withholdingViews.add(delta.view);
      const target = delta.type === "block-purged" ? this.#changedBlocks : this.#newlyRendered;
      if (delta.type === "block-purged" || delta.type === "rendition-set")
        for (const { index } of this.#targets.keys()) addTo(target, index.view, delta.block);
    }
  }

  /** Call it for a request that reported all changes up to a seq. */
  noteReported(seq: number): void {
    this.#unreported = this.#unreported.filter((frame) => frame.seq > seq);
  }

  async build(state: State, stream: RecordedStream, input: WishesTarget & WishesOptions): Promise<Wishes> {
    const tally = this.#targets.get(stream)?.tally ?? new FactsTally();
    const { streamKey, window } = input;
    this.#targets.set(stream, { streamKey, window, tally });
    const base = baseWishes(state, stream, { streamKey, window, tally, unreported: this.#unreported });
    // A planner that knows nothing needs all held blocks, so every block is checked once.
    const all = input.isWhole ? [...state.blocks.entries()].map(([block]) => blockId(block)) : [];
    const held = heldBlocks(state, stream.index.view, new Set([...this.#heldCandidates, ...all]));
    for (const block of held) this.#heldCandidates.add(blockId(block));
    await this.#updateOffers(
      state,
      stream,
      base.facts.cold.blocks > 0 ? input : { ...input, isRunOpen: false },
    );
    const offers = this.#offers.get(stream) ?? [];
    const withheld = await this.#withheld(state, stream, input);
    const levels = await this.#levels(state, stream, input);
    const memories = await this.#memories(state, stream, input);
    const urgent = stream.isUrgent ? ({ isUrgent: true } as const) : {};
    stream.isUrgent = false;
    return { ...base, held, offers, ...memories, ...withheld, levels, ...urgent };
  }

  /** Offers are searched while a run continues, and dropped at its end. */
  async #updateOffers(
    state: State,
    stream: RecordedStream,
    { store, isRunOpen }: WishesOptions,
  ): Promise<void> {
    if (isRunOpen === false) this.#offers.delete(stream);
    if (isRunOpen !== true) return;
    const view = must(state.views.get(stream.index.view), "an index belongs to a view");
    const { recall } = stream.actions;
    this.#offers.set(stream, await offersFor({ moment: now(state), view, store, recall }));
  }

  /** Rebuilds the wishes of all streams built before, after a change between two turns. */
  async rebuildAll(state: State, store: WishesOptions["store"]): Promise<readonly Wishes[]> {
    const wishes: Wishes[] = [];
    for (const [stream, { streamKey, window }] of this.#targets) {
      wishes.push(await this.build(state, stream, { streamKey, window, store, isWhole: false }));
    }
    return wishes;
  }

  async #withheld(state: State, { index }: RecordedStream, { store, isWhole }: WishesOptions) {
    if (!isWhole && !this.#withholdingViews.has(index.view)) return {};
    const view = must(state.views.get(index.view), "an index belongs to a view");
    const withheld = await withheldKeys(state, view, store);
    if (withheld.length > 0) this.#withholdingViews.add(index.view);
    return withheld.length > 0 || this.#withholdingViews.has(index.view) ? { withheld } : {};
  }

  /** Memories are shown as long as they are kept. */
  async #memories(state: State, { index, actions }: RecordedStream, { store }: WishesOptions) {
    if (actions.hasMemories === false) return {};
    const view = must(state.views.get(index.view), "an index belongs to a view");
    const memories = await shownMemories(state, view, store);
    return memories.length === 0 ? {} : { memories };
  }

  async #levels(state: State, { index, renditions }: RecordedStream, { store, isWhole }: WishesOptions) {
    const view = must(state.views.get(index.view), "an index belongs to a view");
    const isLowered = (block: BlockId): boolean => isWantedLower(state, view, block);
    const rendered = [...(this.#newlyRendered.get(view.id) ?? [])].filter(isLowered);
    const changed = new Set([...(this.#changedBlocks.get(view.id) ?? []), ...rendered]);
    this.#changedBlocks.delete(view.id);
    this.#newlyRendered.delete(view.id);
    const input = { state, view, renditions, store };
    return await levelWishes(input, isWhole ? loweredBlocks(input) : [...changed]);
  }
}

function addTo(blocks: Map<ViewId, Set<BlockId>>, view: ViewId, block: BlockId): void {
  const known = blocks.get(view);
  if (known === undefined) blocks.set(view, new Set([block]));
  else known.add(block);
}

type VisibilityDelta = Extract<Delta, { type: "level-set" | "archive-set" | "withhold-set" }>;

/** True if the delta may change how a block is shown. */
function changesVisibility(delta: Delta): delta is VisibilityDelta {
  return delta.type === "level-set" || delta.type === "archive-set" || delta.type === "withhold-set";
}

type BaseWishesInput = WishesTarget & { readonly tally: FactsTally; readonly unreported: readonly Frame[] };

/** The part of the wishes that tells a model about its context. */
function baseWishes(
  state: State,
  stream: RecordedStream,
  input: BaseWishesInput,
): Omit<Wishes, "levels" | "held"> {
  const { streamKey, window, tally, unreported } = input;
  const { index, sizes, names } = stream;
  const moment = now(state);
  const view = must(state.views.get(index.view), "an index belongs to a view");
  const current = must(streamOf(moment, view.stream), "a view has a stream");
  const usage = lastUsage(moment, view);
  const budget = sizes.budget(window);
  // A provider that counts nothing reports a usage of zeros.
  const counted = usage === null ? 0 : windowTokens(usage);
  const used = budget?.used ?? (counted === 0 ? shownTokens(tally, moment, view) : counted);
  const size = window === null ? null : Math.max(window, used);
  const since = changesIn(unreported, moment, view.id);
  const turn = turnNow(moment, current);
  const facts = tally.facts(moment, view, {
    window: size,
    used,
    exact: usage !== null,
    free: size === null ? null : (budget?.free ?? size - used),
    turnsLeft: size === null ? null : (budget?.turnsLeft ?? null),
    names: [],
    needed: names.forManifest(turn + 1),
    coldNames: [],
    since,
  });
  return {
    streamKey,
    seq: state.seq,
    turn,
    facts,
    tokenRate: sizes.rate(),
    headerNames: names.forHeader(),
    mode: modeOf(moment),
  };
}

/** Estimates the prompt of a stream whose provider has not reported usage yet. */
function shownTokens(tally: FactsTally, moment: Moment, view: View): number {
  const unsized = { window: null, used: 0, names: [], coldNames: [], since: [] };
  const { primacy, middle, recency } = tally.facts(moment, view, unsized);
  return primacy.tokens + middle.tokens + recency.tokens;
}
