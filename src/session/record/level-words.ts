import type { Json } from "../../base/index.ts";
import type { BlockKind, Level } from "../../engine/index.ts";
import { judgedExtract, minimal, type Source, trimInput, trimText } from "../../levels/index.ts";
import { type Spoken, spokenIn } from "../../protocols/index.ts";
import { estimateText } from "../../tokens/index.ts";
import { shortInput } from "./short-input.ts";

/** What is shown of a block at some level: a text, or for a call another input. */
export type LevelWords = {
  readonly text: string | null;
  readonly input: { readonly [key: string]: Json } | null;
  readonly tokens: number;
};
export type LeveledWords = readonly [Level, LevelWords];
export type Call = { readonly name: string; readonly input: { readonly [key: string]: Json } };

/** Smaller blocks are shown whole or not at all. */
const trimmedTokensMin = 300;
export const minimalTokensMin = 100;
/** What the model said stays: a line of ours in its mouth would teach it to write such lines. */
export const wordedKinds: readonly BlockKind[] = ["tool-result", "tool-call", "user"];

/** Null: it says nothing, or the record does not hold it in full, so it cannot be shown from it. */
export function wordsIn(bytes: Uint8Array): Spoken | null {
  return isMasked(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) ? null : spokenIn(bytes);
}

/** A credential is masked by as many asterisks; those that begin a line are a ruler or frame a comment. */
function isMasked(bytes: Buffer): boolean {
  return bytes.includes(mask) && bytes.toString("utf8").replace(framedLine, "$1").includes(mask);
}

const mask = "*".repeat(8);
/** A line inside a JSON string, behind its number if it has one. */
const framedLine = /(^|\\n|")(?:\\t|[\s\d→:|/#;+-])*\*{4}.*?(?=\\n|$)/g;

export function wordsText({ text, input }: LevelWords): string {
  return text ?? JSON.stringify(input);
}

export type WordsOf = {
  readonly kind: BlockKind;
  readonly spoken: Spoken;
  /** What a result answers, as far as it is known. */
  readonly call: Call | null;
  /** Of the original. */
  readonly tokens: number;
  readonly model: string | null;
};
export type WordsMade = { readonly words: readonly LeveledWords[]; readonly reasons: readonly string[] };

/** What a block comes to at every level that is shorter than it is; and why there is no summary, if so. */
export function levelWords(of: WordsOf): WordsMade {
  const { words, reasons } =
    of.spoken.type === "call" ? inputWords(of, of.spoken.input) : textWords(of, of.spoken);
  return { words: words.filter(([, { tokens }]) => tokens < of.tokens), reasons };
}

function inputWords(of: WordsOf, whole: Call["input"]): WordsMade {
  const trimmed = of.tokens >= trimmedTokensMin ? trimInput(whole) : null;
  const inputs = [
    ["trimmed", trimmed],
    ["minimal", shortInput(whole)],
  ] as const;
  const words = inputs.flatMap(([level, input]): readonly LeveledWords[] =>
    isFields(input) ? [[level, { text: null, input, tokens: sizeOf(JSON.stringify(input), of) }]] : [],
  );
  return { words, reasons: [] };
}

function textWords(of: WordsOf, spoken: Exclude<Spoken, { type: "call" }>): WordsMade {
  const { kind, call, tokens } = of;
  const source = { kind, text: spoken.text, tool: call?.name ?? null, input: call?.input ?? null };
  const isLong = tokens >= trimmedTokensMin;
  const trimmed = isLong ? trimText(source) : null;
  // What a tool has found is better trimmed than summed up.
  const isSummed = isLong && spoken.type === "text" && source.text.length <= summedCharsMax;
  const { summary, reasons } = isSummed ? summaryOf(source, tokens) : noSummary;
  const texts = [
    ["trimmed", trimmed],
    ["summarized", summary],
    // Of what somebody said, one line would say next to nothing.
    ["minimal", spoken.type === "text" ? null : minimal(source)],
  ] as const;
  const words = texts.flatMap(([level, text]): readonly LeveledWords[] =>
    text === null ? [] : [[level, { text, input: null, tokens: sizeOf(text, of) }]],
  );
  return { words, reasons };
}

function sizeOf(text: string, { model }: WordsOf): number {
  return Math.ceil(estimateText(text, model));
}

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
  const { summary, judgement } = judgedExtract(source, tokensMax);
  const { accepted, reasons } = judgement;
  return accepted ? { summary, reasons: [] } : { summary: null, reasons: reasons.map(({ text }) => text) };
}

function isFields(input: Json | null): input is { readonly [key: string]: Json } {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}
