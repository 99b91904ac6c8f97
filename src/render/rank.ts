import { assert } from "../base/index.ts";
import type { BlockKind } from "../engine/index.ts";
import { holdsName, nameTokens } from "./names.ts";

/** A block as far as its names go. They stand in the order of their first place in it, as `namesIn` gives. */
export type BlockNames = {
  readonly turn: number;
  readonly kind: BlockKind;
  readonly names: readonly string[];
};

export type NamesAsked = { readonly turn: number; readonly tokensMax: number };

/** What a name costs in a list, blank included. Exact where a vocabulary is at hand. */
export type NameCost = (name: string) => number;

/** A name said so few turns ago is still before the model's eyes: telling it again would be a waste. */
const nearTurns = 10;

/** What the last turns were about leads to old blocks: to their names within this many places. */
const cueTurns = 5;
const cuesMax = 128;
const reach = 12;

/** Of a name that stands everywhere, the latest places tell enough. */
const placesMax = 8;

/** Beyond this the oldest blocks are forgotten: some thousand names, and no session makes it slow. */
const positionsMax = 65_536;

const namesInListMax = 60;
/** Further down nothing is left but what does not fit, and looking for it would take longer than all else. */
const triesMax = 400;
const unusedTurns = 400;

const nearness = Array.from({ length: reach + 1 }, (_, distance) => Math.exp(-distance / 10));

type Place = { readonly block: Held; readonly at: number };
type Held = { readonly turn: number; readonly kind: BlockKind; readonly names: readonly Known[] };
type Known = {
  readonly name: string;
  readonly tokens: number;
  places: Place[];
  lastTurn: number;
  usedTurn: number;
  /** How strongly the last turns point at it; of the question asked last only. */
  pull: number;
  question: number;
};

/**
 * Knows the names in the context of one stream, and which of them are worth their tokens now. Two things tell
 * what a model will use again after a long time, measured on recorded sessions: that it used the name itself
 * before, and that the name stands in an old block beside names the last turns were about. How often it
 * occurs, what it looks like and who said it add nothing.
 *
 * It follows from the blocks and the lines that were sent: after a fork, a new one is filled with what is
 * left. The cost of a question follows what the last turns said, not the length of the session.
 */
export class NameRank {
  readonly #cost: NameCost;
  readonly #known = new Map<string, Known>();
  readonly #used = new Set<Known>();
  readonly #standing = new Set<string>();
  /** Said by model or user since the last line of headers. */
  #fresh = new Map<Known, number>();
  #blocks: Held[] = [];
  #forgotten = 0;
  #positions = 0;
  #turn = 0;
  #question = 0;

  constructor(cost: NameCost = nameTokens) {
    this.#cost = cost;
  }

