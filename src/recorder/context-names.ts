import { headerNamesMax, NameRank, type NeededName, namesIn, nameTokens } from "../awareness/index.ts";
import type { BlockId } from "../base/index.ts";
import { searchableText } from "../content/index.ts";
import type { SentRequest } from "../exchange/index.ts";
import { readHeader } from "../notes/index.ts";
import {
  type AnswerUnit,
  protocolOf,
  unitBytes,
  type WireRequest,
  type WireUnit,
} from "../protocols/index.ts";
import { estimateText } from "../tokens/index.ts";
import type { FreshUnit } from "./delta-draft.ts";
import { type PlacedUnit, placedUnits } from "./unit-alignment.ts";

/** A request whose names are collected. */
export type NamedRequest = {
  readonly request: WireRequest;
  readonly sent: Pick<SentRequest, "fresh">;
  readonly turn: number;
  /** The units that no earlier request had. */
  readonly fresh: readonly FreshUnit[];
  /** True if it continues the previous request. */
  readonly isNext: boolean;
  /** The turn in which a unit was added, by its index. */
  readonly turnOf: (unit: number) => number;
  readonly blockOf: (unit: number) => BlockId | null;
};

/** The turn and the block of a text with names. */
type NameSource = { readonly turn: number; readonly block: BlockId | null };

/** More than a manifest has room for: its writer decides how many names fit. */
const manifestTokensMax = 110;
/** Names are counted in tokens of this model. */
const tokenizerModel = "gpt-5";
/** Many sessions have fewer names than fit; with this factor headers keep their share over all sessions. */
const contentShare = 1.06;

/** Collects the names in a stream's context and chooses those its model should see again. */
export class ContextNames {
  #rank = new NameRank();
  #isEmpty = true;
  #turn = 0;
  /** Tokens of all messages, and of the headers among them. */
  #contentTokens = 0;
  #headerTokens = 0;
  readonly #sentHeaders = new Set<string>();
  /** The last block that contains each name. */
  readonly #lastBlock = new Map<string, BlockId>();

  /** Adds the new units of a request. After a fork or a restart it reads all units again. */
  addRequest(named: NamedRequest): void {
    const { request, fresh, sent, turn } = named;
    const isKnown = named.isNext && !this.#isEmpty;
    if (!isKnown) this.#readAll(named);
    else for (const one of fresh) this.#addUnit(request, one, { turn, block: one.block });
    this.#isEmpty = false;
    for (const { origin, bytes } of sent.fresh) if (origin === "aperture") this.#noteHeader(request, bytes);
  }

  /**
   * Adds an answer of the model; the next request repeats it without adding it again. Returns the blocks it
   * refers to: for each name the last block that contains it.
   */
  addAnswer(
    units: readonly AnswerUnit[],
    turn: number,
    blocks: readonly (BlockId | null)[],
  ): readonly BlockId[] {
    const namesByUnit = units.map(({ unit, bytes }) => this.#rankNames(turn, unit, bytes));
    const referred = namesByUnit.flat().flatMap((name) => this.#lastBlock.get(name) ?? []);
    for (const [at, names] of namesByUnit.entries()) this.#noteLast(names, blocks[at] ?? null);
    return [...new Set(referred)];
  }

  /** Names for the manifest of the next turn, best first. */
  forManifest(turn: number): readonly NeededName[] {
    this.#turn = Math.max(this.#turn, turn);
    const names = this.#rank.forManifest({ turn: this.#turn, tokensMax: manifestTokensMax });
    return names.map((name) => ({ name, tokens: nameTokens(name) }));
  }

  /** Names for the next header. */
  forHeader(): readonly string[] {
    const content = this.#contentTokens * contentShare;
    const tokensMax = headerNamesMax({ content, headers: this.#headerTokens });
    return this.#rank.forHeader({ tokensMax });
  }

  #readAll({ request, turnOf, blockOf }: NamedRequest): void {
    this.#rank = new NameRank();
    this.#turn = 0;
    this.#contentTokens = 0;
    this.#headerTokens = 0;
    this.#lastBlock.clear();
    this.#sentHeaders.clear();
    for (const [at, placed] of placedUnits(request, 0).entries()) {
      this.#addUnit(request, placed, { turn: turnOf(at), block: blockOf(at) });
    }
  }

  #addUnit({ bytes }: WireRequest, { unit, group }: PlacedUnit, source: NameSource): void {
    if (unit.section === "messages") this.#add(source, unit, unitBytes(bytes, group.range.start, unit));
  }

  #add({ turn, block }: NameSource, unit: WireUnit, bytes: Uint8Array): void {
    this.#noteLast(this.#rankNames(turn, unit, bytes), block);
  }

  #noteLast(names: readonly string[], block: BlockId | null): void {
    if (block !== null) for (const name of names) this.#lastBlock.set(name, block);
  }

  #rankNames(turn: number, unit: WireUnit, bytes: Uint8Array): readonly string[] {
    const text = searchableText(protocolOf(unit).read.part(bytes));
    this.#turn = Math.max(this.#turn, turn);
    this.#contentTokens += estimateText(text, tokenizerModel);
    const names = namesIn(text).map(({ name }) => name);
    this.#rank.add({ turn: this.#turn, kind: unit.kind, names });
    return names;
  }

  /** A header stays in the context, so its names need not be repeated. */
  #noteHeader(request: WireRequest, bytes: Uint8Array): void {
    const text = searchableText(protocolOf(request).read.part(bytes));
    const header = readHeader(text);
    // A rewrite sends headers again.
    if (header === null || this.#sentHeaders.has(text)) return;
    this.#sentHeaders.add(text);
    this.#headerTokens += estimateText(text, tokenizerModel);
    if (header.names.length > 0) this.#rank.stand(header.names);
  }
}
