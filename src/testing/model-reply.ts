import type { JsonObject } from "./json-text.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** A block of a model's reply, before ids, signatures and counts are added. */
export type ReplyBlock =
  | { readonly type: "text"; readonly text: string }
  /** Gets a signature that is bound to everything before it. */
  | { readonly type: "thinking"; readonly thinking: string }
  | { readonly type: "redacted_thinking" }
  | { readonly type: "tool_use"; readonly name: string; readonly input: JsonObject; readonly id?: string }
  /** Any other block, sent unchanged: tools of the provider, future blocks. */
  | { readonly type: "raw"; readonly block: JsonObject & { readonly type: string } };

export type ModelReply = {
  readonly content: readonly ReplyBlock[];
  /** Otherwise it follows from the content: tool_use, max_tokens or end_turn. */
  readonly stopReason?: string;
  /** Replaces counted figures, to make a client believe that its window is full. */
  readonly usage?: Readonly<Record<string, number>>;
};

/** Decides the reply to a request. An error it throws becomes an answer with the status 500. */
export type ScriptedModel = (request: ParsedRequest, n: number) => ModelReply | Promise<ModelReply>;

/** Gives the replies in order, for any request. It throws when it has no more. */
export function script(replies: readonly ModelReply[]): ScriptedModel {
  let next = 0;
  return () => {
    const reply = replies[next];
    if (reply === undefined) throw new Error(`the script has ${replies.length} replies and no more`);
    next += 1;
    return reply;
  };
}

export function say(text: string): ModelReply {
  return { content: [{ type: "text", text }] };
}

export function call(name: string, input: JsonObject): ModelReply {
  return { content: [{ type: "tool_use", name, input }] };
}
