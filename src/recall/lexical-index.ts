import { assert, type BlockId, cutText, limits } from "../base/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";
import { excerptOf, type Match } from "./excerpt.ts";
import { gainMax, type Posting, Postings, SlotScores, slotIn } from "./postings.ts";
import { type QueryTerm, queryTerms } from "./query-terms.ts";
import type { RecallHit, RecallIndex, RecallOptions, RecallSource } from "./recall-index.ts";
import { foldTerm, TermReader, type TextSpan } from "./terms.ts";
import { TopList } from "./top-list.ts";

export type LexicalOptions = {
  /** Maximum memory; the blocks added first are dropped first. */
  readonly bytesMax?: number;
  /** Absent: random, so that no text can be written to make hashes collide. */
  readonly seed?: number;
};

/** A call mentions what its result contains, and the result is what a query wants. */
const kindWeights: Readonly<Partial<Record<BlockKind, number>>> = { "tool-call": 0.7, notice: 0.5 };

/** A later block gets a slightly higher score, because it is more likely to be valid. */
const recencyShare = 0.1;
const recencyTurns = 40;
/** The largest factor on the score of a block. */
const shareMax = 1 + recencyShare;

const rounding = 1e-9;
/** Shorter lists are added at once: checking whether they matter would cost more. */
const longList = 256;

const defaultExcerptChars = 600;
/** Maximum matches considered for an excerpt; the first ones decide well enough. */
const matchesMax = 2_000;
/** Spare hits replace those that only came from a shared hash. */
const spareHits = 4;

/** Estimated memory of a block besides its text, and of a term in it with its share of the tables. */
const blockBytes = 400;
const postingBytes = 32;
/** Share of the memory for live blocks; the rest is for removed blocks that are not swept yet. */
const liveShare = 0.8;
/** Fewer removed terms are not worth a sweep. */
const sweptMin = 10_000;

type IndexEntry = {
  readonly source: RecallSource;
  readonly slot: number;
  readonly length: number;
  /** Number of distinct terms. */
  readonly postings: number;
  readonly bytes: number;
};

type WeighedTerm = {
  readonly term: QueryTerm;
  readonly postings: readonly Posting[];
  readonly worth: number;
};
type WeighedTerms = ReadonlyMap<number, WeighedTerm>;
type RankOptions = { readonly max: number; readonly now: number | null; readonly termsMin: number };
type ScoredEntry = { readonly entry: IndexEntry; readonly score: number };

/**
 * Finds blocks by their words and names. Adding costs as much as the new text, finding as much as the
 * matches, and a removed block has no influence on later results.
 */
export class LexicalIndex implements RecallIndex {
  readonly #bytesMax: number;
  readonly #seed: number;
  readonly #terms: TermReader;
  readonly #postings = new Postings();
  /** In the order they were added. */
  #entries = new Map<BlockId, IndexEntry>();
  #slots: (IndexEntry | null)[] = [];
  readonly #scores = new SlotScores();
  #length = 0;
  #bytes = 0;
  #livePostings = 0;
  #deadPostings = 0;

  constructor({ bytesMax = limits.recallBytesMax, seed = randomSeed() }: LexicalOptions = {}) {
    this.#bytesMax = bytesMax;
    this.#seed = seed;
    this.#terms = new TermReader(seed);
  }

  /** Memory in use, estimated. */
  get bytes(): number {
    return this.#bytes + this.#deadPostings * postingBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  readonly add = (source: RecallSource): void => {
    this.remove(source.block);
    const kept = { ...source, text: boundedText(source.text) };
    const counts = this.#count(kept);
    const slot = this.#slots.length;
    let length = 0;
    for (const [term, count] of counts) {
      this.#postings.add(term, slot, count);
      length += count;
    }
    // One more than the terms, so that blocks without terms are swept as well.
    const postings = counts.size + 1;
    const bytes = blockBytes + textBytes(kept.text) + postings * postingBytes;
    const entry = { source: kept, slot, length, postings, bytes };
    this.#slots.push(entry);
    this.#scores.setLength(slot, length);
    this.#entries.set(source.block, entry);
    this.#length += length;
    this.#bytes += bytes;
    this.#livePostings += postings;
    this.#keepBounded();
  };

