import { identifiersIn, namesInText } from "../../src/analysis/play/identifiers.ts";
import type { BlockKind } from "../../src/engine/frames/index.ts";
import type { Conversation, ConversationMessage } from "./conversation.ts";

/**
 * An answer uses a distinctive identifier whose most recent copy in the context is ten or more requests old.
 * The model may have guessed it, so this is an upper bound of what it had to remember.
 */
export type FarReference = {
  readonly request: number;
  readonly name: string;
  readonly distance: number;
  /** The kind of the block with the most recent copy. */
  readonly source: BlockKind;
};

export const farRequestsMin = 10;

type Copy = { readonly request: number; readonly source: BlockKind };
type KeptMessage = { readonly request: number; readonly message: ConversationMessage };

/** The far references of each request. Messages that the client dropped from its history do not count. */
export function farReferences({ requests }: Conversation): readonly (readonly FarReference[])[] {
  let kept: KeptMessage[] = [];
  let copies = new Map<string, Copy>();
  const addMessage = (one: KeptMessage): void => {
    kept.push(one);
    copyNames(one, copies);
  };
  return requests.map(({ kept: count, messages, answer }, request) => {
    if (count < kept.length) {
      kept = kept.slice(0, count);
      copies = new Map();
      for (const one of kept) copyNames(one, copies);
    }
    for (const message of messages) addMessage({ request, message });
    const far = referencesIn(answer, { request, copies });
    addMessage({ request, message: answer });
    return far;
  });
}

function copyNames({ request, message }: KeptMessage, copies: Map<string, Copy>): void {
  for (const { kind, text } of message.blocks)
    for (const name of namesInText(text)) copies.set(name, { request, source: kind });
}

function referencesIn(
  answer: ConversationMessage,
  { request, copies }: { readonly request: number; readonly copies: ReadonlyMap<string, Copy> },
): readonly FarReference[] {
  const used = new Set(answer.blocks.flatMap(({ text }) => [...identifiersIn(text)]));
  return [...used].flatMap((name) => {
    const copy = copies.get(name);
    const distance = copy === undefined ? 0 : request - copy.request;
    return copy === undefined || distance < farRequestsMin
      ? []
      : [{ request, name, distance, source: copy.source }];
  });
}
