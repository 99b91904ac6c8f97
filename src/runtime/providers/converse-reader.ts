import type {
  ContentBlock,
  ContentBlockDelta,
  ContentBlockStart,
  ConverseResponse,
  ConverseStreamOutput,
  TokenUsage,
} from "@aws-sdk/client-bedrock-runtime";
import type { Usage } from "../../engine/frames/index.ts";
import { type ConverseJson, fromConverse } from "./converse-blocks.ts";
import type { AnswerOrFailure } from "./messages-reader.ts";
import { isCompleteStop } from "./stop-reason.ts";

type ConverseAnswerFields = Pick<ConverseResponse, "output" | "stopReason" | "usage">;

export function readConverseAnswer({ output, stopReason, usage }: ConverseAnswerFields): AnswerOrFailure {
  const content = output?.message?.content;
  if (content === undefined || stopReason === undefined) {
    return { failure: { type: "broken", problem: "its end did not come" } };
  }
  return { answer: { content: content.map(fromConverse), stop: stopOf(stopReason), usage: usageOf(usage) } };
}

/** The stop reason in the terms of the Messages API, if it has one for it. */
function stopOf(reason: string): string {
  return reason === "guardrail_intervened" || reason === "content_filtered" ? "refusal" : reason;
}

function usageOf(usage: TokenUsage | undefined): Usage {
  return {
    input: usage?.inputTokens ?? 0,
    cacheRead: usage?.cacheReadInputTokens ?? 0,
    cacheWrite: usage?.cacheWriteInputTokens ?? 0,
    output: usage?.outputTokens ?? 0,
  };
}

export type ConverseEventReader = {
  readonly take: (event: ConverseStreamOutput) => void;
  readonly finish: () => AnswerOrFailure;
};

/** Reads an answer that comes in events; the result equals the answer that would have come whole. */
export function converseEventReader(onText: (text: string) => void): ConverseEventReader {
  const open = new Map<number, OpenConverseBlock>();
  const content: ContentBlock[] = [];
  let stopReason: ConverseAnswerFields["stopReason"];
  let usage: TokenUsage | undefined;
  let isIncomplete = false;
  const openAt = (index: number | undefined): OpenConverseBlock => {
    const block = open.get(index ?? 0) ?? new OpenConverseBlock();
    open.set(index ?? 0, block);
    return block;
  };
  const take = (event: ConverseStreamOutput): void => {
    const { contentBlockStart: start, contentBlockDelta: delta, contentBlockStop: stop } = event;
    if (start?.start !== undefined) openAt(start.contentBlockIndex).start(start.start);
    if (delta?.delta !== undefined) {
      openAt(delta.contentBlockIndex).add(delta.delta);
      if (delta.delta.text !== undefined && delta.delta.text !== "") onText(delta.delta.text);
    }
    if (stop !== undefined) {
      const block = openAt(stop.contentBlockIndex);
      content.push(...block.finish());
      isIncomplete ||= block.isIncomplete;
      open.delete(stop.contentBlockIndex ?? 0);
    }
    stopReason = event.messageStop?.stopReason ?? stopReason;
    usage = event.metadata?.usage ?? usage;
  };
  const finish = (): AnswerOrFailure => {
    // If the answer was cut off, a call may be incomplete; otherwise an incomplete call means a broken
    // answer.
    if (isIncomplete && (stopReason === undefined || isCompleteStop(stopReason)))
      return { failure: { type: "broken", problem: "the input of a call cannot be read" } };
    const message = { role: "assistant", content } as const;
    return readConverseAnswer({ output: { message }, stopReason, usage });
  };
  return { take, finish };
}

/**
 * A block whose pieces still arrive. Only tool calls announce their type; other blocks show it in their first
 * piece.
 */
class OpenConverseBlock {
  #tool: NonNullable<ContentBlockStart["toolUse"]> | null = null;
  readonly #texts = { text: "", input: "", reasoning: "", signature: "" };
  readonly #redacted: Uint8Array[] = [];
  #seen: "text" | "reasoning" | "redacted" | null = null;
  /** True for a call whose input is not complete JSON. */
  isIncomplete = false;

  start({ toolUse }: ContentBlockStart): void {
    this.#tool = toolUse ?? null;
  }

  add({ text, toolUse, reasoningContent }: ContentBlockDelta): void {
    this.#texts.text += text ?? "";
    this.#texts.input += toolUse?.input ?? "";
    this.#texts.reasoning += reasoningContent?.text ?? "";
    this.#texts.signature += reasoningContent?.signature ?? "";
    if (text !== undefined) this.#seen = "text";
    if (reasoningContent !== undefined) this.#seen ??= "reasoning";
    if (reasoningContent?.redactedContent === undefined) return;
    this.#redacted.push(reasoningContent.redactedContent);
    this.#seen = "redacted";
  }

  /** Empty if no piece of the block came. */
  finish(): readonly ContentBlock[] {
    const { text, input, reasoning, signature } = this.#texts;
    if (this.#tool !== null) {
      const { toolUseId, name } = this.#tool;
      return [{ toolUse: { toolUseId, name, input: this.#inputFrom(input) } }];
    }
    switch (this.#seen) {
      case "text":
        return [{ text }];
      case "reasoning":
        return [{ reasoningContent: { reasoningText: { text: reasoning, signature } } }];
      case "redacted":
        return [{ reasoningContent: { redactedContent: Buffer.concat(this.#redacted) } }];
      case null:
        return [];
    }
  }

  #inputFrom(json: string): ConverseJson {
    if (json === "") return {};
    try {
      return JSON.parse(json) as ConverseJson; // any JSON value
    } catch {
      this.isIncomplete = true;
      return {};
    }
  }
}
