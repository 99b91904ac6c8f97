import { atArrival, SeenLines, type SeenRun, trimText, withReferences } from "../../levels/index.ts";
import { reworded, spokenIn } from "../../protocols/index.ts";
import { levelLine } from "../../render/index.ts";
import type { TokenGauge } from "../unit-tokens.ts";
import { type Item, inOtherWords } from "./draft.ts";
import { type Place, pathTo } from "./place.ts";
import type { Rewritten } from "./rewrite.ts";
import { type WantedBlocks, wantedItem } from "./wanted.ts";

/** How a result is shown when it comes: without what loses nothing, large ones trimmed too, or as it is. */
export type ArrivalMode = "lossless" | "trimmed" | "off";

/** Off: everything is shown as it came, until the user or the model wants it otherwise. */
export type Handling = { readonly arrival: ArrivalMode };

export const usualHandling: Handling = { arrival: "lossless" };

/** Results this long hold two thirds of all that tools say. */
const cutCharsMin = 6_000;

/** A text this short is not worth a look. */
const bytesMin = 200;

/** Of what was said before we were there, so much is remembered: reading all of it would hold others up. */
const pastBytesMax = 128 * 1024;

/** Larger ones are shown as they are: looking through them would hold others up. */
const bytesMax = 2 * 1024 * 1024;

type Showing = {
  readonly style: "managed" | "plain";
  readonly arrival: ArrivalMode;
  readonly wanted: WantedBlocks;
};

type Behind = {
  readonly end: Place;
  readonly rewritten: Rewritten | null;
  readonly gauge: TokenGauge;
};

/** Whether a block is shown with all its lines; null where nothing may be left out. */
type Arriving = {
  readonly isWhole: ((block: number) => boolean) | null;
  readonly gauge: TokenGauge;
  /** Whether large ones are trimmed. */
  readonly isCut: boolean;
};

/** What was shown of a result for the first time, to be remembered once it is sent. */
type Arrived = { readonly text: string; readonly runs: readonly SeenRun[] };

/**
 * Leaves out of new tool results what loses nothing: colours, earlier states of progress, lines that repeat,
 * and lines that stand in an earlier block which is still shown whole.
 */
export class Arrivals {
  readonly #seen = new SeenLines();
  /** Of the request that is put together, by block. */
  readonly #arrived = new Map<number, Arrived>();
  /** Blocks that refer to others themselves: their lines are not counted as they are shown. */
  readonly #borrowers = new Set<number>();
  /** Of a history that is seen for the first time, so much is still to be read. */
  #past = 0;
  readonly #nonce: string;

  constructor(nonce: string) {
    this.#nonce = nonce;
  }

  /**
   * Items that are to stand behind a place, or behind what is shown anew from a cut on. What is known from
   * elsewhere is shown as it is wanted, and what is new without what loses nothing.
   */
  shown(items: readonly Item[], { end, rewritten, gauge }: Behind, asked: Showing): readonly Item[] {
    this.#arrived.clear();
    this.#past = pastBytesMax;
    if (asked.style === "plain") return items;
    const isWhole = wholeBlocks(rewritten?.cut ?? end, rewritten?.items ?? []);
    // Before the model's last words everything was sent before, in whatever way, and may be cached as it is.
    const first = items.findLastIndex(({ wrapping }) => wrapping.role === "assistant") + 1;
    return items.map((item, at) => {
      const known = at < first ? wantedItem(item, asked.wanted, this.#nonce) : item;
      if (asked.arrival === "off") return known;
      const isCut = asked.arrival === "trimmed";
      return this.#arrive(known, { isWhole: at < first ? null : isWhole, gauge, isCut });
    });
  }

  /** They were sent: from now on others may refer to them. */
  sent(): void {
    for (const [block, { text, runs }] of this.#arrived) {
      this.#seen.add(block, text, runs);
      if (runs.length > 0) this.#borrowers.add(block);
    }
    this.#arrived.clear();
  }

  #arrive(item: Item, { isWhole, gauge, isCut }: Arriving): Item {
    const { facts, bytes, numbered } = item;
    if (facts.type !== "tool_result" || numbered === null || item.isRewritten) return item;
    if (bytes.length < bytesMin || bytes.length > (isWhole === null ? this.#past : bytesMax)) return item;
    if (isWhole === null) this.#past -= bytes.length;
    const spoken = spokenIn(bytes);
    if (spoken?.type !== "result" || !spoken.isAll) return item;
    const { text: said } = spoken;
    if (isWhole === null) {
      this.#arrived.set(numbered.block, { text: said, runs: [] });
      return item;
    }
    const text = atArrival(said, this.#nonce);
    const runs = this.#seen.matches(text).filter(({ id }) => isWhole(id) && !this.#borrowers.has(id));
    const shown = withReferences(text, runs, this.#nonce);
    const cut = isCut && shown.length >= cutCharsMin ? this.#cut(item, text, gauge) : null;
    if (cut !== null) return cut;
    const isShorter = shown.length < said.length && shown.trim() !== "";
    const other = !isShorter ? null : reworded(bytes, { text: shown, keepsMedia: true });
    this.#arrived.set(numbered.block, other === null ? { text: said, runs: [] } : { text, runs });
    return other === null ? item : shortened(item, { bytes: other, runs, gauge });
  }

  /** Others do not refer to what is not shown whole. */
  #cut(item: Item, text: string, gauge: TokenGauge): Item | null {
    const { bytes, numbered, facts } = item;
    const trimmed = trimText({ kind: "tool-result", text, tool: null, input: null });
    if (trimmed === null || numbered === null) return null;
    const line = levelLine(this.#nonce, { block: numbered.block, as: "trimmed", tokens: numbered.tokens });
    const other = reworded(bytes, { text: `${trimmed}\n${line}`, keepsMedia: true });
    if (other === null) return null;
    const tokens = gauge.count({ bytes: other, kind: facts.kind });
    return inOtherWords(item, { bytes: other, showing: { as: "trimmed", tokens, borrows: [] } });
  }
}

const reference = /^\[\w+ [^\n]*: same as [^\n]*in #(\d+), from its line \d+[^\n]*\]$/gm;

/** The blocks that a result of before refers to for its lines, by what was sent of it. */
export function borrowedIn(unit: Uint8Array): readonly number[] {
  const spoken = spokenIn(unit);
  if (spoken?.type !== "result") return [];
  return [...new Set([...spoken.text.matchAll(reference)].map(([, block]) => Number(block)))];
}

type Short = {
  readonly bytes: Uint8Array;
  readonly runs: readonly SeenRun[];
  readonly gauge: TokenGauge;
};

function shortened(item: Item, { bytes, runs, gauge }: Short): Item {
  const tokens = gauge.count({ bytes, kind: item.facts.kind });
  const borrows = [...new Set(runs.map(({ id }) => id))];
  return inOtherWords(item, { bytes, showing: { as: "original", tokens, borrows } });
}

/** Which blocks are shown with all their lines, on the way to a place and behind it; looked up if asked. */
function wholeBlocks(end: Place, behind: readonly Item[]): (block: number) => boolean {
  let blocks: ReadonlySet<number> | null = null;
  return (block) => {
    blocks ??= new Set([...pathTo(end), ...behind].flatMap(wholeBlock));
    return blocks.has(block);
  };
}

function wholeBlock({ numbered, showing }: Pick<Place, "numbered" | "showing">): readonly number[] {
  return numbered !== null && showing.as === "original" ? [numbered.block] : [];
}
