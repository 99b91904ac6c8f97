import { cutText } from "../base/index.ts";
import { commandOf, firstOf, pathOf } from "./call.ts";
import { type Content, contentOf, numbered } from "./content.ts";
import { isErrorLine } from "./error-lines.ts";
import type { Source } from "./source.ts";

/** One line, of thirty tokens at most: what it was, how long, and how it ended. */
export function minimal(source: Source): string {
  const subject = oneLine(subjectOf(source));
  const outcomeMax = Math.max(outcomeTokensMin, tokensMax - mostTokens(subject));
  const outcome = clipped(outcomeOf(source, contentOf(source)), outcomeMax);
  return `${clipped(subject, tokensMax - mostTokens(outcome))}: ${outcome}`;
}

/** Both without the colon. */
const tokensMax = 28;
const outcomeTokensMin = 14;

const otherKeys = ["pattern", "query", "url", "prompt", "description", "name"];

/** `Read src/a.ts`, `npm test`, `Grep isPath`; what the model or user said goes by its kind. */
function subjectOf(source: Source): string {
  const command = commandOf(source);
  if (command !== null) return withoutPlaces(command);
  const subject = firstOf(source.input, ["pattern"]) ?? pathOf(source) ?? firstOf(source.input, otherKeys);
  const words = [source.tool || source.kind, subject === null ? "" : lastOf(subject)];
  return words.filter((word) => word !== "").join(" ");
}

/** The first command that does something. */
function withoutPlaces(command: string): string {
  const line = oneLine(command);
  return line.replace(/^(?:cd [^&;|]+(?:&&|;) ?|[A-Z_]+=\S+ )+/, "") || line;
}

const lineMax = 400;

/** Of a long path its last parts, which tell it from others. */
function lastOf(subject: string): string {
  const line = oneLine(subject);
  if (!/^[\w.~@/-]+$/.test(line)) return line;
  const parts = line.split("/");
  let kept = parts.pop() ?? "";
  while (parts.length > 0 && mostTokens(`${parts.at(-1)}/${kept}`) <= pathTokensMax)
    kept = `${parts.pop()}/${kept}`;
  return kept === "" ? line : kept;
}

const pathTokensMax = 13;

/** Test runs say it in numbers, others by the first thing that went wrong. */
function outcomeOf({ text }: Source, content: Content): string {
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

const counts = /\b\d+ (?:failed|failures?|failing|errors?|passed|passing)\b/gi;
const exitCode = /\b[Ee]xit(?:ed)?(?: with)?(?: code| status):? ([1-9]\d*)/;

/** How a run says it went, its beginning and its end being where programs say it. */
function runOutcome(text: string): string {
  const end = text.slice(-endMax);
  const said = [...new Set([...end.matchAll(counts)].map(([count]) => count))].slice(-3);
  const fails = text.match(/^[ \t]*--- FAIL/gm)?.length ?? 0;
  if (said.length === 0 && fails > 0) said.push(`${fails} failed`);
  const code = exitCode.exec(text.slice(0, endMax)) ?? exitCode.exec(end);
  if (code !== null) said.push(`exit code ${code[1]}`);
  if (said.length > 0) return said.join(", ");
  const wrong = text
    .slice(0, endMax)
    .split("\n")
    .find((line) => isErrorLine(line, true));
  return wrong ?? "";
}

const endMax = 4000;

function firstWords(text: string, { isNumbered }: Content): string {
  const line =
    text
      .slice(0, endMax)
      .split("\n")
      .find((one) => /\p{L}/u.test(one)) ?? "";
  return `"${(isNumbered ? line.replace(numbered, "") : line).replace(/^[\s#*>-]+/, "").trim()}"`;
}

function oneLine(text: string): string {
  return cutText(text, lineMax)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** As much of a text as surely takes no more tokens than allowed, by code point. */
function clipped(text: string, most: number): string {
  const line = oneLine(text);
  if (mostTokens(line) <= most) return line;
  let kept = "";
  for (const character of line) {
    if (mostTokens(kept + character) > most - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Letters as they follow each other in words of most languages. */
const oddRun = /[bcdfghjklmnpqrstvwxz]{4}|[aeiouy]{3}|q(?!u)|[jvx][bcdfghjklmnpqrstvwxz]|z[^aeioyz]/i;
const keyRun = /[bcdfghjklmnpqrstvwxyz]{5}|\d[A-Za-z]+\d|[A-Z]{2}.*[A-Z]{2}|[a-z][A-Z][a-z][A-Z]/;
const shortWord = /^(?:[A-Za-z][a-z]?|[A-Za-z][aeiou][a-z]|[A-Za-z][a-z][aeiou]|\d{1,3})$/;
const wordPart = /[A-Z]?[a-z]+|[A-Z]+|\d+/g;

/** More than a tokenizer takes for it: words in parts of three, odd ones of two, keys letter by letter. */
function mostTokens(text: string): number {
  let most = 0;
  for (const [piece] of text.matchAll(/[A-Za-z0-9]+|\s+|[^A-Za-z0-9\s]/g)) {
    if (/^\s/.test(piece)) most += piece.length - 0.75;
    else if (!/^[A-Za-z0-9]/.test(piece)) most += piece.charCodeAt(0) < 128 ? 1 : 3;
    else if (keyRun.test(piece)) most += piece.length;
    else for (const [part] of piece.matchAll(wordPart)) most += mostOfWord(part);
  }
  return most;
}

function mostOfWord(word: string): number {
  if (shortWord.test(word)) return 1;
  return Math.max(word.length === 3 ? 1.5 : 2, word.length / (oddRun.test(word) ? 2 : 3));
}
