import { cutText, type Json } from "../base/index.ts";
import type { EditablePart } from "../content/index.ts";
import type { Block, BlockKind, Level } from "../engine/frames/index.ts";
import { judgedExtract, minimal, type Source, trimInput, trimText } from "../levels/index.ts";
import type { ToolInvocation } from "../policy/index.ts";
import { readEditable } from "../protocols/index.ts";
import { estimateText } from "../tokens/index.ts";

/** The content of a block at one level: a text, or for a call a shorter input. */
export type LevelText = {
  readonly text: string | null;
  readonly input: { readonly [key: string]: Json } | null;
  readonly tokens: number;
};
export type LevelTextEntry = readonly [Level, LevelText];

/** Smaller blocks are not rendered at this level. */
const trimmedTokensMin = 300;
export const minimalTokensMin = 100;
/** Output of the model has no levels: a line of ours in it would teach the model to write such lines. */
export const kindsWithLevels: readonly BlockKind[] = ["tool-result", "tool-call", "user"];

/** Null if the unit has no text, or if a secret was masked in it: then the record cannot replace it. */
export function readUnmasked(bytes: Uint8Array, block: Pick<Block, "form">): EditablePart | null {
  const isSecret = isMasked(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return isSecret ? null : readEditable(bytes, block);
}

/**
 * A secret is masked with as many asterisks. Asterisks at the start of a line are a ruler or a comment frame.
 */
function isMasked(bytes: Buffer): boolean {
  return bytes.includes(mask) && bytes.toString("utf8").replace(framedLine, "$1").includes(mask);
}

const mask = "*".repeat(8);
/** A line inside a JSON string that starts with asterisks, after its line number if it has one. */
const framedLine = /(^|\\n|")(?:\\t|[\s\d→:|/#;+-])*\*{4}.*?(?=\\n|$)/g;

export function levelTextString({ text, input }: LevelText): string {
  return text ?? JSON.stringify(input);
}

export type LevelTextsInput = {
  readonly kind: BlockKind;
  readonly unit: EditablePart;
  /** The call that a result answers, if known. */
  readonly call: ToolInvocation | null;
  /** Tokens of the original. */
  readonly tokens: number;
  readonly model: string | null;
};
export type LevelTextsResult = {
  readonly texts: readonly LevelTextEntry[];
  /** Reasons why the summary was refused; empty if it was not. */
  readonly reasons: readonly string[];
};

/** The texts of a block at every level that is shorter than the original. */
export function levelTexts(original: LevelTextsInput): LevelTextsResult {
  const { unit } = original;
  const { texts, reasons } =
    unit.type === "call" ? callTexts(original, unit.input) : proseTexts(original, unit);
  return { texts: texts.filter(([, { tokens }]) => tokens < original.tokens), reasons };
}

function callTexts(original: LevelTextsInput, input: ToolInvocation["input"]): LevelTextsResult {
  const trimmed = original.tokens >= trimmedTokensMin ? trimInput(input) : null;
  const inputs = [
    ["trimmed", trimmed],
    ["minimal", shortInput(input)],
  ] as const;
  const texts = inputs.flatMap(([level, shorter]): readonly LevelTextEntry[] => {
    if (!isFields(shorter)) return [];
    return [[level, { text: null, input: shorter, tokens: tokensOf(JSON.stringify(shorter), original) }]];
  });
  return { texts, reasons: [] };
}

function proseTexts(
  original: LevelTextsInput,
  unit: Exclude<EditablePart, { type: "call" }>,
): LevelTextsResult {
  const { kind, call, tokens } = original;
  const source = { kind, text: unit.text, tool: call?.name ?? null, input: call?.input ?? null };
  const isLong = tokens >= trimmedTokensMin;
  const trimmed = isLong ? trimText(source) : null;
  // Results of tools are better trimmed than summarized.
  const maySummarize = isLong && unit.type === "text" && source.text.length <= summaryCharsMax;
  const { summary, reasons } = maySummarize ? summaryOf(source, tokens) : noSummary;
  const candidates = [
    ["trimmed", trimmed],
    ["summarized", summary],
    // One line of a user message would say almost nothing.
    ["minimal", unit.type === "text" ? null : minimal(source)],
  ] as const;
  const texts = candidates.flatMap(([level, text]): readonly LevelTextEntry[] =>
    text === null ? [] : [[level, { text, input: null, tokens: tokensOf(text, original) }]],
  );
  return { texts, reasons };
}

function tokensOf(text: string, { model }: LevelTextsInput): number {
  return Math.ceil(estimateText(text, model));
}

/** A summary has a fifth of the original's tokens, within limits. */
const summaryShare = 0.2;
const summaryTokensMin = 60;
const summaryTokensMax = 800;
/** For a longer text, judging the summary costs more than it is worth. */
const summaryCharsMax = 50_000;
const noSummary = { summary: null, reasons: [] } as const;

/** A summary that loses or changes facts is refused. */
function summaryOf(source: Source, tokens: number) {
  const tokensMax = Math.min(summaryTokensMax, Math.max(summaryTokensMin, tokens * summaryShare));
  const { summary, judgement } = judgedExtract(source, tokensMax);
  const { accepted, reasons } = judgement;
  return accepted ? { summary, reasons: [] } : { summary: null, reasons: reasons.map(({ text }) => text) };
}

function isFields(input: Json | null): input is { readonly [key: string]: Json } {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

const valueCharsMax = 120;

/** Cuts long values of an input, so that it still shows what was called on which target. */
function shortInput(input: Json): Json {
  if (typeof input === "string") return shortText(input);
  if (typeof input !== "object" || input === null) return input;
  if (Array.isArray(input)) return shortList(input);
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, shortInput(value)]));
}

const itemsMax = 4;

function shortList(items: readonly Json[]): Json {
  const left = items.length - itemsMax;
  const kept = items.slice(0, itemsMax).map(shortInput);
  return left > 0 ? [...kept, `[... ${left} items left out ...]`] : kept;
}

function shortText(text: string): string {
  if (text.length <= valueCharsMax) return text;
  return `${cutText(text, valueCharsMax)} [... ${text.length - valueCharsMax} characters left out ...]`;
}
