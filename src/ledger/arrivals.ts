import { editablePart } from "../content/index.ts";
import { compactResult, trimText, withReferences } from "../levels/index.ts";
import { levelLine } from "../notes/index.ts";
import { protocolOf, type WireUnit } from "../protocols/index.ts";
import type { TokenCounter } from "../tokens/index.ts";
import { type LedgerTree, pathTo } from "./ledger-tree.ts";
import { applyWish, type LevelWishes } from "./level-wishes.ts";
import type { LedgerNode } from "./node.ts";
import { type PlannedUnit, rewordUnit } from "./planned-units.ts";
import type { PathRewrite } from "./rewrite-path.ts";
import type { SeenTexts, ShownText } from "./seen-texts.ts";

/**
 * How a new tool result is shown. Lossless: without content that can be reconstructed. Trimmed: large results
 * are trimmed as well. Off: as it came, until the user or the model asks for less. Wished: every new unit has
 * its wished level at once, because there is no room for more.
 */
export type ArrivalMode = "lossless" | "trimmed" | "off" | "wished";

export type ArrivalPolicy = { readonly arrival: ArrivalMode };

/** Results of at least this length make up two thirds of all tool output. */
const trimmedCharsMin = 6_000;

/** A shorter result is not worth the search. */
const bytesMin = 200;

/** Bounds how much of an existing history is read: reading all of it would block other requests. */
const historyBytesMax = 128 * 1024;

/** A larger result is shown as it is: searching it would block other requests. */
const bytesMax = 2 * 1024 * 1024;

export type ArrivalInput = {
  readonly arrival: ArrivalMode;
  readonly levels: LevelWishes;
  readonly seen: SeenTexts;
  readonly nonce: string;
  readonly counter: TokenCounter;
  /** The position of the units: after a node, or after a rewrite. */
  readonly tree: LedgerTree;
  readonly end: LedgerNode;
  readonly rewrite: PathRewrite | null;
};

export type ArrivalResult = {
  readonly units: readonly PlannedUnit[];
  /** The texts that later results may refer to, once the units are sent. */
  readonly shown: readonly ShownText[];
};

/**
 * Shows units of known blocks at their wished level, and shortens new tool results without loss: removes
 * colours, earlier states of progress, repeated lines, and lines that an earlier block shows which is still
 * shown whole.
 */
export function shortenArrivals(units: readonly PlannedUnit[], input: ArrivalInput): ArrivalResult {
  const { arrival, levels, nonce } = input;
  const shown = new Map<number, ShownText>();
  const isWhole = wholeBlockTest(input);
  let historyBytesLeft = historyBytesMax;
  // Units before the model's last message were sent before by someone, and may be cached as they are.
  const firstNew = units.findLastIndex(({ wrapping }) => wrapping.role === "assistant") + 1;
  const shortened = units.map((unit, at) => {
    const isHistory = at < firstNew;
    const wished = isHistory || arrival === "wished" ? applyWish(unit, levels, nonce) : unit;
    if (arrival === "off" || !isLongResult(wished, isHistory ? historyBytesLeft : bytesMax)) return wished;
    if (isHistory) historyBytesLeft -= wished.bytes.length;
    const result = isHistory ? keepResult(wished) : shortenResult(wished, input, isWhole);
    if (result.shown !== null) shown.set(result.shown.block, result.shown);
    return result.unit;
  });
  return { units: shortened, shown: [...shown.values()] };
}

/** Whether a new result is worth the search for lines to leave out. */
function isLongResult({ facts, bytes, numbered, isRewritten }: PlannedUnit, bytesLeft: number): boolean {
  if (facts.part !== "result" || numbered === null || isRewritten) return false;
  return bytes.length >= bytesMin && bytes.length <= bytesLeft;
}

type ShortenedResult = { readonly unit: PlannedUnit; readonly shown: ShownText | null };

