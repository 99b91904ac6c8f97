import { commandOf, pathOf } from "./call.ts";
import { type Language, languageOf } from "./language.ts";
import type { Source } from "./source.ts";

/** What sort of text it is, which decides what in it is structure and what counts as an error. */
export type Content = {
  readonly type: ContentType;
  readonly language: Language | null;
  /** Whether its lines carry their numbers, as file reads do. */
  readonly isNumbered: boolean;
  /** Whether it is what stands in a file, which can be read again. */
  readonly isFile: boolean;
};

export type ContentType = "code" | "diff" | "json" | "hits" | "listing" | "html" | "prose" | "output";

/** Text that was written, not printed by a run: it speaks of errors without having any. */
export function isSource({ type }: Content): boolean {
  return type === "code" || type === "diff" || type === "hits" || type === "listing";
}

const sampleMax = 200;

export function contentOf(source: Source): Content {
  const lines = sampleOf(source.text);
  const isNumbered = areNumbered(lines);
  const type = typeOf(source, isNumbered ? lines.map((line) => line.replace(numbered, "")) : lines);
  return {
    type,
    language: type === "code" ? fileLanguage(source) : null,
    isNumbered,
    isFile: pathOf(source) !== null,
  };
}

/** `  12→code`, `12\tcode`, `12: code`, `12 | code` */
export const numbered = /^\s*(\d+)(?:→|\t|: ?| \| )/;

/** Most lines begin with a number, and each with a higher one than the line before: times of day do not. */
function areNumbered(lines: readonly string[]): boolean {
  const numbers = lines.flatMap((line) => {
    const match = numbered.exec(line);
    return match === null ? [] : [Number(match[1])];
  });
  if (numbers.length < numberedMin || numbers.length < lines.length * numberedShare) return false;
  const falls = numbers.filter((number, at) => at > 0 && number <= (numbers[at - 1] ?? 0));
  return falls.length <= numbers.length * fallsShare;
}

const numberedMin = 5;
const numberedShare = 0.7;
/** A result may hold more than one file. */
const fallsShare = 0.05;

/** Lines that are not blank, from everywhere in the text. */
function sampleOf(text: string): readonly string[] {
  const lines: string[] = [];
  const step = Math.max(1, text.length / sampleMax);
  let next = 0;
  for (let start = 0; start < text.length; ) {
    const end = endOfLine(text, start);
    const line = text.slice(start, Math.min(end, start + lineSampleMax));
    start = end + 1;
    if (end < next || line.trim() === "") continue;
    lines.push(line);
    // Short texts are looked at as a whole.
    next = text.length < wholeMax ? 0 : start + step;
  }
  return lines;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}

const wholeMax = 20_000;
const lineSampleMax = 300;

function share(lines: readonly string[], pattern: RegExp): number {
  return lines.filter((line) => pattern.test(line)).length / Math.max(1, lines.length);
}

const shapes = {
  diffStart: /^diff --git |^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m,
  diffLine: /^(?:[+\- ]|@@|diff |index |\\)/,
  hit: /^[^\s:][^:]{0,200}[:-]\d+[:-]/,
  row: /^(?:[dlbcps-][rwxsStT-]{9}\S?\s|[│├└─|`\s-]*\S+$|\s*\d+\s+\S+$)/,
  tag: /<\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?>/i,
  html: /^\s*(?:<!doctype html|<html\b|<\?xml)/i,
  code: /[{};]\s*(?:\/\/.*)?$|[,(:]$|^\s*(?:\/\/|\/?\*|#include|import |from |package |func |def |class |const |let |var |return\b|if |for |type |use |pub |fn |export |public |private |\}|\))/,
  sentence: /[\p{Ll}\p{Lo})][.!?:](?:\s|$)|[。！？：]|^\s*(?:#{1,6} |[-*] |\d+\. )/u,
} as const;

/** First that fits, the surest signs first. */
function typeOf(source: Source, lines: readonly string[]): ContentType {
  const { text, kind } = source;
  if (kind !== "tool-result" && kind !== "tool-call") return "prose";
  if (isJson(text)) return "json";
  if (shapes.diffStart.test(text) && share(lines, shapes.diffLine) >= 0.5) return "diff";
  if (shapes.html.test(text)) return "html";
  if (share(lines, shapes.hit) >= 0.5) return "hits";
  if (runs.test(commandOf(source) ?? "")) return "output";
  if (fileLanguage(source) !== null) return "code";
  if (document.test(pathOf(source) ?? "")) return "prose";
  if (share(lines, shapes.tag) >= 0.6) return "html";
  if (share(lines, shapes.code) >= 0.5) return "code";
  if (share(lines, shapes.row) >= 0.7) return "listing";
  return share(lines, shapes.sentence) >= 0.4 ? "prose" : "output";
}

const document = /\.(?:md|mdx|txt|rst|adoc)$/i;

/** Commands whose output tells how something went. */
const runs =
  /\b(?:test|tests|build|make|cargo|pytest|vitest|jest|mocha|tsc|lint|eslint|biome|vet|install|gradle|mvn|docker|compile|run)\b/;

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text.slice(-endMax))) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const endMax = 100;

/** Of the file that was read, written or printed. */
function fileLanguage(source: Source): Language | null {
  const path = pathOf(source);
  if (path !== null) return languageOf(path);
  const command = commandOf(source)?.slice(0, commandMax) ?? "";
  const printed = /\b(?:cat|sed|nl|head|tail|bat|less)\b[^|;&\n]*?\s([\w./@~-]+\.\w+)/.exec(command);
  return printed === null ? null : languageOf(printed[1] ?? "");
}

const commandMax = 2000;
