import { assert, type BlockId, cutText, limits } from "../base/index.ts";
import type { BlockKind } from "../engine/index.ts";
import { Best } from "./best.ts";
import { excerptOf, type Match } from "./excerpt.ts";
import { Gains, gainMax, type Posting, Postings, slotIn } from "./postings.ts";
import { type QueryTerm, queryTerms } from "./query.ts";
import type { RecallAsked, RecallHit, RecallIndex, RecallSource } from "./recall-index.ts";
import { folded, type Span, Terms } from "./terms.ts";

export type LexicalOptions = {
  /** Memory it may take; what was added first is forgotten first. */
  readonly bytesMax?: number;
  /** Chosen by chance unless told, so that nobody can write texts against it. */
  readonly seed?: number;
};

/** A call names what its result holds: whoever asks wants the result. */
const kindWeights: Readonly<Partial<Record<BlockKind, number>>> = { "tool-call": 0.7, notice: 0.5 };

/** Of two that fit about alike, the later is what holds now. */
const recencyShare = 0.1;
const recencyTurns = 40;
/** No block keeps more than this of what it has gained. */
const shareMax = 1 + recencyShare;

const rounding = 1e-9;
/** Shorter lists are walked through sooner than it is found out whether they matter. */
const longList = 256;

const excerptCharsUsual = 600;
/** Looked at for an excerpt; the first ones decide well enough. */
const matchesMax = 2_000;
/** Hits that a shared number may have brought in are replaced by the next ones. */
const spareHits = 4;

/** Estimated: a block besides its text, and a term in it with its share of the tables. */
const blockBytes = 400;
const postingBytes = 32;
/** Of the memory; the rest is for what was forgotten and not yet swept out. */
const liveShare = 0.8;
/** So few forgotten terms are not worth a sweep. */
const sweptMin = 10_000;

type Entry = {
  readonly source: RecallSource;
  readonly slot: number;
  readonly length: number;
  /** Different terms. */
  readonly postings: number;
  readonly bytes: number;
};

type Weighed = { readonly term: QueryTerm; readonly postings: readonly Posting[]; readonly worth: number };
type Wanted = ReadonlyMap<number, Weighed>;
type Ranking = { readonly max: number; readonly now: number | null; readonly termsMin: number };
type Scored = { readonly entry: Entry; readonly score: number };

/**
 * Finds blocks by the words and names they hold. Adding costs what is new, finding what matches, and a block
 * that is forgotten leaves no trace in what is found.
 */
export class LexicalIndex implements RecallIndex {
  readonly #bytesMax: number;
  readonly #seed: number;
  readonly #terms: Terms;
  readonly #postings = new Postings();
  /** In the order in which they came. */
  #entries = new Map<BlockId, Entry>();
  #slots: (Entry | null)[] = [];
  readonly #gains = new Gains();
  #length = 0;
  #bytes = 0;
  #livePostings = 0;
  #deadPostings = 0;

  constructor({ bytesMax = limits.recallBytesMax, seed = randomSeed() }: LexicalOptions = {}) {
    this.#bytesMax = bytesMax;
    this.#seed = seed;
    this.#terms = new Terms(seed);
  }

  /** Memory in use, estimated. */
  get bytes(): number {
    return this.#bytes + this.#deadPostings * postingBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  readonly add = (source: RecallSource): void => {
    this.forget(source.block);
    const kept = { ...source, text: boundedText(source.text) };
    const counts = this.#count(kept);
    const slot = this.#slots.length;
    let length = 0;
    for (const [term, count] of counts) {
      this.#postings.add(term, slot, count);
      length += count;
    }
    // One more than it has terms, so that blocks without any are swept as well.
    const postings = counts.size + 1;
    const bytes = blockBytes + textBytes(kept.text) + postings * postingBytes;
    const entry = { source: kept, slot, length, postings, bytes };
    this.#slots.push(entry);
    this.#gains.setLength(slot, length);
    this.#entries.set(source.block, entry);
    this.#length += length;
    this.#bytes += bytes;
    this.#livePostings += postings;
    this.#keepBounded();
  };

