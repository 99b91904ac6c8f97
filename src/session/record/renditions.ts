import { type BlockId, type ContentHash, hashContent, type Json, must } from "../../base/index.ts";
import {
  type Block,
  type BlockKind,
  type Delta,
  type Level,
  notesOf,
  now,
  type Rendition,
  type State,
} from "../../engine/index.ts";
import { extract, judge, Levels, type Source } from "../../levels/index.ts";
import { type Spoken, spokenIn } from "../../protocols/index.ts";
import type { Content, Store } from "../../store/index.ts";
import { estimateText } from "../../tokens/index.ts";
import { shortInput } from "./short-input.ts";

/** What is shown of a block at some level: a text, or for a call another input. */
export type LevelWords = {
  readonly text: string | null;
  readonly input: { readonly [key: string]: Json } | null;
  readonly tokens: number;
};

/** What is made off the path of requests, and what of it is to be stored. */
export type MadeRenditions = {
  readonly deltas: readonly Delta[];
  readonly contents: readonly Content[];
  readonly refused: readonly RefusedSummary[];
};

/** What waits no longer, by its age or because less of it is wanted now. */
export type RenditionsDue = { readonly turn: number; readonly hastened: ReadonlySet<BlockId> };

/** A summary that would have lost or changed something. */
export type RefusedSummary = { readonly block: BlockId; readonly reasons: readonly string[] };

/** Before a block can be stale, and so much text for one turn. */
const waitTurns = 3;
const charsAtOnce = 20_000;

/** Smaller blocks are shown whole or not at all. */
const trimmedTokensMin = 300;
const minimalTokensMin = 100;
/** What the model said stays: a line of ours in its mouth would teach it to write such lines. */
const wordedKinds: readonly BlockKind[] = ["tool-result", "tool-call", "user"];

type Waiting = { readonly block: Block; readonly spoken: Spoken; readonly tokens: number };
/** A block that was added; call: what a result answers. */
export type AddedWords = {
  readonly block: Block;
  readonly call: Call | null;
  readonly tokens: number;
  readonly isError: boolean;
};
export type Call = { readonly name: string; readonly input: { readonly [key: string]: Json } };

/** Calls that a result may still answer. */
const callsMax = 1_000;

/** The renditions of a stream's blocks: made once, in the background, each from the pristine original. */
export class Renditions {
  readonly #levels = new Levels();
  readonly #calls = new Map<string, Call>();
  readonly #words = new Map<ContentHash, LevelWords>();
  #waiting: Waiting[] = [];

  /** Blocks that were added to the log, with their contents: what they say, and which call they answer. */
  added(deltas: readonly Delta[], contents: readonly Content[]): readonly AddedWords[] {
    const words: AddedWords[] = [];
    const bytesOf = new Map(contents.map(({ hash, bytes }) => [hash, bytes]));
    const sizes = new Map(
      deltas.flatMap((delta) => (delta.type === "tokens-counted" ? [[delta.block, delta.tokens.count]] : [])),
    );
    for (const delta of deltas) {
      if (delta.type !== "block-added" || !wordedKinds.includes(delta.block.kind)) continue;
      const bytes = bytesOf.get(delta.block.content);
      const spoken = bytes === undefined || isMasked(bytes) ? null : spokenIn(bytes);
      if (spoken === null) continue;
      if (spoken.type === "call") this.#noteCall(spoken.id, spoken);
      const tokens = sizes.get(delta.block.id) ?? 0;
      if (tokens >= minimalTokensMin) this.#waiting.push({ block: delta.block, spoken, tokens });
      const isResult = spoken.type === "result";
      const call = isResult ? this.#callOf(spoken.callId) : null;
      words.push({ block: delta.block, call, tokens, isError: isResult && spoken.isError });
    }
    return words;
  }

  /**
   * Makes what has been waiting for some turns: much of what is said is over before anybody wants less of it.
   * Of very much that is due, some waits for the next turn; what is wanted shorter already never waits.
   */
  async make(model: string | null, { turn, hastened }: RenditionsDue): Promise<MadeRenditions> {
    const waiting = [...this.#takeHastened(hastened), ...this.#takeDue(turn)];
    const deltas: Delta[] = [];
    const contents: Content[] = [];
    const refused: RefusedSummary[] = [];
    for (const one of waiting) {
      const made = await this.#wordsOf(one, model);
      if (made.reasons.length > 0) refused.push({ block: one.block.id, reasons: made.reasons });
      for (const [level, words] of made.words) {
        if (words.tokens >= one.tokens) continue;
        const bytes = Buffer.from(wordsText(words));
        const hash = hashContent(bytes);
        const rendition: Rendition = { content: hash, tokens: { count: words.tokens, exact: false } };
        deltas.push({ type: "rendition-set", block: one.block.id, level, from: null, to: rendition });
        contents.push({ hash, bytes });
        this.#words.set(hash, words);
      }
    }
    return { deltas, contents, refused };
  }

  #takeHastened(hastened: ReadonlySet<BlockId>): readonly Waiting[] {
    if (hastened.size === 0) return [];
    const taken = this.#waiting.filter(({ block }) => hastened.has(block.id));
    this.#waiting = this.#waiting.filter(({ block }) => !hastened.has(block.id));
    return taken;
  }

