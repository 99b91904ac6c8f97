/** A block under one term: its slot and the count of the term in it, packed into one small number. */
export type Posting = number;

const countBits = 5;
const countMax = 2 ** countBits - 1;

/** How fast repetitions of a term stop counting; `lengthShare` is how much long texts are discounted. */
const saturation = 0.6;
const lengthShare = 0.35;

/** A block scores at most this factor times the worth of a term. */
export const gainMax = saturation + 1;

/**
 * For each term the slots of the blocks that contain it, ascending. Most terms occur in one block only and
 * need no list. A freed slot stays in the lists until a sweep removes many at once.
 */
export class Postings {
  readonly #lists = new Map<number, Posting | Posting[]>();

  /** Slots must be added in ascending order. */
  add(term: number, slot: number, count: number): void {
    const posting = slot * (countMax + 1) + Math.min(count, countMax);
    const known = this.#lists.get(term);
    if (known === undefined) this.#lists.set(term, posting);
    else if (typeof known === "number") this.#lists.set(term, [known, posting]);
    else known.push(posting);
  }

  of(term: number): readonly Posting[] {
    const known = this.#lists.get(term);
    return known === undefined ? [] : typeof known === "number" ? [known] : known;
  }

  /** Renumbers all slots and drops those without a new number. The order of slots must not change. */
  renumber(slotOf: (slot: number) => number | null): void {
    for (const [term, known] of this.#lists) {
      const moved = (typeof known === "number" ? [known] : known).flatMap((posting) => {
        const slot = slotOf(slotIn(posting));
        return slot === null ? [] : [slot * (countMax + 1) + (posting & countMax)];
      });
      const [first] = moved;
      if (first === undefined) this.#lists.delete(term);
      else this.#lists.set(term, moved.length === 1 ? first : moved);
    }
  }
}

export function slotIn(posting: Posting): number {
  return posting >>> countBits;
}

/** The scores of slots during one query. Arrays instead of maps, because some words occur in every block. */
export class SlotScores {
  /** Terms in each slot. */
  #lengths = new Uint32Array(1_024);
  #scores = new Float64Array(1_024);
  #found = new Uint8Array(1_024);
  /** Slots with a score, each once. */
  #touched: number[] = [];
  /** Those of them that may still be among the best. Null if all may. */
  #candidates: number[] | null = null;

  get candidates(): readonly number[] {
    return this.#candidates ?? this.#touched;
  }

  setLength(slot: number, length: number): void {
    if (slot >= this.#lengths.length) {
      const size = slot * 2;
      const lengths = new Uint32Array(size);
      lengths.set(this.#lengths);
      this.#lengths = lengths;
      this.#scores = new Float64Array(size);
      this.#found = new Uint8Array(size);
    }
    this.#lengths[slot] = length;
  }

  scoreOf(slot: number): number {
    return this.#scores[slot] ?? 0;
  }

  /** How many query terms the block contains. */
  termsOf(slot: number): number {
    return this.#found[slot] ?? 0;
  }

  /** Keeps only candidates that pass. */
  keepCandidates(isWanted: (slot: number) => boolean): void {
    this.#candidates = this.candidates.filter(isWanted);
  }

  /** Adds to the score of every slot in the list. */
  addAll(postings: readonly Posting[], worth: number, lengthMean: number): void {
    const found = this.#found;
    for (const posting of postings) {
      const slot = posting >>> countBits;
      if (found[slot] === 0) this.#touched.push(slot);
      this.#addScore(posting, worth, lengthMean);
    }
  }

  /** Adds to the score of candidates only. */
  addToCandidates(postings: readonly Posting[], worth: number, lengthMean: number): void {
    for (const slot of this.candidates) {
      const posting = postings[lowerBound(postings, slot)];
      if (posting !== undefined && posting >>> countBits === slot) this.#addScore(posting, worth, lengthMean);
    }
  }

  clear(): void {
    for (const slot of this.#touched) {
      this.#scores[slot] = 0;
      this.#found[slot] = 0;
    }
    this.#touched = [];
    this.#candidates = null;
  }

  #addScore(posting: Posting, worth: number, lengthMean: number): void {
    const slot = posting >>> countBits;
    const count = posting & countMax;
    const length = (this.#lengths[slot] ?? 0) / lengthMean;
    const norm = saturation * (1 - lengthShare + lengthShare * length);
    this.#found[slot] = (this.#found[slot] ?? 0) + 1;
    this.#scores[slot] = (this.#scores[slot] ?? 0) + (worth * count * gainMax) / (count + norm);
  }
}

/** The index of the first posting whose slot is not before this one. */
function lowerBound(postings: readonly Posting[], slot: number): number {
  let [low, high] = [0, postings.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((postings[middle] ?? 0) >>> countBits < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