  readonly remove = (block: BlockId): void => {
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

  readonly find = (query: string, options: RecallOptions): readonly RecallHit[] => {
    const { max, now, excerptChars = defaultExcerptChars } = options;
    assert(Number.isInteger(max) && max >= 0, "a number of hits is whole");
    const weighedTerms = this.#weigh(queryTerms(query, this.#seed));
    const hits: RecallHit[] = [];
    const hitsMax = Math.min(max, limits.recallHitsMax);
    for (const { entry, score } of this.#ranked(weighedTerms, {
      max: hitsMax + spareHits,
      now,
      termsMin: 1,
    })) {
      if (hits.length >= hitsMax) break;
      const { block, text, speaker } = entry.source;
      const matches = this.#matches(text, weighedTerms);
      if (matches.length === 0 && this.#matches(speaker, weighedTerms).length === 0) continue;
      hits.push({ block, score, excerpt: excerptOf(text, matches, excerptChars) });
    }
    return hits;
  };

  readonly findTopic = (words: string): readonly BlockId[] => {
    const terms = queryTerms(words, this.#seed);
    const whole = terms.filter(({ isPiece }) => !isPiece);
    const weighedTerms = this.#weigh(whole.length > 0 ? whole : terms);
    const options = { max: limits.recallTopicBlocksMax, now: null, termsMin: weighedTerms.size };
    const about = this.#ranked(weighedTerms, options).filter(({ entry: { source } }) => {
      const matches = [
        ...this.#matches(source.text, weighedTerms),
        ...this.#matches(source.speaker, weighedTerms),
      ];
      return new Set(matches.map(({ term }) => term)).size === weighedTerms.size;
    });
    return about.map(({ entry }) => entry.source.block);
  };

  /** Weighs terms by rarity. Terms that occur nowhere are kept, because a topic needs all terms. */
  #weigh(terms: readonly QueryTerm[]): WeighedTerms {
    const weighedTerms = new Map<number, WeighedTerm>();
    for (const term of terms) {
      const postings = this.#live(term.hash);
      const others = this.#entries.size - postings.length;
      const rarity = Math.log(1 + (others + 0.5) / (postings.length + 0.5));
      weighedTerms.set(term.hash, { term, postings, worth: term.weight * rarity });
    }
    return weighedTerms;
  }

  #live(term: number): readonly number[] {
    const postings = this.#postings.of(term);
    if (this.#deadPostings === 0) return postings;
    return postings.filter((posting) => this.#slots[slotIn(posting)] !== null);
  }

  #ranked(weighedTerms: WeighedTerms, ranking: RankOptions): readonly ScoredEntry[] {
    this.#scoreTerms(weighedTerms, ranking);
    const best = this.#bestCandidates(ranking);
    this.#scores.clear();
    return best.items();
  }

  /**
   * Scores the terms with the most worth first. Once the remaining terms cannot lift a new block into the
   * best, they count only for candidates: terms that occur everywhere would cost most and tell least. If all
   * terms are required, only blocks with the first term are candidates.
   */
  #scoreTerms(weighedTerms: WeighedTerms, ranking: RankOptions): void {
    const terms = [...weighedTerms.values()].sort((a, b) => b.worth - a.worth);
    const scores = this.#scores;
    const mean = Math.max(1, this.#length / Math.max(1, this.#entries.size));
    let remaining = terms.reduce((sum, { worth }) => sum + worth, 0) * gainMax * shareMax;
    const needsAll = ranking.termsMin > 1;
    let isClosed = false;
    for (const { postings, worth } of terms) {
      if (postings.length >= longList && !needsAll) {
        const last = this.#bestCandidates(ranking).last();
        const needed = (last?.score ?? 0) - remaining - rounding;
        if (needed > 0) isClosed = true;
        if (needed > 0) scores.keepCandidates((slot) => scores.scoreOf(slot) * shareMax >= needed);
      }
      if (isClosed) scores.addToCandidates(postings, worth, mean);
      else scores.addAll(postings, worth, mean);
      remaining -= worth * gainMax * shareMax;
      if (needsAll) isClosed = true;
    }
  }

  #bestCandidates({ max, now, termsMin }: RankOptions): TopList<ScoredEntry> {
    const [best, scores] = [new TopList<ScoredEntry>(max, compare), this.#scores];
    for (const slot of scores.candidates) {
      const most = scores.scoreOf(slot) * shareMax;
      if (most < (best.last()?.score ?? 0) || scores.termsOf(slot) < termsMin) continue;
      const entry = this.#slots[slot];
      if (entry !== null && entry !== undefined) {
        best.add({ entry, score: scores.scoreOf(slot) * shareOf(entry.source, now) });
      }
    }
    return best;
  }

  /** The real matches of the terms, in the order of the text. */
  #matches(text: string, weighedTerms: WeighedTerms): readonly Match[] {
    const terms = this.#terms;
    terms.read(text);
    const matches: Match[] = [];
    const isMatch = termMatcher(text);
    for (let at = 0; at < terms.hashes.length && matches.length < matchesMax; at += 1) {
      const hash = terms.hashes[at] ?? 0;
      const weighed = weighedTerms.get(hash);
      if (weighed === undefined) continue;
      const span = { from: terms.starts[at] ?? 0, to: terms.ends[at] ?? 0 };
      if (!isMatch(span, weighed.term)) continue;
      matches.push({ ...span, term: hash, worth: weighed.worth });
    }
    return matches.sort((a, b) => a.from - b.from);
  }

  #count({ text, speaker }: RecallSource): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const part of [speaker, text]) {
      this.#terms.read(part);
      for (const term of this.#terms.hashes) counts.set(term, (counts.get(term) ?? 0) + 1);
    }
    return counts;
  }

  #keepBounded(): void {
    for (const block of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax * liveShare) break;
      this.remove(block);
    }
  }

  /** Removes freed slots from the lists and renumbers the others. */
  #sweep(): void {
    const slots = new Map<number, number>();
    const entries = [...this.#entries].map(([block, entry], slot) => {
      slots.set(entry.slot, slot);
      return [block, { ...entry, slot }] as const;
    });
    this.#postings.renumber((slot) => slots.get(slot) ?? null);
    this.#entries = new Map(entries);
    this.#slots = entries.map(([, entry]) => entry);
    for (const { slot, length } of this.#entries.values()) this.#scores.setLength(slot, length);
    this.#deadPostings = 0;
  }
}