/** The text of a result that can be shortened. Null if it has more than text. */
function resultText({ facts, bytes }: PlannedUnit): string | null {
  const content = editablePart(protocolOf(facts).read.part(bytes));
  return content?.type !== "result" || !content.isAll ? null : content.text;
}

/** A result of the existing history stays as it is; later ones may refer to it. */
function keepResult(unit: PlannedUnit): ShortenedResult {
  const text = resultText(unit);
  const block = unit.numbered?.block;
  return { unit, shown: text === null || block === undefined ? null : { block, text, runs: [] } };
}

function shortenResult(
  unit: PlannedUnit,
  { arrival, seen, nonce, counter }: ArrivalInput,
  isWhole: (block: number) => boolean,
): ShortenedResult {
  const { facts, bytes, numbered } = unit;
  const whole = resultText(unit);
  if (whole === null || numbered === null) return { unit, shown: null };
  const { block } = numbered;
  const text = compactResult(whole, nonce);
  const runs = seen.matches(text).filter(({ id }) => isWhole(id));
  const shown = withReferences(text, runs, nonce);
  const mayTrim = arrival === "trimmed" && shown.length >= trimmedCharsMin;
  // A trimmed result is not remembered: no block refers to one that is not shown whole.
  const trimmed = mayTrim ? trimResult(unit, text, { nonce, counter }) : null;
  if (trimmed !== null) return { unit: trimmed, shown: null };
  const isShorter = shown.length < whole.length && shown.trim() !== "";
  const shorter = !isShorter
    ? null
    : protocolOf(facts).write.replace(bytes, { text: shown, keepsMedia: true });
  if (shorter === null) return { unit, shown: { block, text: whole, runs: [] } };
  const tokens = counter.count({ bytes: shorter, kind: facts.kind });
  const borrows = [...new Set(runs.map(({ id }) => id))];
  const form = { bytes: shorter, shown: { as: "original", tokens, borrows } } as const;
  return { unit: rewordUnit(unit, form), shown: { block, text, runs } };
}

function trimResult(
  unit: PlannedUnit,
  text: string,
  { nonce, counter }: Pick<ArrivalInput, "nonce" | "counter">,
): PlannedUnit | null {
  const { bytes, numbered, facts } = unit;
  const trimmed = trimText({ kind: "tool-result", text, tool: null, input: null });
  if (trimmed === null || numbered === null) return null;
  const line = levelLine(nonce, { block: numbered.block, as: "trimmed", tokens: numbered.tokens });
  const other = protocolOf(facts).write.replace(bytes, { text: `${trimmed}\n${line}`, keepsMedia: true });
  if (other === null) return null;
  const tokens = counter.count({ bytes: other, kind: facts.kind });
  return rewordUnit(unit, { bytes: other, shown: { as: "trimmed", tokens, borrows: [] } });
}

const referencePattern = /^\[\w+ [^\n]*: same as [^\n]*in #(\d+), from its line \d+[^\n]*\]$/gm;

/** The blocks whose lines a sent result refers to, read from its bytes. */
export function borrowedBlocks(unit: WireUnit, bytes: Uint8Array): readonly number[] {
  const content = editablePart(protocolOf(unit).read.part(bytes));
  if (content?.type !== "result") return [];
  return [...new Set([...content.text.matchAll(referencePattern)].map(([, block]) => Number(block)))];
}

/** Tests whether a block is shown whole on a path or in the units after it. Builds its set on first use. */
function wholeBlockTest({ tree, end, rewrite }: ArrivalInput): (block: number) => boolean {
  let blocks: ReadonlySet<number> | null = null;
  return (block) => {
    const units = rewrite?.units ?? [];
    blocks ??= new Set([...pathTo(tree, rewrite?.cut ?? end), ...units].flatMap(wholeBlock));
    return blocks.has(block);
  };
}

function wholeBlock({ numbered, shown }: Pick<LedgerNode, "numbered" | "shown">): readonly number[] {
  return numbered !== null && shown.as === "original" ? [numbered.block] : [];
}
