import { cutText } from "../base/index.ts";
import { betaFor } from "./betas.ts";
import { type Bound, textDigest } from "./binding.ts";
import { bytesPerToken, type InputUsage } from "./cache.ts";
import { isObject, type JsonObject } from "./json-text.ts";
import type { Reply, ReplyBlock } from "./reply.ts";
import type { Block, ParsedRequest } from "./request.ts";
import type { Seal, Signer } from "./signatures.ts";

export type Usage = InputUsage & {
  readonly output_tokens: number;
  readonly service_tier: "standard";
  readonly [figure: string]: unknown;
};

/** A whole answer; streaming it is a matter of cutting it up. */
export type AnswerMessage = {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly model: string;
  readonly content: readonly Block[];
  readonly stop_reason: string;
  readonly stop_sequence: null;
  readonly usage: Usage;
  readonly input_transformations?: readonly object[];
  readonly context_management?: object;
};

export type AnswerQuestion = {
  readonly request: ParsedRequest;
  readonly bound: Bound;
  readonly reply: Reply;
  readonly input: InputUsage;
  /** The edits of the prompt, in the words of the interface. */
  readonly applied: readonly object[];
  readonly signer: Signer;
  /** Makes ids that are unique on this server. */
  readonly newId: (kind: string) => string;
};

/** Turns what the model said into what the interface answers. */
export function answerMessage(question: AnswerQuestion): AnswerMessage {
  const { request, bound, reply, input } = question;
  const { content, cut } = withinLimit(request, compacted(request, reply.content));
  const blocks = signedBlocks(question, content);
  const output = tokensOf(blocks);
  // Blocks of another model vanish without a word, unless the caller asks about bindings.
  const reported = request.betas.has(betaFor.bindingControls) ? bound.transformations : [];
  return {
    id: question.newId("msg"),
    type: "message",
    role: "assistant",
    model: request.model,
    content: blocks,
    stop_reason: reply.stopReason ?? stopReason(blocks, cut),
    stop_sequence: null,
    usage: { ...input, output_tokens: output, service_tier: "standard", ...reply.usage },
    ...(reported.length > 0 ? { input_transformations: reported } : {}),
    ...(isObject(request.body["context_management"])
      ? { context_management: { applied_edits: question.applied } }
      : {}),
  };
}

/** Whoever asks for a summary gets that and nothing else. */
function compacted(request: ParsedRequest, content: readonly ReplyBlock[]): readonly ReplyBlock[] {
  if (!isObject(request.body["compaction"])) return content;
  const texts = content.map((block) => (block.type === "text" ? block.text : ""));
  const summary = texts.join("\n").trim() || "Nothing happened.";
  return [{ type: "raw", block: { type: "compaction", content: summary } }];
}

/** max_tokens cuts text where it ends and drops what comes after it. */
function withinLimit(
  request: ParsedRequest,
  content: readonly ReplyBlock[],
): { readonly content: readonly ReplyBlock[]; readonly cut: boolean } {
  if (request.maxTokens === 0) return { content: [], cut: true };
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
    return { content: kept, cut: true };
  }
  return { content: kept, cut: false };
}

function stopReason(blocks: readonly Block[], cut: boolean): string {
  if (cut) return "max_tokens";
  if (blocks.some(({ type }) => type === "compaction")) return "compaction";
  return blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
}

function signedBlocks(question: AnswerQuestion, content: readonly ReplyBlock[]): readonly Block[] {
  const { chain } = question.bound;
  const state = { before: question.bound.lastThinking };
  return content.map((said) => {
    const block = finished(question, said, state);
    chain.add("assistant", block);
    return block;
  });
}

type SigningState = { before: string | null };

function finished(question: AnswerQuestion, said: ReplyBlock, state: SigningState): Block {
  const sealed = (kind: Seal["kind"], block: Block): string => {
    const { chain } = question.bound;
    const id = question.newId("think");
    const prefix = kind === "compaction" ? chain.state : chain.prefix;
    const { model } = question.request;
    const { before } = state;
    state.before = id;
    return question.signer.sign({ kind, id, model, prefix, before, text: textDigest(block) });
  };
  switch (said.type) {
    case "text":
      return { type: "text", text: said.text };
    case "tool_use": {
      const { name, input } = said;
      return { type: "tool_use", id: said.id ?? question.newId("toolu"), name, input };
    }
    case "thinking": {
      const omitted = question.request.thinking?.["display"] === "omitted";
      const block: Block = { type: "thinking", thinking: omitted ? "" : said.thinking };
      return { ...block, signature: sealed("thinking", block) };
    }
    case "redacted_thinking":
      return { type: said.type, data: sealed(said.type, { type: said.type }) };
    case "raw":
      if (said.block.type !== "compaction") return said.block;
      return { ...said.block, signature: sealed("compaction", said.block) };
  }
}

function tokensOf(blocks: readonly JsonObject[]): number {
  const bytes = blocks.reduce((sum, block) => sum + Buffer.byteLength(JSON.stringify(block)), 0);
  return Math.ceil(bytes / bytesPerToken);
}
