import { cutText } from "../base/index.ts";
import { commandOf, firstField, pathOf } from "./call-input.ts";
import { type DetectedContent, detectContent, lineNumber } from "./detect-content.ts";
import { isErrorLine } from "./error-lines.ts";
import type { Source } from "./source.ts";

/** Describes a block in one line of at most thirty tokens: its subject, its length, its outcome. */
export function minimal(source: Source): string {
  const subject = oneLine(subjectOf(source));
  const outcomeMax = Math.max(outcomeTokensMin, tokensMax - maxTokens(subject));
  const outcome = clip(outcomeOf(source, detectContent(source)), outcomeMax);
  return `${clip(subject, tokensMax - maxTokens(outcome))}: ${outcome}`;
}

/** Tokens of subject and outcome together, without the colon between them. */
const tokensMax = 28;
const outcomeTokensMin = 14;

const otherKeys = ["pattern", "query", "url", "prompt", "description", "name"];

/** `Read src/a.ts`, `npm test`, `Grep isPath`; a message of model or user is named by its kind. */
function subjectOf(source: Source): string {
  const command = commandOf(source);
  if (command !== null) return withoutPreamble(command);
  const subject =
    firstField(source.input, ["pattern"]) ?? pathOf(source) ?? firstField(source.input, otherKeys);
  const words = [source.tool || source.kind, subject === null ? "" : shortenPath(subject)];
  return words.filter((word) => word !== "").join(" ");
}

/** The command without the `cd` and the variables before it. */
function withoutPreamble(command: string): string {
  const line = oneLine(command);
  return line.replace(/^(?:cd [^&;|]+(?:&&|;) ?|[A-Z_]+=\S+ )+/, "") || line;
}

const lineMax = 400;

/** Shortens a long path to its last parts, which distinguish it from others. */
function shortenPath(subject: string): string {
  const line = oneLine(subject);
  if (!/^[\w.~@/-]+$/.test(line)) return line;
  const parts = line.split("/");
  let kept = parts.pop() ?? "";
  while (parts.length > 0 && maxTokens(`${parts.at(-1)}/${kept}`) <= pathTokensMax)
    kept = `${parts.pop()}/${kept}`;
  return kept === "" ? line : kept;
}

const pathTokensMax = 13;

/** The length of the text, and its result: counts of a test run, or the first error. */
function outcomeOf({ text }: Source, content: DetectedContent): string {
  const lines = text === "" ? 0 : text.split("\n").length;
  const size = `${lines} ${lines === 1 ? "line" : "lines"}`;
  switch (content.type) {
    case "code":
      return content.language === null ? `${size}, code` : `${size}, ${content.language}`;
    case "diff":
      return diffSize(text) ?? size;
    case "hits":
      return `${lines} hits`;
    case "output":
      return [size, runOutcome(text)].filter((word) => word !== "").join(", ");
    case "prose":
      return `${size}, ${firstWords(text, content)}`;
    default:
      return `${size}, ${content.type}`;
  }
}

function diffSize(text: string): string | null {
  const files = text.match(/^diff --git /gm)?.length ?? 0;
  if (files === 0) return null;
  const added = text.match(/^\+(?!\+\+)/gm)?.length ?? 0;
  const removed = text.match(/^-(?!--)/gm)?.length ?? 0;
  return `diff of ${files} ${files === 1 ? "file" : "files"}, +${added} -${removed}`;
}

const testCounts = /\b\d+ (?:failed|failures?|failing|errors?|passed|passing)\b/gi;
const exitCode = /\b[Ee]xit(?:ed)?(?: with)?(?: code| status):? ([1-9]\d*)/;

/** Reads the result of a run from the start and the end of its output, where programs print it. */
function runOutcome(text: string): string {
  const end = text.slice(-endMax);
  const reported = [...new Set([...end.matchAll(testCounts)].map(([count]) => count))].slice(-3);
  const fails = text.match(/^[ \t]*--- FAIL/gm)?.length ?? 0;
  if (reported.length === 0 && fails > 0) reported.push(`${fails} failed`);
  const code = exitCode.exec(text.slice(0, endMax)) ?? exitCode.exec(end);
  if (code !== null) reported.push(`exit code ${code[1]}`);
  if (reported.length > 0) return reported.join(", ");
  const firstError = text
    .slice(0, endMax)
    .split("\n")
    .find((line) => isErrorLine(line, true));
  return firstError ?? "";
}

const endMax = 4000;

function firstWords(text: string, { isNumbered }: DetectedContent): string {
  const line =
    text
      .slice(0, endMax)
      .split("\n")
      .find((one) => /\p{L}/u.test(one)) ?? "";
  return `"${(isNumbered ? line.replace(lineNumber, "") : line).replace(/^[\s#*>-]+/, "").trim()}"`;
}

function oneLine(text: string): string {
  return cutText(text, lineMax)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** Cuts a text, between code points, so that it takes at most so many tokens in any tokenizer. */
function clip(text: string, tokens: number): string {
  const line = oneLine(text);
  if (maxTokens(line) <= tokens) return line;
  let kept = "";
  for (const character of line) {
    if (maxTokens(kept + character) > tokens - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Sequences of letters that are rare in words, so that tokenizers cut them into small pieces. */
const oddRun = /[bcdfghjklmnpqrstvwxz]{4}|[aeiouy]{3}|q(?!u)|[jvx][bcdfghjklmnpqrstvwxz]|z[^aeioyz]/i;
const keyRun = /[bcdfghjklmnpqrstvwxyz]{5}|\d[A-Za-z]+\d|[A-Z]{2}.*[A-Z]{2}|[a-z][A-Z][a-z][A-Z]/;
const shortWord = /^(?:[A-Za-z][a-z]?|[A-Za-z][aeiou][a-z]|[A-Za-z][a-z][aeiou]|\d{1,3})$/;
const wordPart = /[A-Z]?[a-z]+|[A-Z]+|\d+/g;

/**
 * An upper bound of the tokens of a text: three letters each in common words, two in rare ones, one in keys.
 */
function maxTokens(text: string): number {
  let max = 0;
  for (const [piece] of text.matchAll(/[A-Za-z0-9]+|\s+|[^A-Za-z0-9\s]/g)) {
    if (/^\s/.test(piece)) max += piece.length - 0.75;
    else if (!/^[A-Za-z0-9]/.test(piece)) max += piece.charCodeAt(0) < 128 ? 1 : 3;
    else if (keyRun.test(piece)) max += piece.length;
    else for (const [part] of piece.matchAll(wordPart)) max += maxTokensOfWord(part);
  }
  return max;
}

function maxTokensOfWord(word: string): number {
  if (shortWord.test(word)) return 1;
  return Math.max(word.length === 3 ? 1.5 : 2, word.length / (oddRun.test(word) ? 2 : 3));
}