  add({ turn, kind, names }: BlockNames): void {
    assert(turn >= this.#turn, "blocks come in the order of their turns");
    this.#turn = turn;
    const block: Held = { turn, kind, names: names.map((name) => this.#knownOf(name)) };
    this.#blocks.push(block);
    this.#positions += names.length;
    for (const [at, known] of block.names.entries()) this.#place(known, { block, at });
    while (this.#positions > positionsMax) this.#forgetOldest();
  }

  /**
   * For the next line of headers: what model and user said since the last one, the cheapest first. A line
   * stands for good, so a name in it is paid once and serves until the end.
   */
  forHeader({ tokensMax }: Pick<NamesAsked, "tokensMax">): readonly string[] {
    const fresh = [...this.#fresh.keys()].filter(({ name }) => !this.#standing.has(name));
    return this.#fit(
      byValue(fresh, ({ tokens }) => 1 / tokens),
      tokensMax,
    );
  }

  /** A line of headers with these names was sent. */
  stand(names: readonly string[]): void {
    for (const name of names) for (const part of partsOf(name)) this.#standing.add(part);
    const since = this.#turn - 1;
    this.#fresh = new Map(
      [...this.#fresh].filter(([{ name }, turn]) => turn >= since && !this.#standing.has(name)),
    );
  }

  /** For the manifest of this turn: names out of sight that the model is likely to need. */
  forManifest({ turn, tokensMax }: NamesAsked): readonly string[] {
    assert(turn >= this.#turn, "the past is asked about with what was known then");
    const pulled = this.#pull(turn);
    const far = [...new Set([...pulled, ...this.#used])].filter(
      ({ name, lastTurn }) => turn - lastTurn >= nearTurns && !this.#standing.has(name),
    );
    return this.#fit(
      byValue(far, (known) => this.#value(known, turn)),
      tokensMax,
    );
  }

  #value(known: Known, turn: number): number {
    const age = Math.min(unusedTurns, Math.max(1, turn - known.usedTurn));
    const pull = known.question === this.#question ? known.pull : 0;
    return (1 + pull) / age ** 0.7 / known.tokens;
  }

  /** Names that stand near those of the last turns in older blocks, each with its pull. */
  #pull(turn: number): ReadonlySet<Known> {
    this.#question += 1;
    const pulled = new Set<Known>();
    for (const [cue, weight] of this.#cues(turn)) {
      const strength = weight * Math.log(1 + (this.#blocks.length + 1) / cue.places.length);
      for (const { block, at } of cue.places) {
        if (turn - block.turn < cueTurns) continue;
        const end = Math.min(block.names.length - 1, at + reach);
        for (let next = Math.max(0, at - reach); next <= end; next += 1) {
          const known = block.names[next];
          if (next === at || known === undefined) continue;
          this.#pullAt(known, strength * (nearness[Math.abs(next - at)] ?? 0));
          pulled.add(known);
        }
      }
    }
    return pulled;
  }

  #pullAt(known: Known, strength: number): void {
    known.pull = known.question === this.#question ? known.pull + strength : strength;
    known.question = this.#question;
  }

  /** What the last turns are about. A long result says less about that with each of its names. */
  #cues(turn: number): readonly (readonly [Known, number])[] {
    const weights = new Map<Known, number>();
    for (let index = this.#blocks.length - 1; index >= this.#forgotten; index -= 1) {
      const block = this.#blocks[index];
      if (block === undefined || turn - block.turn > cueTurns) break;
      const share = block.kind === "tool-result" ? 0.4 / Math.sqrt(1 + block.names.length / 10) : 1;
      const weight = share * 0.85 ** (turn - block.turn);
      for (const known of block.names) weights.set(known, (weights.get(known) ?? 0) + weight);
    }
    return [...weights].sort((a, b) => b[1] - a[1] || compareNames(a[0], b[0])).slice(0, cuesMax);
  }

  /** From the best on, as long as there is room. A name that stands inside another is told by that one. */
  #fit(best: readonly Known[], tokensMax: number): readonly string[] {
    const chosen = new Set<Known>();
    let left = tokensMax;
    for (const known of best.slice(0, triesMax)) {
      if (left < 1 || chosen.size >= namesInListMax) break;
      const inside = [...chosen].filter(({ name }) => holdsName(known.name, name));
      const price = known.tokens - inside.reduce((sum, { tokens }) => sum + tokens, 0);
      if (price > left || [...chosen].some(({ name }) => holdsName(name, known.name))) continue;
      for (const one of inside) chosen.delete(one);
      chosen.add(known);
      left -= price;
    }
    return Array.from(chosen, ({ name }) => name);
  }

  #knownOf(name: string): Known {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const tokens = this.#cost(name);
    assert(tokens > 0, "every name costs something");
    const made = { name, tokens, places: [], lastTurn: 0, usedTurn: -unusedTurns, pull: 0, question: 0 };
    this.#known.set(name, made);
    return made;
  }

  #place(known: Known, place: Place): void {
    const { turn, kind } = place.block;
    known.lastTurn = turn;
    known.places.push(place);
    if (known.places.length > placesMax) known.places.shift();
    if (isOwn(kind)) {
      known.usedTurn = turn;
      this.#used.add(known);
    }
    if (isOwn(kind) || kind === "user") this.#fresh.set(known, turn);
  }

  #forgetOldest(): void {
    const oldest = this.#blocks[this.#forgotten];
    assert(oldest !== undefined, "where there are positions there is a block");
    for (const known of oldest.names) {
      known.places = known.places.filter(({ block }) => block !== oldest);
      if (known.places.length > 0) continue;
      this.#known.delete(known.name);
      this.#used.delete(known);
      this.#fresh.delete(known);
    }
    this.#positions -= oldest.names.length;
    this.#forgotten += 1;
    if (this.#forgotten < 1_024) return;
    this.#blocks = this.#blocks.slice(this.#forgotten);
    this.#forgotten = 0;
  }
}

function isOwn(kind: BlockKind): boolean {
  return kind === "assistant" || kind === "reasoning" || kind === "tool-call";
}

/** The same names in the same order, wherever it is asked. */
function byValue(known: readonly Known[], worth: (known: Known) => number): readonly Known[] {
  const valued = known.map((one) => ({ one, value: worth(one) }));
  valued.sort((a, b) => b.value - a.value || compareNames(a.one, b.one));
  return valued.map(({ one }) => one);
}

function compareNames(a: Known, b: Known): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** A name and what it ends with behind a slash or a dot: whoever reads the path has read the file's name. */
function partsOf(name: string): readonly string[] {
  const parts = [name];
  for (let at = 0; at < name.length && parts.length < 16; at += 1) {
    if (name[at] === "/" || name[at] === ".") parts.push(name.slice(at + 1));
  }
  return parts;
}

export type ManifestSpent = {
  /** Manifests so far, and the tokens of all of them. */
  readonly turns: number;
  readonly tokens: number;
  /** What the next one says besides names. */
  readonly fixed: number;
  /** How much of what manifests may usually have this one may have; 1: all. */
  readonly share?: number;
};

/** Below what a manifest may have: where names are priced by estimate, those chosen cost a little more. */
const manifestMean = 109;
const manifestMax = 176;
const manifestNames = 100;

/**
 * Tokens the names of the next manifest may take. The first turns need none: what they leave is saved, but
 * not for one turn alone.
 */
export function manifestNamesMax({ turns, tokens, fixed, share = 1 }: ManifestSpent): number {
  const saved = manifestMean * share * (turns + 1) - tokens - fixed;
  return Math.max(0, Math.floor(Math.min(saved, manifestNames, manifestMax - fixed)));
}

/** What a request costs before anything of ours, as far as it is known. */
export type PromptRead = {
  /** Tokens of the prompt. */
  readonly used: number;
  /** What reading one of them from the cache costs, in fresh ones. */
  readonly read?: number;
};

/**
 * How much of its usual room a summary has. It is new with each request, so it is paid in full where all
 * before it is read from the cache: where that costs little, in a short prompt or at a low price, the
 * summary would be most of what a request costs more for us, and is held shorter.
 */
export function summaryShare({ used, read = usualRead }: PromptRead): number {
  const most = read < cheapRead ? cheapShare : 1;
  return Math.min(most, Math.max(leastShare, (used * read) / wholeFrom));
}

const usualRead = 0.1;
const cheapRead = 0.05;
const cheapShare = 0.8;
const leastShare = 0.5;
/** From here on a whole summary is at most a twentieth of what reading the prompt costs. */
const wholeFrom = 2_500;

export type HeadersSpent = { readonly content: number; readonly headers: number };

/** Tokens the names of the next line of headers may take: all headers stay below 1.5 % of the content. */
export function headerNamesMax({ content, headers }: HeadersSpent): number {
  return Math.max(0, Math.floor(0.015 * content - headers));
}
