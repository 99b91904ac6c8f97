import type { Json } from "../base/index.ts";
import type { ModelReply, ReplyBlock, ScriptedModel } from "./model-reply.ts";
import { type ContentBlock, textOfBlock } from "./parsed-request.ts";
import type { AgentStep } from "./prompt-steps.ts";

/** A message of a conversation, as far as a script needs it. */
export type ScriptMessage = {
  readonly role: string;
  /** Its texts, one per block. */
  readonly texts: readonly string[];
  /** Every string in it, also those in calls and results. */
  readonly strings: readonly string[];
  readonly hasCalls: boolean;
};

/** A model that chooses its next step by the conversation. */
export function stepModel(next: (messages: readonly ScriptMessage[]) => AgentStep): ScriptedModel {
  return ({ messages }) =>
    stepReply(
      next(
        messages.map(({ role, content }) => ({
          role,
          texts: content.map(textOfBlock),
          strings: content.flatMap(stringsIn),
          hasCalls: content.some(isCall),
        })),
      ),
    );
}

/** The text of a step, then its calls. */
export function stepReply({ say = "", calls = [] }: AgentStep): ModelReply {
  const texts: readonly ReplyBlock[] = say.trim() === "" ? [] : [{ type: "text", text: say }];
  return { content: [...texts, ...calls.map((call): ReplyBlock => ({ type: "tool_use", ...call }))] };
}

function isCall({ type }: ContentBlock): boolean {
  return type === "tool_use";
}

function stringsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
