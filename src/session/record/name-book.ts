import type { BlockId } from "../../base/index.ts";
import type { BlockKind } from "../../engine/index.ts";
import { type AnswerUnit, unitBytes, type WireRequest } from "../../protocols/index.ts";
import { headerNamesMax, NameRank, type NeededName, namesIn, nameTokens } from "../../render/index.ts";
import { estimateText } from "../../tokens/index.ts";
import type { SentReport } from "../exchange.ts";
import { type PlacedUnit, placedUnits } from "./align.ts";
import type { FreshUnit } from "./draft.ts";
import { unitWords } from "./unit-words.ts";

/** A request whose names are to be known. */
export type NamedRequest = {
  readonly request: WireRequest;
  readonly sent: SentReport;
  readonly turn: number;
  /** What nobody has said before. */
  readonly fresh: readonly FreshUnit[];
  /** Whether it goes on with the request before. */
  readonly isNext: boolean;
  /** The turn each of its units came in. */
  readonly turnOf: (unit: number) => number;
  readonly blockOf: (unit: number) => BlockId | null;
};

/** When a block was said, and which it is. */
type Said = { readonly turn: number; readonly block: BlockId | null };

/** Asked for with room to spare: how many of them there is room for is decided where the text is written. */
const neededTokensMax = 110;
/** Names are priced in tokens of this tokenizer. */
const pricedAs = "gpt-5";
/** Many sessions have fewer names than there is room for; over all of them, headers keep their share. */
const roomShare = 1.06;

/** The names that stand in a stream's context, and which of them its model should be told. */
export class NameBook {
  #rank = new NameRank();
  #isEmpty = true;
  #turn = 0;
  /** Tokens of all that was said, and of the headers among it. */
  #content = 0;
  #headers = 0;
  /** The headers that were ever sent. */
  readonly #stood = new Set<string>();
  /** The block in which each name was said last. */
  readonly #last = new Map<string, BlockId>();

  /** What the client says now. After a fork, and after a restart, all of it is read again. */
  follow(named: NamedRequest): void {
    const { request, fresh, sent, turn } = named;
    const isKnown = named.isNext && !this.#isEmpty;
    if (!isKnown) this.#readAll(named);
    else for (const one of fresh) this.#addPlaced(request, one, { turn, block: one.block });
    this.#isEmpty = false;
    for (const { origin, bytes } of sent.fresh) if (origin === "aperture") this.#stand(bytes);
  }

  /**
   * What the model says. The client repeats it with the next request, where it is nothing new. Gives the
   * blocks it refers to: for each name the one that has said it last.
   */
  hear(units: readonly AnswerUnit[], turn: number, blocks: readonly (BlockId | null)[]): readonly BlockId[] {
    const said = units.map(({ unit, bytes }) => this.#rankNames(turn, unit.kind, bytes));
    const referred = said.flat().flatMap((name) => this.#last.get(name) ?? []);
    for (const [at, names] of said.entries()) this.#noteLast(names, blocks[at] ?? null);
    return [...new Set(referred)];
  }

  /** For the manifest of the next turn, best first. */
  needed(turn: number): readonly NeededName[] {
    this.#turn = Math.max(this.#turn, turn);
    const names = this.#rank.forManifest({ turn: this.#turn, tokensMax: neededTokensMax });
    return names.map((name) => ({ name, tokens: nameTokens(name) }));
  }

  /** For the next header. */
  forHeader(): readonly string[] {
    const content = this.#content * roomShare;
    const tokensMax = headerNamesMax({ content, headers: this.#headers });
    return this.#rank.forHeader({ tokensMax });
  }

  #readAll({ request, turnOf, blockOf }: NamedRequest): void {
    this.#rank = new NameRank();
    this.#turn = 0;
    this.#content = 0;
    this.#headers = 0;
    this.#last.clear();
    this.#stood.clear();
    for (const [at, placed] of placedUnits(request, 0).entries()) {
      this.#addPlaced(request, placed, { turn: turnOf(at), block: blockOf(at) });
    }
  }

  #addPlaced({ bytes }: WireRequest, { unit, group }: PlacedUnit, said: Said): void {
    if (unit.section === "messages") this.#add(said, unit.kind, unitBytes(bytes, group.range.start, unit));
  }

  #add({ turn, block }: Said, kind: BlockKind, bytes: Uint8Array): void {
    this.#noteLast(this.#rankNames(turn, kind, bytes), block);
  }

  #noteLast(names: readonly string[], block: BlockId | null): void {
    if (block !== null) for (const name of names) this.#last.set(name, block);
  }

  #rankNames(turn: number, kind: BlockKind, bytes: Uint8Array): readonly string[] {
    const words = unitWords(bytes);
    this.#turn = Math.max(this.#turn, turn);
    this.#content += estimateText(words, pricedAs);
    const names = namesIn(words).map(({ name }) => name);
    this.#rank.add({ turn: this.#turn, kind, names });
    return names;
  }

  /** A line that stands for good: what it names need not be named again. */
  #stand(bytes: Uint8Array): void {
    const text = unitWords(bytes);
    const header = /^\[\w+ turn \d+, [^\n]*\]$/.exec(text);
    // A rewrite sends them again.
    if (header === null || this.#stood.has(text)) return;
    this.#stood.add(text);
    this.#headers += estimateText(text, pricedAs);
    const names = /; names ([^\]]*)\]$/.exec(text)?.[1];
    if (names !== undefined) this.#rank.stand(names.split(" "));
  }
}