/** Checks that a span holds the term itself, not one with the same hash. Each spelling is folded once. */
function termMatcher(text: string): (span: TextSpan, term: QueryTerm) => boolean {
  const known = new Map<string, string>();
  return (span, { fold }) => {
    const spelling = text.slice(span.from, span.to);
    const folded = known.get(spelling) ?? foldTerm(text, span);
    known.set(spelling, folded);
    return folded === fold;
  };
}

function shareOf({ kind, turn }: RecallSource, now: number | null): number {
  const recency = now === null ? 0 : recencyShare * 2 ** (-Math.max(0, now - turn) / recencyTurns);
  return (kindWeights[kind] ?? 1) * (1 + recency);
}

/** Best score first; of equal scores the later block first. */
function compare(a: ScoredEntry, b: ScoredEntry): number {
  return b.score - a.score || b.entry.source.block - a.entry.source.block;
}

function randomSeed(): number {
  return Math.trunc(Math.random() * 2 ** 31);
}

/** Copies a text that is cut: a slice would keep the whole text in memory. */
function boundedText(text: string): string {
  if (text.length <= limits.recallBlockCharsMax) return text;
  return Buffer.from(cutText(text, limits.recallBlockCharsMax), "utf16le").toString("utf16le");
}

/** An upper bound: Latin texts take half. */
function textBytes(text: string): number {
  return text.length * 2;
}
