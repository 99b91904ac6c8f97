import type {
  ContentBlock,
  ContentBlockDelta,
  ContentBlockStart,
  ConverseResponse,
  ConverseStreamOutput,
  TokenUsage,
} from "@aws-sdk/client-bedrock-runtime";
import type { Usage } from "../../engine/index.ts";
import { isWholeStop } from "../provider.ts";
import { type ConverseJson, fromConverse } from "./converse-blocks.ts";
import type { Heard } from "./messages-answer.ts";

type Said = Pick<ConverseResponse, "output" | "stopReason" | "usage">;

export function heardConverse({ output, stopReason, usage }: Said): Heard {
  const content = output?.message?.content;
  if (content === undefined || stopReason === undefined) {
    return { failure: { type: "broken", problem: "its end did not come" } };
  }
  return { answer: { content: content.map(fromConverse), stop: stopOf(stopReason), usage: usageOf(usage) } };
}

/** The words of Messages, where it has one for it. */
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

export type ConverseEvents = {
  readonly take: (event: ConverseStreamOutput) => void;
  readonly finish: () => Heard;
};

/** An answer that comes in events becomes the answer that would have come whole. */
export function converseEvents(heard: (text: string) => void): ConverseEvents {
  const open = new Map<number, OpenBlock>();
  const content: ContentBlock[] = [];
  let stopReason: Said["stopReason"];
  let usage: TokenUsage | undefined;
  let isHalf = false;
  const openAt = (index: number | undefined): OpenBlock => {
    const block = open.get(index ?? 0) ?? new OpenBlock();
    open.set(index ?? 0, block);
    return block;
  };
  const take = (event: ConverseStreamOutput): void => {
    const { contentBlockStart: start, contentBlockDelta: delta, contentBlockStop: stop } = event;
    if (start?.start !== undefined) openAt(start.contentBlockIndex).start(start.start);
    if (delta?.delta !== undefined) {
      openAt(delta.contentBlockIndex).add(delta.delta);
      if (delta.delta.text !== undefined && delta.delta.text !== "") heard(delta.delta.text);
    }
    if (stop !== undefined) {
      const block = openAt(stop.contentBlockIndex);
      content.push(...block.finish());
      isHalf ||= block.isHalf;
      open.delete(stop.contentBlockIndex ?? 0);
    }
    stopReason = event.messageStop?.stopReason ?? stopReason;
    usage = event.metadata?.usage ?? usage;
  };
  const finish = (): Heard => {
    // Where the answer was cut off, so may a call be; otherwise half a call is a broken answer.
    if (isHalf && (stopReason === undefined || isWholeStop(stopReason)))
      return { failure: { type: "broken", problem: "the input of a call cannot be read" } };
    const message = { role: "assistant", content } as const;
    return heardConverse({ output: { message }, stopReason, usage });
  };
  return { take, finish };
}

/** What a block is shows in its first piece: only those of tools are announced. */
class OpenBlock {
  #tool: NonNullable<ContentBlockStart["toolUse"]> | null = null;
  readonly #texts = { text: "", input: "", reasoning: "", signature: "" };
  readonly #redacted: Uint8Array[] = [];
  #seen: "text" | "reasoning" | "redacted" | null = null;
  /** Whether it is a call whose input does not come to an end. */
  isHalf = false;

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

  /** Nothing where nothing of it came. */
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
  #inputFrom(written: string): ConverseJson {
    if (written === "") return {};
    try {
      return JSON.parse(written) as ConverseJson; // whatever JSON gives
    } catch {
      this.isHalf = true;
      return {};
    }
  }
}
