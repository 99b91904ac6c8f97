import { type BlockId, blockId, must, type ViewId } from "../../base/index.ts";
import {
  type Delta,
  type Frame,
  type Moment,
  modeOf,
  now,
  type State,
  streamOf,
  turnNow,
  type View,
} from "../../engine/index.ts";
import { changesIn, FactsTally, type Offer } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { offersFor } from "../command/offers.ts";
import type { Briefing } from "../desk-port.ts";
import { fillingOf, lastUsage } from "../read/window-row.ts";
import type { RecordedLine } from "./recorded-line.ts";
import { shownMemories } from "./shown-memories.ts";
import { heldBlocks, isHolding, isWantedLower, loweredBlocks, wantedBlocks } from "./wanted-blocks.ts";
import { withheldUnits } from "./withheld-blocks.ts";

/** A stream as the desk calls it, and how much its model's window holds; null: nobody knows. */
export type Briefed = { readonly line: string; readonly window: number | null };

/** Where texts of blocks are found, and whether the desk knows nothing yet. */
export type WordsPlace = {
  readonly store: Pick<Store, "content">;
  readonly isWhole: boolean;
  /** Whether the run goes on: what the user said in it may ask for something archived. */
  readonly goesOn?: boolean;
};

/** More changes than these nobody reads. */
const newsMax = 200;

/** Keeps what a session's streams have to be told of, and tells it. */
export class Briefer {
  /** Frames whose changes the model may not have been told of. */
  #news: readonly Frame[] = [];
  readonly #briefed = new Map<RecordedLine, Briefed & { readonly tally: FactsTally }>();

  readonly #offers = new Map<RecordedLine, readonly Offer[]>();

  /** Blocks whose look may have changed since a view was told of, by view. */
  readonly #changed = new Map<ViewId, Set<BlockId>>();

  /** Blocks that can be shown shorter only now, by view: less of them may have been wanted before. */
  readonly #made = new Map<ViewId, Set<BlockId>>();

  /** Views in which anything is or was withheld. */
  readonly #withholding = new Set<ViewId>();

  /** Blocks somebody has ever pinned, selected or focused on, or given a level. */
  readonly #touched = new Set<BlockId>();