  readonly forget = (block: BlockId): void => {
    const entry = this.#entries.get(block);
    if (entry === undefined) return;
    this.#entries.delete(block);
    this.#slots[entry.slot] = null;
    this.#length -= entry.length;
    this.#bytes -= entry.bytes;
    this.#livePostings -= entry.postings;
    this.#deadPostings += entry.postings;
    const isMuch = this.#deadPostings * postingBytes > this.#bytesMax * (1 - liveShare);
    if (isMuch || this.#deadPostings > this.#livePostings + sweptMin) this.#sweep();
  };

  readonly find = (query: string, asked: RecallAsked): readonly RecallHit[] => {
    const { max, now, excerptChars = excerptCharsUsual } = asked;
    assert(Number.isInteger(max) && max >= 0, "a number of hits is whole");
    const wanted = this.#weigh(queryTerms(query, this.#seed));
    const hits: RecallHit[] = [];
    const hitsMax = Math.min(max, limits.recallHitsMax);
    for (const { entry, score } of this.#ranked(wanted, { max: hitsMax + spareHits, now, termsMin: 1 })) {
      if (hits.length >= hitsMax) break;
      const { block, text, speaker } = entry.source;
      const matches = this.#matches(text, wanted);
      if (matches.length === 0 && this.#matches(speaker, wanted).length === 0) continue;
      hits.push({ block, score, excerpt: excerptOf(text, matches, excerptChars) });
    }
    return hits;
  };

  readonly topic = (words: string): readonly BlockId[] => {
    const terms = queryTerms(words, this.#seed);
    const whole = terms.filter(({ isPiece }) => !isPiece);
    const wanted = this.#weigh(whole.length > 0 ? whole : terms);
    const asked = { max: limits.recallTopicBlocksMax, now: null, termsMin: wanted.size };
    const about = this.#ranked(wanted, asked).filter(({ entry: { source } }) => {
      const matches = [...this.#matches(source.text, wanted), ...this.#matches(source.speaker, wanted)];
      return new Set(matches.map(({ term }) => term)).size === wanted.size;
    });
    return about.map(({ entry }) => entry.source.block);
  };

  /** The rarer a term is, the more it tells. Terms that stand nowhere stay: a topic needs all of them. */
  #weigh(terms: readonly QueryTerm[]): Wanted {
    const wanted = new Map<number, Weighed>();
    for (const term of terms) {
      const postings = this.#live(term.hash);
      const others = this.#entries.size - postings.length;
      const rarity = Math.log(1 + (others + 0.5) / (postings.length + 0.5));
      wanted.set(term.hash, { term, postings, worth: term.weight * rarity });
    }
    return wanted;
  }

  #live(term: number): readonly number[] {
    const postings = this.#postings.of(term);
    if (this.#deadPostings === 0) return postings;
    return postings.filter((posting) => this.#slots[slotIn(posting)] !== null);
  }

  #ranked(wanted: Wanted, ranking: Ranking): readonly Scored[] {
    this.#gather(wanted, ranking);
    const best = this.#bestLeft(ranking);
    this.#gains.clear();
    return best.all();
  }

  /**
   * The terms that tell most first. As soon as those that are left could not lift a block into the best any
   * more, they count only for blocks that may still be among them: what stands everywhere would cost most and
   * tell least. Where all terms are needed, only blocks that have the first are in question at all.
   */
  #gather(wanted: Wanted, ranking: Ranking): void {
    const terms = [...wanted.values()].sort((a, b) => b.worth - a.worth);
    const gains = this.#gains;
    const mean = Math.max(1, this.#length / Math.max(1, this.#entries.size));
    let left = terms.reduce((sum, { worth }) => sum + worth, 0) * gainMax * shareMax;
    const needsAll = ranking.termsMin > 1;
    let isClosed = false;
    for (const { postings, worth } of terms) {
      if (postings.length >= longList && !needsAll) {
        const last = this.#bestLeft(ranking).last();
        const needed = (last?.score ?? 0) - left - rounding;
        if (needed > 0) isClosed = true;
        if (needed > 0) gains.keep((slot) => gains.scoreOf(slot) * shareMax >= needed);
      }
      if (isClosed) gains.addLeft(postings, worth, mean);
      else gains.addAll(postings, worth, mean);
      left -= worth * gainMax * shareMax;
      if (needsAll) isClosed = true;
    }
  }

  #bestLeft({ max, now, termsMin }: Ranking): Best<Scored> {
    const [best, gains] = [new Best<Scored>(max, compare), this.#gains];
    for (const slot of gains.left) {
      const most = gains.scoreOf(slot) * shareMax;
      if (most < (best.last()?.score ?? 0) || gains.termsOf(slot) < termsMin) continue;
      const entry = this.#slots[slot];
      if (entry !== null && entry !== undefined) {
        best.add({ entry, score: gains.scoreOf(slot) * shareOf(entry.source, now) });
      }
    }
    return best;
  }

  /** Where the terms really stand, in the order of their places. */
  #matches(text: string, wanted: Wanted): readonly Match[] {
    const terms = this.#terms;
    terms.read(text);
    const matches: Match[] = [];
    const isMeant = meantBy(text);
    for (let at = 0; at < terms.hashes.length && matches.length < matchesMax; at += 1) {
      const hash = terms.hashes[at] ?? 0;
      const weighed = wanted.get(hash);
      if (weighed === undefined) continue;
      const span = { from: terms.starts[at] ?? 0, to: terms.ends[at] ?? 0 };
      if (!isMeant(span, weighed.term)) continue;
      matches.push({ ...span, term: hash, worth: weighed.worth });
    }
    return matches.sort((a, b) => a.from - b.from);
  }

