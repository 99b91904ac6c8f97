import { assert } from "../base/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";
import { holdsName, nameTokens } from "./text-names.ts";

/** The names of a block, in the order of their first position, as `namesIn` gives them. */
export type BlockNames = {
  readonly turn: number;
  readonly kind: BlockKind;
  readonly names: readonly string[];
};

export type NamesQuery = { readonly turn: number; readonly tokensMax: number };

/** The cost of a name in a list, blank included. Exact if a tokenizer is available. */
export type NameCost = (name: string) => number;

/** A name from the last turns is still visible to the model; repeating it would waste tokens. */
const nearTurns = 10;

/** The names of the last turns lead to old blocks, and there to names within this distance. */
const cueTurns = 5;
const cuesMax = 128;
const reach = 12;

/** For a frequent name the latest positions are enough. */
const placesMax = 8;

/** Beyond this the oldest blocks are dropped, so that no session makes it slow. */
const positionsMax = 65_536;

const namesInListMax = 60;
/** Later candidates rarely fit, and trying them would take longer than the rest. */
const triesMax = 400;
const unusedTurns = 400;

const nearness = Array.from({ length: reach + 1 }, (_, distance) => Math.exp(-distance / 10));

type NamePosition = { readonly block: RankedBlock; readonly at: number };
type RankedBlock = { readonly turn: number; readonly kind: BlockKind; readonly names: readonly RankedName[] };
type RankedName = {
  readonly name: string;
  readonly tokens: number;
  places: NamePosition[];
  lastTurn: number;
  usedTurn: number;
  /** How strongly the last turns point at the name; valid for the last query only. */
  pull: number;
  question: number;
};

/**
 * Ranks the names in the context of one stream by how likely the model needs them now. Measured on recorded
 * sessions, two things predict which name a model uses again after a long time: the model used it before, or
 * it stands in an old block near names of the last turns. Frequency, form and speaker add nothing.
 *
 * The rank is derived from the blocks and headers that were sent: after a fork, a new one is filled from the
 * remaining blocks. The cost of a query follows the last turns, not the length of the session.
 */
export class NameRank {
  readonly #cost: NameCost;
  readonly #known = new Map<string, RankedName>();
  readonly #used = new Set<RankedName>();
  readonly #standing = new Set<string>();
  /** Names in messages of model or user since the last header. */
  #fresh = new Map<RankedName, number>();
  #blocks: RankedBlock[] = [];
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
    const block: RankedBlock = { turn, kind, names: names.map((name) => this.#knownOf(name)) };
    this.#blocks.push(block);
    this.#positions += names.length;
    for (const [at, known] of block.names.entries()) this.#place(known, { block, at });
    while (this.#positions > positionsMax) this.#forgetOldest();
  }

  /**
   * For the next line of headers: what model and user said since the last one, the cheapest first. A line
   * stands for good, so a name in it is paid once and serves until the end.
   */
  forHeader({ tokensMax }: Pick<NamesQuery, "tokensMax">): readonly string[] {
    const fresh = [...this.#fresh.keys()].filter(({ name }) => !this.#standing.has(name));
    return this.#fit(
      byValue(fresh, ({ tokens }) => 1 / tokens),
      tokensMax,
    );
  }

  /** Notes that a header with these names was sent. */
  stand(names: readonly string[]): void {
    for (const name of names) for (const part of partsOf(name)) this.#standing.add(part);
    const since = this.#turn - 1;
    this.#fresh = new Map(
      [...this.#fresh].filter(([{ name }, turn]) => turn >= since && !this.#standing.has(name)),
    );
  }

  /** Names for the manifest of this turn: not visible any more, and likely to be needed. */
  forManifest({ turn, tokensMax }: NamesQuery): readonly string[] {
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

  #value(known: RankedName, turn: number): number {
    const age = Math.min(unusedTurns, Math.max(1, turn - known.usedTurn));
    const pull = known.question === this.#question ? known.pull : 0;
    return (1 + pull) / age ** 0.7 / known.tokens;
  }

  /** Names in older blocks near the names of the last turns, each with its weight. */
  #pull(turn: number): ReadonlySet<RankedName> {
    this.#question += 1;
    const pulled = new Set<RankedName>();
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

  #pullAt(known: RankedName, strength: number): void {
    known.pull = known.question === this.#question ? known.pull + strength : strength;
    known.question = this.#question;
  }

  /** The names of the last turns. In a long result each name counts less. */
  #cues(turn: number): readonly (readonly [RankedName, number])[] {
    const weights = new Map<RankedName, number>();
    for (let index = this.#blocks.length - 1; index >= this.#forgotten; index -= 1) {
      const block = this.#blocks[index];
      if (block === undefined || turn - block.turn > cueTurns) break;
      const share = block.kind === "tool-result" ? 0.4 / Math.sqrt(1 + block.names.length / 10) : 1;
      const weight = share * 0.85 ** (turn - block.turn);
      for (const known of block.names) weights.set(known, (weights.get(known) ?? 0) + weight);
    }
    return [...weights].sort((a, b) => b[1] - a[1] || compareNames(a[0], b[0])).slice(0, cuesMax);
  }

