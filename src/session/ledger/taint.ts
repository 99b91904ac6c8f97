import { isTainting } from "../../commands/index.ts";
import type { Origin } from "../../engine/index.ts";
import type { AnswerUnit } from "../../protocols/index.ts";
import { bytesOf, isOwn, type Place } from "./place.ts";

/** Something a model has read before it asked for anything. */
export type ReadUnit = { readonly kind: string; readonly origin: Origin; readonly bytes: Uint8Array };

/**
 * What a model has read in this turn: everything behind the last words with which it has answered its client,
 * whether this request was the first to bring it or not, and what tools of its provider have found while it
 * answered. What it has said to us, and what we have answered, ends no turn; nor does an answer that it was
 * asked to go on with.
 */
export function readBefore(leaf: Place | null, units: readonly AnswerUnit[]): readonly ReadUnit[] {
  const read: ReadUnit[] = units.map(({ unit, bytes }) => ({ kind: unit.kind, origin: "client", bytes }));
  let hasAsked = false;
  for (let at = leaf; at !== null; at = at.parent) {
    const isAnswer = at.wrapping.role === "assistant";
    if (isAnswer && hasAsked) break;
    hasAsked ||= !isAnswer && !isOwn(at);
    if (at.sent !== null) read.push({ kind: at.facts.kind, origin: at.origin, bytes: bytesOf(at) });
  }
  return read;
}

/** Whether content that nobody vouches for speaks the language of commands. */
export function isTaintedBy(read: readonly ReadUnit[], nonce: string): boolean {
  return read.some((unit) => isUntrusted(unit) && isTainting(wordsOf(unit, nonce), nonce));
}

function isUntrusted({ kind }: ReadUnit): boolean {
  return kind === "tool-result" || kind === "media";
}

/** Of a result that we have written, lines with the mark are ours: content was shown without it. */
function wordsOf({ bytes, origin }: ReadUnit, nonce: string): string {
  const text = textsIn(parsed(bytes)).join("\n");
  if (origin !== "aperture") return text;
  return text
    .split("\n")
    .filter((line) => !line.includes(nonce))
    .join("\n");
}

/** Every text in it, wherever it stands: a document or a search result is read like any other. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function parsed(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