  #takeDue(turn: number): readonly Waiting[] {
    const isDue = ({ block }: Waiting): boolean => turn - block.turn >= waitTurns;
    let chars = 0;
    const count = this.#waiting.findIndex((one) => {
      if (!isDue(one) || chars >= charsAtOnce) return true;
      chars += one.spoken.type === "call" ? 0 : one.spoken.text.length;
      return false;
    });
    return this.#waiting.splice(0, count === -1 ? this.#waiting.length : count);
  }

  /** What a block shows at a level; null where there is nothing shorter than the level above. */
  async words(state: State, block: BlockId, { level, store }: WordsAsked): Promise<LevelWords | null> {
    const rendition = notesOf(now(state), block)?.renditions[level];
    if (rendition === undefined) return null;
    const known = this.#words.get(rendition.content);
    if (known !== undefined) return known;
    const stored = await store.content(rendition.content);
    if (!stored.ok) return null;
    const kind = must(state.blocks.get(block), "it was found before").block.kind;
    const words = wordsFrom(Buffer.from(stored.value).toString("utf8"), kind, rendition.tokens.count);
    this.#words.set(rendition.content, words);
    return words;
  }

  #noteCall(id: string, { name, input }: Call): void {
    this.#calls.set(id, { name, input });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > callsMax && oldest !== undefined) this.#calls.delete(oldest);
  }

  async #wordsOf({ block, spoken, tokens }: Waiting, model: string | null): Promise<WordsMade> {
    const size = (text: string): number => Math.ceil(estimateText(text, model));
    const isLong = tokens >= trimmedTokensMin;
    if (spoken.type === "call") {
      const trimmed = isLong ? await this.#levels.trimmedInput(spoken.input) : null;
      const inputs = [
        ["trimmed", trimmed],
        ["minimal", shortInput(spoken.input)],
      ] as const;
      const words = inputs.flatMap(([level, input]): readonly LeveledWords[] =>
        isFields(input) ? [[level, { text: null, input, tokens: size(JSON.stringify(input)) }]] : [],
      );
      return { words, reasons: [] };
    }
    const source = this.#sourceOf(block, spoken);
    const trimmed = isLong ? await this.#levels.trimmed(source) : null;
    // What a tool has found is better trimmed than summed up.
    const isSummed = isLong && spoken.type === "text" && source.text.length <= summedCharsMax;
    const { summary, reasons } = isSummed ? summaryOf(source, tokens) : noSummary;
    const texts = [
      ["trimmed", trimmed],
      ["summarized", summary],
      // Of what somebody said, one line would say next to nothing.
      ["minimal", spoken.type === "text" ? null : this.#levels.minimal(source)],
    ] as const;
    const words = texts.flatMap(([level, text]): readonly LeveledWords[] =>
      text === null ? [] : [[level, { text, input: null, tokens: size(text) }]],
    );
    return { words, reasons };
  }

  #sourceOf({ kind }: Block, spoken: Exclude<Spoken, { type: "call" }>): Source {
    const call = spoken.type === "result" ? this.#callOf(spoken.callId) : null;
    return { kind, text: spoken.text, tool: call?.name ?? null, input: call?.input ?? null };
  }

  #callOf(id: string): Call | null {
    return this.#calls.get(id) ?? null;
  }
}

type LeveledWords = readonly [Level, LevelWords];
type WordsMade = { readonly words: readonly LeveledWords[]; readonly reasons: readonly string[] };

/** A summary is a fifth of what it stands for, within reason. */
const summaryShare = 0.2;
const summaryTokensMin = 60;
const summaryTokensMax = 800;
/** Of a longer text a summary would say too little for what it costs to judge it. */
const summedCharsMax = 50_000;
const noSummary = { summary: null, reasons: [] } as const;

/** Whoever has written it, a summary that loses or changes what matters is not shown to anybody. */
function summaryOf(source: Source, tokens: number) {
  const tokensMax = Math.min(summaryTokensMax, Math.max(summaryTokensMin, tokens * summaryShare));
  const summary = extract(source, tokensMax);
  const { accepted, reasons } = judge(source.text, summary);
  return accepted ? { summary, reasons: [] } : { summary: null, reasons: reasons.map(({ text }) => text) };
}
export type WordsAsked = { readonly level: Level; readonly store: Pick<Store, "content"> };

/** What the record does not hold in full cannot be shown from it. */
function isMasked(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("********");
}

function wordsText({ text, input }: LevelWords): string {
  return text ?? JSON.stringify(input);
}

function wordsFrom(stored: string, kind: BlockKind, tokens: number): LevelWords {
  if (kind !== "tool-call") return { text: stored, input: null, tokens };
  return { text: null, input: JSON.parse(stored) as NonNullable<LevelWords["input"]>, tokens };
}

function isFields(input: Json | null): input is { readonly [key: string]: Json } {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}
