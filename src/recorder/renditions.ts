import { type BlockId, type ContentHash, hashContent, must } from "../base/index.ts";
import type { EditablePart } from "../content/index.ts";
import type { Block, BlockKind, Delta, Level, Rendition } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { attributesOf, now } from "../engine/moment/index.ts";
import type { ArrivedBlock, ToolInvocation } from "../policy/index.ts";
import type { HashedContent, Store } from "../store/index.ts";
import {
  kindsWithLevels,
  type LevelText,
  levelTextString,
  levelTexts,
  minimalTokensMin,
  readUnmasked,
} from "./level-texts.ts";

export type RenditionsResult = {
  readonly deltas: readonly Delta[];
  readonly contents: readonly HashedContent[];
  /** Summaries that were not stored. */
  readonly refused: readonly RefusedSummary[];
};

/** The current turn, blocks whose renditions are needed now, and blocks that are rendered or erased. */
export type RenditionsInput = {
  readonly turn: number;
  readonly isUrgent: (block: BlockId) => boolean;
  readonly isDone: (block: BlockId) => boolean;
};

/** A summary that would have lost or changed facts. */
export type RefusedSummary = { readonly block: BlockId; readonly reasons: readonly string[] };

/** Renditions are made this many turns after a block was added, before it can be stale. */
const waitTurns = 3;
/** Limits the text that is rendered after one turn. */
const charsPerTurn = 20_000;

/**
 * A block without renditions. The call of a result is kept with it, because a later call may reuse its id.
 */
type PendingRendition = {
  readonly block: Block;
  readonly unit: EditablePart;
  readonly call: ToolInvocation | null;
  readonly tokens: number;
};
/** Number of recent calls whose results may still come. */
const openCallsMax = 1_000;

/** Makes the renditions of a stream's blocks: once, after a turn, each from the original. */
export class Renditions {
  readonly #calls = new Map<string, ToolInvocation>();
  readonly #texts = new Map<ContentHash, LevelText>();
  #pending: PendingRendition[] = [];

  /** Queues the blocks in these deltas for rendering. Returns each with the call it answers. */
  addBlocks(deltas: readonly Delta[], contents: readonly HashedContent[]): readonly ArrivedBlock[] {
    const arrived: ArrivedBlock[] = [];
    const bytesOf = new Map(contents.map(({ hash, bytes }) => [hash, bytes]));
    const sizes = new Map(
      deltas.flatMap((delta) => (delta.type === "tokens-counted" ? [[delta.block, delta.tokens.count]] : [])),
    );
    for (const delta of deltas) {
      if (delta.type !== "block-added" || !kindsWithLevels.includes(delta.block.kind)) continue;
      const bytes = bytesOf.get(delta.block.content);
      const unit = bytes === undefined ? null : readUnmasked(bytes, delta.block);
      if (unit === null) continue;
      if (unit.type === "call") this.#noteCall(unit.id, unit);
      const tokens = sizes.get(delta.block.id) ?? 0;
      const isResult = unit.type === "result";
      const call = isResult ? this.#callOf(unit.callId) : null;
      if (tokens >= minimalTokensMin) this.#pending.push({ block: delta.block, unit, call, tokens });
      arrived.push({ block: delta.block, call, tokens, isError: isResult && unit.isError });
    }
    return arrived;
  }

  /**
   * Makes the renditions of blocks that are old enough: many sessions end before a block is wanted shorter.
   * If much is due, some of it waits for the next turn; urgent blocks never wait.
   */
  make(model: string | null, { turn, isUrgent, isDone }: RenditionsInput): RenditionsResult {
    this.#pending = this.#pending.filter(({ block }) => !isDone(block.id));
    const due = [...this.#takeUrgent(isUrgent), ...this.#takeDue(turn)];
    const deltas: Delta[] = [];
    const contents: HashedContent[] = [];
    const refused: RefusedSummary[] = [];
    for (const one of due) {
      const { block, ...rest } = one;
      const made = levelTexts({ kind: block.kind, ...rest, model });
      if (made.reasons.length > 0) refused.push({ block: block.id, reasons: made.reasons });
      for (const [level, levelText] of made.texts) {
        const bytes = Buffer.from(levelTextString(levelText));
        const hash = hashContent(bytes);
        const rendition: Rendition = { content: hash, tokens: { count: levelText.tokens, exact: false } };
        deltas.push({ type: "rendition-set", block: block.id, level, from: null, to: rendition });
        contents.push({ hash, bytes });
        this.#texts.set(hash, levelText);
      }
    }
    return { deltas, contents, refused };
  }

  #takeUrgent(isUrgent: RenditionsInput["isUrgent"]): readonly PendingRendition[] {
    const taken = this.#pending.filter(({ block }) => isUrgent(block.id));
    if (taken.length > 0) this.#pending = this.#pending.filter((one) => !taken.includes(one));
    return taken;
  }

  #takeDue(turn: number): readonly PendingRendition[] {
    const isDue = ({ block }: PendingRendition): boolean => turn - block.turn >= waitTurns;
    let chars = 0;
    const count = this.#pending.findIndex((one) => {
      if (!isDue(one) || chars >= charsPerTurn) return true;
      chars += one.unit.type === "call" ? 0 : one.unit.text.length;
      return false;
    });
    return this.#pending.splice(0, count === -1 ? this.#pending.length : count);
  }

  /** The text of a block at a level; null if it is not shorter than the level above. */
  async textAt(state: State, block: BlockId, { level, store }: LevelTextQuery): Promise<LevelText | null> {
    const rendition = attributesOf(now(state), block)?.renditions[level];
    if (rendition === undefined) return null;
    const known = this.#texts.get(rendition.content);
    if (known !== undefined) return known;
    const stored = await store.content(rendition.content);
    if (!stored.ok) return null;
    const kind = must(state.blocks.get(block), "it was found before").block.kind;
    const levelText = parseLevelText(
      Buffer.from(stored.value).toString("utf8"),
      kind,
      rendition.tokens.count,
    );
    this.#texts.set(rendition.content, levelText);
    return levelText;
  }

  #noteCall(id: string, { name, input }: ToolInvocation): void {
    this.#calls.set(id, { name, input });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > openCallsMax && oldest !== undefined) this.#calls.delete(oldest);
  }

  #callOf(id: string): ToolInvocation | null {
    return this.#calls.get(id) ?? null;
  }
}

export type LevelTextQuery = { readonly level: Level; readonly store: Pick<Store, "content"> };

function parseLevelText(stored: string, kind: BlockKind, tokens: number): LevelText {
  if (kind !== "tool-call") return { text: stored, input: null, tokens };
  return { text: null, input: JSON.parse(stored) as NonNullable<LevelText["input"]>, tokens };
}
