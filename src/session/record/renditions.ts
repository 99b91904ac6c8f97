import { type BlockId, type ContentHash, hashContent, must } from "../../base/index.ts";
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
import type { Spoken } from "../../protocols/index.ts";
import type { Content, Store } from "../../store/index.ts";
import {
  type Call,
  type LevelWords,
  levelWords,
  minimalTokensMin,
  wordedKinds,
  wordsIn,
  wordsText,
} from "./level-words.ts";

/** What is made off the path of requests, and what of it is to be stored. */
export type MadeRenditions = {
  readonly deltas: readonly Delta[];
  readonly contents: readonly Content[];
  readonly refused: readonly RefusedSummary[];
};

/** What waits no longer, by its age or because less of it is wanted now. */
export type RenditionsDue = { readonly turn: number; readonly isHastened: (block: BlockId) => boolean };

/** A summary that would have lost or changed something. */
export type RefusedSummary = { readonly block: BlockId; readonly reasons: readonly string[] };

/** Before a block can be stale, and so much text for one turn. */
const waitTurns = 3;
const charsAtOnce = 20_000;

/** A block whose renditions are not made yet; call: what a result answers, since others may reuse its id. */
type Waiting = {
  readonly block: Block;
  readonly spoken: Spoken;
  readonly call: Call | null;
  readonly tokens: number;
};
/** A block that was added; call: what a result answers. */
export type AddedWords = {
  readonly block: Block;
  readonly call: Call | null;
  readonly tokens: number;
  readonly isError: boolean;
};
/** Calls that a result may still answer. */
const callsMax = 1_000;

/** The renditions of a stream's blocks: made once, in the background, each from the pristine original. */
export class Renditions {
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
      const spoken = bytes === undefined ? null : wordsIn(bytes);
      if (spoken === null) continue;
      if (spoken.type === "call") this.#noteCall(spoken.id, spoken);
      const tokens = sizes.get(delta.block.id) ?? 0;
      const isResult = spoken.type === "result";
      const call = isResult ? this.#callOf(spoken.callId) : null;
      if (tokens >= minimalTokensMin) this.#waiting.push({ block: delta.block, spoken, call, tokens });
      words.push({ block: delta.block, call, tokens, isError: isResult && spoken.isError });
    }
    return words;
  }

  /**
   * Makes what has been waiting for some turns: much of what is said is over before anybody wants less of it.
   * Of very much that is due, some waits for the next turn; what is wanted shorter already never waits.
   */
  make(model: string | null, { turn, isHastened }: RenditionsDue): MadeRenditions {
    const waiting = [...this.#takeHastened(isHastened), ...this.#takeDue(turn)];
    const deltas: Delta[] = [];
    const contents: Content[] = [];
    const refused: RefusedSummary[] = [];
    for (const one of waiting) {
      const { block, ...rest } = one;
      const made = levelWords({ kind: block.kind, ...rest, model });
      if (made.reasons.length > 0) refused.push({ block: block.id, reasons: made.reasons });
      for (const [level, words] of made.words) {
        const bytes = Buffer.from(wordsText(words));
        const hash = hashContent(bytes);
        const rendition: Rendition = { content: hash, tokens: { count: words.tokens, exact: false } };
        deltas.push({ type: "rendition-set", block: block.id, level, from: null, to: rendition });
        contents.push({ hash, bytes });
        this.#words.set(hash, words);
      }
    }
    return { deltas, contents, refused };
  }

  #takeHastened(isHastened: RenditionsDue["isHastened"]): readonly Waiting[] {
    const taken = this.#waiting.filter(({ block }) => isHastened(block.id));
    if (taken.length > 0) this.#waiting = this.#waiting.filter((one) => !taken.includes(one));
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

  #callOf(id: string): Call | null {
    return this.#calls.get(id) ?? null;
  }
}

export type WordsAsked = { readonly level: Level; readonly store: Pick<Store, "content"> };

function wordsFrom(stored: string, kind: BlockKind, tokens: number): LevelWords {
  if (kind !== "tool-call") return { text: stored, input: null, tokens };
  return { text: null, input: JSON.parse(stored) as NonNullable<LevelWords["input"]>, tokens };
}
