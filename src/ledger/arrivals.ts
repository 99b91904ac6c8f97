import { editablePart } from "../content/index.ts";
import { compactResult, SeenLines, type SeenRun, trimText, withReferences } from "../levels/index.ts";
import { levelLine } from "../notes/index.ts";
import { protocolOf, type WireUnit } from "../protocols/index.ts";
import type { TokenCounter } from "../tokens/index.ts";
import { applyWish, type LevelWishes } from "./level-wishes.ts";
import { type LedgerNode, pathTo } from "./node.ts";
import { type PlannedUnit, rewordUnit } from "./planned-units.ts";
import type { PathRewrite } from "./rewrite-path.ts";

/**
 * How a new tool result is shown. Lossless: without content that can be reconstructed. Trimmed: large results
 * are trimmed as well. Off: as it came, until the user or the model asks for less.
 */
export type ArrivalMode = "lossless" | "trimmed" | "off";

export type ArrivalPolicy = { readonly arrival: ArrivalMode };

/** Results of at least this length make up two thirds of all tool output. */
const trimmedCharsMin = 6_000;

/** A shorter result is not worth the search. */
const bytesMin = 200;

/** Bounds how much of an existing history is read: reading all of it would block other requests. */
const historyBytesMax = 128 * 1024;

/** A larger result is shown as it is: searching it would block other requests. */
const bytesMax = 2 * 1024 * 1024;

type ArrivalInput = {
  readonly style: "managed" | "plain";
  readonly arrival: ArrivalMode;
  readonly wishes: LevelWishes;
};

/** The position of new units: after a node, or after a rewrite. */
type ArrivalPosition = {
  readonly end: LedgerNode;
  readonly rewrite: PathRewrite | null;
  readonly counter: TokenCounter;
};

type ArrivalRules = {
  /** Tests whether a block is shown with all its lines. Null if nothing may be left out of the result. */
  readonly isWhole: ((block: number) => boolean) | null;
  readonly counter: TokenCounter;
  /** Whether large results are trimmed. */
  readonly mayTrim: boolean;
};

/** The text of a result as it is first shown, and its runs of lines that an earlier block has. */
type FirstShownText = { readonly text: string; readonly runs: readonly SeenRun[] };

/**
 * Shortens new tool results without loss: removes colours, earlier states of progress, repeated lines, and
 * lines that an earlier block shows which is still shown whole.
 */
export class Arrivals {
  readonly #seen = new SeenLines();
  /** The results of the request in preparation, by block. */
  readonly #arrived = new Map<number, FirstShownText>();
  /** Blocks that refer to others. No block refers to them, since some of their lines are not shown. */
  readonly #borrowers = new Set<number>();
  /** The bytes of an existing history that may still be read. */
  #historyBytesLeft = 0;
  readonly #nonce: string;

  constructor(nonce: string) {
    this.#nonce = nonce;
  }