  note(frame: Frame): void {
    this.#news = [...this.#news.slice(-newsMax), frame];
    for (const delta of frame.deltas) {
      if (isHolding(delta)) this.#touched.add(delta.block);
      if (isShowing(delta)) addTo(this.#changed, delta.view, delta.block);
      if (delta.type === "withhold-set") this.#withholding.add(delta.view);
      const whose = delta.type === "block-purged" ? this.#changed : this.#made;
      if (delta.type === "block-purged" || delta.type === "rendition-set")
        for (const { index } of this.#briefed.keys()) addTo(whose, index.view, delta.block);
    }
  }

  /** A request went up that told of everything up to a seq. */
  told(seq: number): void {
    this.#news = this.#news.filter((frame) => frame.seq > seq);
  }

  async briefing(state: State, line: RecordedLine, briefed: Briefed & WordsPlace): Promise<Briefing> {
    const tally = this.#briefed.get(line)?.tally ?? new FactsTally();
    const { line: name, window } = briefed;
    this.#briefed.set(line, { line: name, window, tally });
    const told = briefingOf(state, line, { line: name, window, tally, news: this.#news });
    // Who has forgotten everything looks at everything once.
    const all = briefed.isWhole ? [...state.blocks.entries()].map(([block]) => blockId(block)) : [];
    const held = heldBlocks(state, line.index.view, new Set([...this.#touched, ...all]));
    for (const block of held) this.#touched.add(blockId(block));
    await this.#offer(state, line, told.facts.cold.blocks > 0 ? briefed : { ...briefed, goesOn: false });
    const offers = this.#offers.get(line) ?? [];
    const withheld = await this.#withheld(state, line, briefed);
    const wanted = await this.#wanted(state, line, briefed);
    const memories = await this.#memories(state, line, briefed);
    const urged = line.isUrged ? ({ isUrged: true } as const) : {};
    line.isUrged = false;
    return { ...told, held, offers, ...memories, ...withheld, wanted, ...urged };
  }

  /** Looked for once a run goes on, and forgotten when it is over. */
  async #offer(state: State, line: RecordedLine, { store, goesOn }: WordsPlace): Promise<void> {
    if (goesOn === false) this.#offers.delete(line);
    if (goesOn !== true) return;
    const view = must(state.views.get(line.index.view), "an index belongs to a view");
    const { recall } = line.doings;
    this.#offers.set(line, await offersFor({ moment: now(state), view, store, recall }));
  }

  /** Something has changed between two turns: everybody who was told before is told again. */
  async again(state: State, store: WordsPlace["store"]): Promise<readonly Briefing[]> {
    const briefings: Briefing[] = [];
    for (const [line, { line: name, window }] of this.#briefed) {
      briefings.push(await this.briefing(state, line, { line: name, window, store, isWhole: false }));
    }
    return briefings;
  }

  async #withheld(state: State, { index }: RecordedLine, { store, isWhole }: WordsPlace) {
    if (!isWhole && !this.#withholding.has(index.view)) return {};
    const view = must(state.views.get(index.view), "an index belongs to a view");
    const withheld = await withheldUnits(state, view, store);
    if (withheld.length > 0) this.#withholding.add(index.view);
    return withheld.length > 0 || this.#withholding.has(index.view) ? { withheld } : {};
  }

  /** What lasts is in sight as long as it is kept. */
  async #memories(state: State, { index, doings }: RecordedLine, { store }: WordsPlace) {
    if (doings.hasMemories === false) return {};
    const view = must(state.views.get(index.view), "an index belongs to a view");
    const memories = await shownMemories(state, view, store);
    return memories.length === 0 ? {} : { memories };
  }

  async #wanted(state: State, { index, renditions }: RecordedLine, { store, isWhole }: WordsPlace) {
    const view = must(state.views.get(index.view), "an index belongs to a view");
    const isLowered = (block: BlockId): boolean => isWantedLower(state, view, block);
    const made = [...(this.#made.get(view.id) ?? [])].filter(isLowered);
    const changed = new Set([...(this.#changed.get(view.id) ?? []), ...made]);
    this.#changed.delete(view.id);
    this.#made.delete(view.id);
    const asked = { state, view, renditions, store };
    return await wantedBlocks(asked, isWhole ? loweredBlocks(asked) : [...changed]);
  }
}

function addTo(blocks: Map<ViewId, Set<BlockId>>, view: ViewId, block: BlockId): void {
  const known = blocks.get(view);
  if (known === undefined) blocks.set(view, new Set([block]));
  else known.add(block);
}

type Showing = Extract<Delta, { type: "level-set" | "archive-set" | "withhold-set" }>;

/** Whether a block may have to be shown otherwise by it. */
function isShowing(delta: Delta): delta is Showing {
  return delta.type === "level-set" || delta.type === "archive-set" || delta.type === "withhold-set";
}

type Told = Briefed & { readonly tally: FactsTally; readonly news: readonly Frame[] };

/** What the desk needs to know of a stream to tell its model about its context. */
function briefingOf(state: State, recorded: RecordedLine, told: Told): Omit<Briefing, "wanted" | "held"> {
  const { line, window, tally, news } = told;
  const { index, sizes, names } = recorded;
  const moment = now(state);
  const view = must(state.views.get(index.view), "an index belongs to a view");
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const usage = lastUsage(moment, view);
  const budget = sizes.budget(window);
  const used = budget?.used ?? (usage === null ? shownTokens(tally, moment, view) : fillingOf(usage));
  const size = window === null ? null : Math.max(window, used);
  const since = changesIn(news, moment, view.id);
  const room =
    size === null ? noRoom : { free: budget?.free ?? size - used, turnsLeft: budget?.turnsLeft ?? null };
  const turn = turnNow(moment, stream);
  const named = { names: [], needed: names.needed(turn + 1), coldNames: [] };
  const asked = { window: size, used, exact: usage !== null, ...room, ...named, since };
  const facts = tally.facts(moment, view, asked);
  return {
    line,
    seq: state.seq,
    turn,
    facts,
    rate: sizes.rate(),
    names: names.forHeader(),
    mode: modeOf(moment),
  };
}

/** Where nobody knows how much fits, nobody knows how much is left. */
const noRoom = { free: null, turnsLeft: null };

/** For a stream whose provider has not counted yet. */
function shownTokens(tally: FactsTally, moment: Moment, view: View): number {
  const unsized = { window: null, used: 0, names: [], coldNames: [], since: [] };
  const { primacy, middle, recency } = tally.facts(moment, view, unsized);
  return primacy.tokens + middle.tokens + recency.tokens;
}