  #count({ text, speaker }: RecallSource): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const said of [speaker, text]) {
      this.#terms.read(said);
      for (const term of this.#terms.hashes) counts.set(term, (counts.get(term) ?? 0) + 1);
    }
    return counts;
  }

  #keepBounded(): void {
    for (const block of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax * liveShare) break;
      this.forget(block);
    }
  }

  /** Slots that were given back leave the lists, and the others move up. */
  #sweep(): void {
    const slots = new Map<number, number>();
    const entries = [...this.#entries].map(([block, entry], slot) => {
      slots.set(entry.slot, slot);
      return [block, { ...entry, slot }] as const;
    });
    this.#postings.renumber((slot) => slots.get(slot) ?? null);
    this.#entries = new Map(entries);
    this.#slots = entries.map(([, entry]) => entry);
    for (const { slot, length } of this.#entries.values()) this.#gains.setLength(slot, length);
    this.#deadPostings = 0;
  }
}

/** Whether the term itself stands there. The same spelling is looked at once. */
function meantBy(text: string): (span: Span, term: QueryTerm) => boolean {
  const known = new Map<string, string>();
  return (span, { fold }) => {
    const spelling = text.slice(span.from, span.to);
    const its = known.get(spelling) ?? folded(text, span);
    known.set(spelling, its);
    return its === fold;
  };
}

function shareOf({ kind, turn }: RecallSource, now: number | null): number {
  const recency = now === null ? 0 : recencyShare * 2 ** (-Math.max(0, now - turn) / recencyTurns);
  return (kindWeights[kind] ?? 1) * (1 + recency);
}

/** Of equals the later one first. */
function compare(a: Scored, b: Scored): number {
  return b.score - a.score || b.entry.source.block - a.entry.source.block;
}

function randomSeed(): number {
  return Math.trunc(Math.random() * 2 ** 31);
}

/** What is cut is copied: a piece of a text would keep all of it in memory. */
function boundedText(text: string): string {
  if (text.length <= limits.recallBlockCharsMax) return text;
  return Buffer.from(cutText(text, limits.recallBlockCharsMax), "utf16le").toString("utf16le");
}

/** At most: texts without characters beyond Latin take half. */
function textBytes(text: string): number {
  return text.length * 2;
}
