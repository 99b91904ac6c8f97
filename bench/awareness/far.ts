import type { BlockKind } from "../../src/engine/index.ts";
import type { Conversation, Message } from "./conversation.ts";

/**
 * A response uses a distinctive identifier whose most recent copy in the context lies ten or more requests
 * back. It may be guessed, so this is an upper bound of what the model had to remember.
 */
export type FarReference = {
  readonly request: number;
  readonly name: string;
  readonly distance: number;
  /** What the most recent copy stands in. */
  readonly source: BlockKind;
};

export const farRequestsMin = 10;

/** Found on its own, without the code that is measured: a mistake there must not hide itself. */
const run = /[A-Za-z0-9_./~@$-]+/g;
const separator = /[./~@$-]/;
const charsMin = 8;
const charsMax = 160;
const shapes = [
  /[A-Za-z0-9]\/[A-Za-z0-9._]/,
  /[A-Za-z0-9]_[A-Za-z0-9]/,
  /[a-z][A-Z]/,
  /[A-Za-z0-9]\.[A-Za-z]/,
  /[0-9]/,
];

/** Paths, snake_case, camelCase, dotted and numbered names of eight characters or more. */
export function identifiersIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [piece] of text.matchAll(run)) {
    const name = trimmed(piece);
    if (isIdentifier(name)) found.add(name);
  }
  return found;
}

const fronts = ["/", ".", "/.", "~/", "~/."];

/** `--name`, `./name`, `../name`, `//name` are the name; `/usr`, `.github` and `~/` stay as they are. */
function trimmed(piece: string): string {
  const front = /^[./~@$-]*/.exec(piece)?.[0] ?? "";
  let end = piece.length;
  while (end > front.length && separator.test(piece.charAt(end - 1))) end -= 1;
  return piece.slice(fronts.includes(front) ? 0 : front.length, end);
}

function isIdentifier(name: string): boolean {
  if (name.length < charsMin || name.length > charsMax || !/[A-Za-z]/.test(name)) return false;
  return shapes.some((shape) => shape.test(name));
}

/** All that stands in a text literally: its identifiers, and every part of one that is cut off by signs. */
export function standingIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const name of identifiersIn(text)) for (const part of partsOf(name)) found.add(part);
  return found;
}

function partsOf(name: string): readonly string[] {
  const starts = [0];
  const ends: number[] = [];
  for (const [at, character] of [...name].entries()) {
    if (!separator.test(character)) continue;
    if (at > 0) ends.push(at);
    if (character === "/" || character === ".") starts.push(at);
    starts.push(at + 1);
  }
  ends.push(name.length);
  const parts = starts.flatMap((start) => ends.map((end) => name.slice(start, Math.max(start, end))));
  return [name, ...parts.filter((part) => part.length >= charsMin)];
}

type Copy = { readonly request: number; readonly source: BlockKind };
type Kept = { readonly request: number; readonly message: Message };

/** By request. What the client dropped from its history is not in the context any more. */
export function farReferences({ requests }: Conversation): readonly (readonly FarReference[])[] {
  let kept: Kept[] = [];
  let copies = new Map<string, Copy>();
  const take = (one: Kept): void => {
    kept.push(one);
    copyNames(one, copies);
  };
  return requests.map(({ kept: count, messages, answer }, request) => {
    if (count < kept.length) {
      kept = kept.slice(0, count);
      copies = new Map();
      for (const one of kept) copyNames(one, copies);
    }
    for (const message of messages) take({ request, message });
    const far = referencesIn(answer, { request, copies });
    take({ request, message: answer });
    return far;
  });
}

function copyNames({ request, message }: Kept, copies: Map<string, Copy>): void {
  for (const { kind, text } of message.blocks)
    for (const name of standingIn(text)) copies.set(name, { request, source: kind });
}

type Known = { readonly request: number; readonly copies: ReadonlyMap<string, Copy> };

function referencesIn(answer: Message, { request, copies }: Known): readonly FarReference[] {
  const used = new Set(answer.blocks.flatMap(({ text }) => [...identifiersIn(text)]));
  return [...used].flatMap((name) => {
    const copy = copies.get(name);
    const distance = copy === undefined ? 0 : request - copy.request;
    return copy === undefined || distance < farRequestsMin
      ? []
      : [{ request, name, distance, source: copy.source }];
  });
}
