import type { JsonObject } from "./json-text.ts";
import type { ParsedRequest } from "./request.ts";

/** What a model says, before ids, signatures and counts are added. */
export type ReplyBlock =
  | { readonly type: "text"; readonly text: string }
  /** Gets a signature that is bound to everything before it. */
  | { readonly type: "thinking"; readonly thinking: string }
  | { readonly type: "redacted_thinking" }
  | { readonly type: "tool_use"; readonly name: string; readonly input: JsonObject; readonly id?: string }
  /** Any other block, sent as it is: tools of the provider, blocks of the future. */
  | { readonly type: "raw"; readonly block: JsonObject & { readonly type: string } };

export type Reply = {
  readonly content: readonly ReplyBlock[];
  /** Otherwise it follows from the content: tool_use, max_tokens or end_turn. */
  readonly stopReason?: string;
  /** Replaces counted figures, to make a client believe that its window is full. */
  readonly usage?: Readonly<Record<string, number>>;
};

/** Looks at a request and says what to answer. Whatever it throws becomes an answer with the status 500. */
export type ScriptedModel = (request: ParsedRequest, n: number) => Reply | Promise<Reply>;

/** Answers in order, whoever asks. Running out is an error that says so. */
export function script(replies: readonly Reply[]): ScriptedModel {
  let next = 0;
  return () => {
    const reply = replies[next];
    if (reply === undefined) throw new Error(`the script has ${replies.length} replies and no more`);
    next += 1;
    return reply;
  };
}

export function say(text: string): Reply {
  return { content: [{ type: "text", text }] };
}

export function call(name: string, input: JsonObject): Reply {
  return { content: [{ type: "tool_use", name, input }] };
}
