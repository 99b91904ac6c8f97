/** A block under one term: its slot and how often the term stands in it, as one small number. */
export type Posting = number;

const countBits = 5;
const countMax = 2 ** countBits - 1;

/** How soon more of the same stops counting, and how much more often a long text has to say it. */
const saturation = 0.6;
const lengthShare = 0.35;

/** No block gets more than this times its worth for a term. */
export const gainMax = saturation + 1;

/**
 * Under each term, the slots of the blocks that have it, ascending. Most terms stand in one block only: those
 * need no list. A slot that is given back stays in the lists until it is swept out with many others.
 */
export class Postings {
  readonly #lists = new Map<number, Posting | Posting[]>();

  /** Slots are added in ascending order. */
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

  /** Gives every slot its new number; those without one leave. The order of slots must stay. */
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

/** What each slot has gained while one question is answered. Plain, for some words stand everywhere. */
export class Gains {
  /** Terms in each slot. */
  #lengths = new Uint32Array(1_024);
  #scores = new Float64Array(1_024);
  #found = new Uint8Array(1_024);
  /** Slots that have gained anything, each once; and those of them that are still in question. */
  #touched: number[] = [];
  #left: number[] | null = null;

  get left(): readonly number[] {
    return this.#left ?? this.#touched;
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

  /** How many of the terms it has. */
  termsOf(slot: number): number {
    return this.#found[slot] ?? 0;
  }

  /** From now on only those count that pass. */
  keep(isWanted: (slot: number) => boolean): void {
    this.#left = this.left.filter(isWanted);
  }

  /** Every slot in the list gains. */
  addAll(postings: readonly Posting[], worth: number, lengthMean: number): void {
    const found = this.#found;
    for (const posting of postings) {
      const slot = posting >>> countBits;
      if (found[slot] === 0) this.#touched.push(slot);
      this.#gain(posting, worth, lengthMean);
    }
  }

  /** Only those that are still in question. */
  addLeft(postings: readonly Posting[], worth: number, lengthMean: number): void {
    for (const slot of this.left) {
      const posting = postings[placeOf(postings, slot)];
      if (posting !== undefined && posting >>> countBits === slot) this.#gain(posting, worth, lengthMean);
    }
  }

  clear(): void {
    for (const slot of this.#touched) {
      this.#scores[slot] = 0;
      this.#found[slot] = 0;
    }
    this.#touched = [];
    this.#left = null;
  }

  #gain(posting: Posting, worth: number, lengthMean: number): void {
    const slot = posting >>> countBits;
    const count = posting & countMax;
    const length = (this.#lengths[slot] ?? 0) / lengthMean;
    const norm = saturation * (1 - lengthShare + lengthShare * length);
    this.#found[slot] = (this.#found[slot] ?? 0) + 1;
    this.#scores[slot] = (this.#scores[slot] ?? 0) + (worth * count * gainMax) / (count + norm);
  }
}

/** The first place whose slot is not before this one. */
function placeOf(postings: readonly Posting[], slot: number): number {
  let [low, high] = [0, postings.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((postings[middle] ?? 0) >>> countBits < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
