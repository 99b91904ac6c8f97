import { cutText } from "../base/index.ts";
import { commandOf, firstOf, pathOf } from "./call.ts";
import { type Content, contentOf, numbered } from "./content.ts";
import { isErrorLine } from "./error-lines.ts";
import type { Source } from "./source.ts";

/** One line, of thirty tokens at most: what it was, how long, and how it ended. */
export function minimal(source: Source): string {
  const content = contentOf(source);
  const what = clipped(subjectOf(source), subjectTokensMax);
  return `${what}: ${clipped(outcomeOf(source, content), tokensMax - mostTokens(what) - 1)}`;
}

const tokensMax = 29;
const subjectTokensMax = 17;

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

function runOutcome(text: string): string {
  const end = text.slice(-endMax);
  const summary = [...new Set([...end.matchAll(counts)].map(([count]) => count))].slice(-3);
  if (summary.length > 0) return summary.join(", ");
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
      .find((one) => /[A-Za-z]/.test(one)) ?? "";
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

const hardRun = /[bcdfghjklmnpqrstvwxz]{5}|\d[A-Za-z]+\d|[A-Z]{2}.*[A-Z]{2}|[a-z][A-Z][a-z][A-Z]/;

/** More than a tokenizer takes for it: words in pieces of two, what looks like a key letter by letter. */
function mostTokens(text: string): number {
  let most = 0;
  for (const [piece] of text.matchAll(/[A-Za-z0-9]+|\s+|[^A-Za-z0-9\s]/g)) {
    if (/^\s/.test(piece)) most += piece.length - 1;
    else if (!/^[A-Za-z0-9]/.test(piece)) most += piece.charCodeAt(0) < 128 ? 1 : 3;
    else if (hardRun.test(piece)) most += piece.length;
    else most += piece.length <= 3 ? 1 : piece.length / 2.2;
  }
  return most;
}
