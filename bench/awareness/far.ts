import { identifiersIn, standingIn } from "../../src/analysis/index.ts";
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
