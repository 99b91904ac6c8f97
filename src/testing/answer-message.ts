import { cutText } from "../base/index.ts";
import { betaFor } from "./betas.ts";
import { type BindingResult, textDigest } from "./binding.ts";
import { isObject, type JsonObject } from "./json-text.ts";
import type { ModelReply, ReplyBlock } from "./model-reply.ts";
import type { ContentBlock, ParsedRequest } from "./parsed-request.ts";
import { bytesPerToken, type InputUsage } from "./prompt-cache.ts";
import type { Seal, Signer } from "./signatures.ts";

export type AnswerUsage = InputUsage & {
  readonly output_tokens: number;
  readonly service_tier: "standard";
  readonly [figure: string]: unknown;
};

/** A whole answer; `answerEvents` cuts it up for streaming. */
export type AnswerMessage = {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stop_reason: string;
  readonly stop_sequence: null;
  readonly usage: AnswerUsage;
  readonly input_transformations?: readonly object[];
  readonly context_management?: object;
};

export type AnswerInput = {
  readonly request: ParsedRequest;
  readonly bound: BindingResult;
  readonly reply: ModelReply;
  readonly input: InputUsage;
  /** The edits of the prompt, in the form of the API. */
  readonly applied: readonly object[];
  readonly signer: Signer;
  /** Makes ids that are unique on this server. */
  readonly newId: (kind: string) => string;
};

/** Turns the reply of the model into the answer of the API. */
export function answerMessage(answerInput: AnswerInput): AnswerMessage {
  const { request, bound, reply, input } = answerInput;
  const { content, isCut } = cutToLimit(request, withCompaction(request, reply.content));
  const blocks = signBlocks(answerInput, content);
  const output = tokensOf(blocks);
  // Dropped blocks are reported only to a caller that asks about bindings.
  const reported = request.betas.has(betaFor.bindingControls) ? bound.transformations : [];
  return {
    id: answerInput.newId("msg"),
    type: "message",
    role: "assistant",
    model: request.model,
    content: blocks,
    stop_reason: reply.stopReason ?? stopReason(blocks, isCut),
    stop_sequence: null,
    usage: { ...input, output_tokens: output, service_tier: "standard", ...reply.usage },
    ...(reported.length > 0 ? { input_transformations: reported } : {}),
    ...(isObject(request.body["context_management"])
      ? { context_management: { applied_edits: answerInput.applied } }
      : {}),
  };
}

/** A request for a compaction gets a summary and nothing else. */
function withCompaction(request: ParsedRequest, content: readonly ReplyBlock[]): readonly ReplyBlock[] {
  if (!isObject(request.body["compaction"])) return content;
  const texts = content.map((block) => (block.type === "text" ? block.text : ""));
  const summary = texts.join("\n").trim() || "Nothing happened.";
  return [{ type: "raw", block: { type: "compaction", content: summary } }];
}

/** max_tokens cuts the text that exceeds it and drops the blocks behind it. */
function cutToLimit(
  request: ParsedRequest,
  content: readonly ReplyBlock[],
): { readonly content: readonly ReplyBlock[]; readonly isCut: boolean } {
  if (request.maxTokens === 0) return { content: [], isCut: true };
  let left = (request.maxTokens ?? 0) * bytesPerToken;
  const kept: ReplyBlock[] = [];
  for (const block of content) {
    const size = JSON.stringify(block).length;
    if (size <= left) {
      kept.push(block);
      left -= size;
      continue;
    }
    const text = block.type === "text" ? cutText(block.text, left) : "";
    if (text.trim() !== "") kept.push({ type: "text", text });
    return { content: kept, isCut: true };
  }
  return { content: kept, isCut: false };
}

function stopReason(blocks: readonly ContentBlock[], isCut: boolean): string {
  if (isCut) return "max_tokens";
  if (blocks.some(({ type }) => type === "compaction")) return "compaction";
  return blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
}

function signBlocks(input: AnswerInput, content: readonly ReplyBlock[]): readonly ContentBlock[] {
  const { chain } = input.bound;
  const state = { before: input.bound.lastThinking };
  return content.map((replyBlock) => {
    const block = finishBlock(input, replyBlock, state);
    chain.add("assistant", block);
    return block;
  });
}

type SigningState = { before: string | null };

/** Adds ids and signatures to a block of the reply. */
function finishBlock(answerInput: AnswerInput, reply: ReplyBlock, state: SigningState): ContentBlock {
  const sign = (kind: Seal["kind"], block: ContentBlock): string => {
    const { chain } = answerInput.bound;
    const id = answerInput.newId("think");
    const prefix = kind === "compaction" ? chain.state : chain.prefix;
    const { model } = answerInput.request;
    const { before } = state;
    state.before = id;
    return answerInput.signer.sign({ kind, id, model, prefix, before, text: textDigest(block) });
  };
  switch (reply.type) {
    case "text":
      return { type: "text", text: reply.text };
    case "tool_use": {
      const { name, input } = reply;
      return { type: "tool_use", id: reply.id ?? answerInput.newId("toolu"), name, input };
    }
    case "thinking": {
      const isOmitted = answerInput.request.thinking?.["display"] === "omitted";
      const block: ContentBlock = { type: "thinking", thinking: isOmitted ? "" : reply.thinking };
      return { ...block, signature: sign("thinking", block) };
    }
    case "redacted_thinking":
      return { type: reply.type, data: sign(reply.type, { type: reply.type }) };
    case "raw":
      if (reply.block.type !== "compaction") return reply.block;
      return { ...reply.block, signature: sign("compaction", reply.block) };
  }
}

function tokensOf(blocks: readonly JsonObject[]): number {
  const bytes = blocks.reduce((sum, block) => sum + Buffer.byteLength(JSON.stringify(block)), 0);
  return Math.ceil(bytes / bytesPerToken);
}