  /** Shows units of known blocks at their wished level, and shortens new results. */
  shorten(
    units: readonly PlannedUnit[],
    { end, rewrite, counter }: ArrivalPosition,
    { style, arrival, wishes }: ArrivalInput,
  ): readonly PlannedUnit[] {
    this.#arrived.clear();
    this.#historyBytesLeft = historyBytesMax;
    if (style === "plain") return units;
    const isWhole = wholeBlockTest(rewrite?.cut ?? end, rewrite?.units ?? []);
    // Units before the model's last message were sent before by someone, and may be cached as they are.
    const firstNew = units.findLastIndex(({ wrapping }) => wrapping.role === "assistant") + 1;
    return units.map((unit, at) => {
      const isHistory = at < firstNew;
      const wished = isHistory ? applyWish(unit, wishes, this.#nonce) : unit;
      if (arrival === "off") return wished;
      const rules = { isWhole: isHistory ? null : isWhole, counter, mayTrim: arrival === "trimmed" };
      return this.#shortenUnit(wished, rules);
    });
  }

  /** After the request was sent, later results may refer to its blocks. */
  noteSent(): void {
    for (const [block, { text, runs }] of this.#arrived) {
      this.#seen.add(block, text, runs);
      if (runs.length > 0) this.#borrowers.add(block);
    }
    this.#arrived.clear();
  }

  #shortenUnit(unit: PlannedUnit, { isWhole, counter, mayTrim }: ArrivalRules): PlannedUnit {
    const { facts, bytes, numbered } = unit;
    if (facts.part !== "result" || numbered === null || unit.isRewritten) return unit;
    const limit = isWhole === null ? this.#historyBytesLeft : bytesMax;
    if (bytes.length < bytesMin || bytes.length > limit) return unit;
    if (isWhole === null) this.#historyBytesLeft -= bytes.length;
    const content = editablePart(protocolOf(facts).read.part(bytes));
    if (content?.type !== "result" || !content.isAll) return unit;
    if (isWhole === null) {
      this.#arrived.set(numbered.block, { text: content.text, runs: [] });
      return unit;
    }
    const text = compactResult(content.text, this.#nonce);
    const runs = this.#seen.matches(text).filter(({ id }) => isWhole(id) && !this.#borrowers.has(id));
    const shown = withReferences(text, runs, this.#nonce);
    const trimmed = mayTrim && shown.length >= trimmedCharsMin ? this.#trim(unit, text, counter) : null;
    if (trimmed !== null) return trimmed;
    const isShorter = shown.length < content.text.length && shown.trim() !== "";
    const shorter = !isShorter
      ? null
      : protocolOf(facts).write.replace(bytes, { text: shown, keepsMedia: true });
    this.#arrived.set(numbered.block, shorter === null ? { text: content.text, runs: [] } : { text, runs });
    if (shorter === null) return unit;
    const tokens = counter.count({ bytes: shorter, kind: facts.kind });
    const borrows = [...new Set(runs.map(({ id }) => id))];
    return rewordUnit(unit, { bytes: shorter, shown: { as: "original", tokens, borrows } });
  }

  /** Trims a result. It is not remembered: no block refers to one that is not shown whole. */
  #trim(unit: PlannedUnit, text: string, counter: TokenCounter): PlannedUnit | null {
    const { bytes, numbered, facts } = unit;
    const trimmed = trimText({ kind: "tool-result", text, tool: null, input: null });
    if (trimmed === null || numbered === null) return null;
    const line = levelLine(this.#nonce, { block: numbered.block, as: "trimmed", tokens: numbered.tokens });
    const other = protocolOf(facts).write.replace(bytes, { text: `${trimmed}\n${line}`, keepsMedia: true });
    if (other === null) return null;
    const tokens = counter.count({ bytes: other, kind: facts.kind });
    return rewordUnit(unit, { bytes: other, shown: { as: "trimmed", tokens, borrows: [] } });
  }
}

const referencePattern = /^\[\w+ [^\n]*: same as [^\n]*in #(\d+), from its line \d+[^\n]*\]$/gm;

/** The blocks whose lines a sent result refers to, read from its bytes. */
export function borrowedBlocks(unit: WireUnit, bytes: Uint8Array): readonly number[] {
  const content = editablePart(protocolOf(unit).read.part(bytes));
  if (content?.type !== "result") return [];
  return [...new Set([...content.text.matchAll(referencePattern)].map(([, block]) => Number(block)))];
}

/** Tests whether a block is shown whole on a path or in the units after it. Builds its set on first use. */
function wholeBlockTest(end: LedgerNode, after: readonly PlannedUnit[]): (block: number) => boolean {
  let blocks: ReadonlySet<number> | null = null;
  return (block) => {
    blocks ??= new Set([...pathTo(end), ...after].flatMap(wholeBlock));
    return blocks.has(block);
  };
}

function wholeBlock({ numbered, shown }: Pick<LedgerNode, "numbered" | "shown">): readonly number[] {
  return numbered !== null && shown.as === "original" ? [numbered.block] : [];
}
