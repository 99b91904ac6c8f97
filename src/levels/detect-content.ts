import { commandOf, pathOf } from "./call-input.ts";
import type { Source } from "./source.ts";

/** The form of a text: it decides which lines show its structure and which count as errors. */
export type DetectedContent = {
  readonly type: ContentType;
  readonly language: string | null;
  /** Whether every line begins with its number, as in the output of file reads. */
  readonly isNumbered: boolean;
  /** Whether it is the content of a file, which can be read again. */
  readonly isFile: boolean;
};

export type ContentType = "code" | "diff" | "json" | "hits" | "listing" | "html" | "prose" | "output";

/** Whether the text is not the output of a run: code mentions errors that did not happen. */
export function isAuthored({ type }: DetectedContent): boolean {
  return type === "code" || type === "diff" || type === "hits" || type === "listing";
}

const sampleMax = 200;

export function detectContent(source: Source): DetectedContent {
  const lines = sampleOf(source.text);
  const isNumbered = areNumbered(lines);
  const type = typeOf(source, isNumbered ? lines.map((line) => line.replace(lineNumber, "")) : lines);
  return {
    type,
    language: type === "code" ? fileLanguage(source) : null,
    isNumbered,
    isFile: pathOf(source) !== null,
  };
}

/** `  12→code`, `12\tcode`, `12: code`, `12 | code` */
export const lineNumber = /^\s*(\d+)(?:→|\t|: ?| \| )/;

/** Line numbers rise from line to line; other numbers, such as times of day, do not. */
function areNumbered(lines: readonly string[]): boolean {
  const numbers = lines.flatMap((line) => {
    const match = lineNumber.exec(line);
    return match === null ? [] : [Number(match[1])];
  });
  if (numbers.length < numberedMin || numbers.length < lines.length * numberedShare) return false;
  const falls = numbers.filter((number, at) => at > 0 && number <= (numbers[at - 1] ?? 0));
  return falls.length <= numbers.length * fallsShare;
}

const numberedMin = 5;
const numberedShare = 0.7;
/** A result may contain several files, and the numbers start again with each. */
const fallsShare = 0.05;

/** Takes lines that are not blank from all parts of the text. */
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
    // Short texts are sampled whole.
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

/** Returns the first type that fits; the most reliable tests come first. */
function typeOf(source: Source, lines: readonly string[]): ContentType {
  const { text, kind } = source;
  if (kind !== "tool-result" && kind !== "tool-call") return "prose";
  if (isJson(text)) return "json";
  if (shapes.diffStart.test(text) && share(lines, shapes.diffLine) >= 0.5) return "diff";
  if (shapes.html.test(text)) return "html";
  if (share(lines, shapes.hit) >= 0.5) return "hits";
  if (reportingCommand.test(commandOf(source) ?? "")) return "output";
  if (fileLanguage(source) !== null) return "code";
  if (documentPath.test(pathOf(source) ?? "")) return "prose";
  if (share(lines, shapes.tag) >= 0.6) return "html";
  if (share(lines, shapes.code) >= 0.5) return "code";
  if (share(lines, shapes.row) >= 0.7) return "listing";
  return share(lines, shapes.sentence) >= 0.4 ? "prose" : "output";
}

const documentPath = /\.(?:md|mdx|txt|rst|adoc)$/i;

/** Commands whose output reports success or failure. */
const reportingCommand =
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

/** The language of the file that the call reads, writes or prints. */
function fileLanguage(source: Source): string | null {
  const path = pathOf(source);
  if (path !== null) return languageOf(path);
  const command = commandOf(source)?.slice(0, commandMax) ?? "";
  const printed = /\b(?:cat|sed|nl|head|tail|bat|less)\b[^|;&\n]*?\s([\w./@~-]+\.\w+)/.exec(command);
  return printed === null ? null : languageOf(printed[1] ?? "");
}

const commandMax = 2000;

const languageByExtension: ReadonlyMap<string, string> = new Map(
  (
    [
      ["bash", "sh bash zsh"],
      ["c-sharp", "cs"],
      ["cpp", "c cc cpp cxx h hh hpp hxx"],
      ["css", "css scss less"],
      ["go", "go"],
      ["java", "java"],
      ["javascript", "js mjs cjs jsx"],
      ["php", "php"],
      ["powershell", "ps1 psm1"],
      ["python", "py pyi"],
      ["ruby", "rb"],
      ["rust", "rs"],
      ["tsx", "tsx"],
      ["typescript", "ts mts cts"],
    ] as const
  ).flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension) => [extension, language] as const),
  ),
);

/** The language of a file, by the extension of its name. */
function languageOf(path: string): string | null {
  const extension = /\.(\w{1,5})$/.exec(path)?.[1] ?? "";
  return languageByExtension.get(extension.toLowerCase()) ?? null;
}