  /** The best names that fit. A name that is part of a chosen name is left out. */
  #fit(best: readonly RankedName[], tokensMax: number): readonly string[] {
    const chosen = new Set<RankedName>();
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

  #knownOf(name: string): RankedName {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const tokens = this.#cost(name);
    assert(tokens > 0, "every name costs something");
    const made = { name, tokens, places: [], lastTurn: 0, usedTurn: -unusedTurns, pull: 0, question: 0 };
    this.#known.set(name, made);
    return made;
  }

  #place(known: RankedName, place: NamePosition): void {
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

/** Sorts by value, and by name where values are equal: the order is deterministic. */
function byValue(known: readonly RankedName[], worth: (known: RankedName) => number): readonly RankedName[] {
  const valued = known.map((one) => ({ one, value: worth(one) }));
  valued.sort((a, b) => b.value - a.value || compareNames(a.one, b.one));
  return valued.map(({ one }) => one);
}

function compareNames(a: RankedName, b: RankedName): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** A name and its endings behind a slash or a dot: the path contains the name of the file. */
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
  /** Tokens of the next manifest without its names. */
  readonly fixed: number;
  /** The share of its usual tokens that this manifest may have; 1 is all. */
  readonly share?: number;
};

/** Below the limit of a manifest: names are priced by estimate, and the chosen ones cost a little more. */
const manifestMean = 109;
const manifestMax = 176;
const manifestNames = 100;

/**
 * Tokens that the names of the next manifest may take. Early turns need few, and the tokens they leave are
 * spread over later turns.
 */
export function manifestNamesMax({ turns, tokens, fixed, share = 1 }: ManifestSpent): number {
  const saved = manifestMean * share * (turns + 1) - tokens - fixed;
  return Math.max(0, Math.floor(Math.min(saved, manifestNames, manifestMax - fixed)));
}

/** The cost of a request without our notes, as far as it is known. */
export type PromptRead = {
  /** Tokens of the prompt. */
  readonly used: number;
  /** The price of a cached token, in plain input tokens. */
  readonly read?: number;
};

/**
 * The share of its usual tokens that a summary may have. A summary is new in each request, so it is paid in
 * full while the prompt is read from the cache. In a short or cheap prompt it would be most of our extra
 * cost, so it is kept shorter.
 */
export function summaryShare({ used, read = usualRead }: PromptRead): number {
  const most = read < cheapRead ? cheapShare : 1;
  return Math.min(most, Math.max(leastShare, (used * read) / wholeFrom));
}

const usualRead = 0.1;
const cheapRead = 0.05;
const cheapShare = 0.8;
const leastShare = 0.5;
/** From this cost on, a whole summary is at most a twentieth of the cost of the prompt. */
const wholeFrom = 2_500;

export type HeadersSpent = { readonly content: number; readonly headers: number };

/** Tokens that the names of the next header may take: all headers stay below 1.5 % of the content. */
export function headerNamesMax({ content, headers }: HeadersSpent): number {
  return Math.max(0, Math.floor(0.015 * content - headers));
}
