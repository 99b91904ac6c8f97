import { canonicalJson, hashContent, type Json } from "../../base/index.ts";
import type { Agent } from "../agent.ts";
import { agentDefaults } from "../agent.ts";
import type { CacheMark, ModelRequest, ModelTool, WireBlock } from "../provider.ts";
import type { PromptPath, RenderedMessage, RenderedPiece } from "./prompt-path.ts";

/** A piece of a prompt as text, with its tokens and the blocks it shows. */
export type RenderedChunk = {
  /** The text of the piece; a piece that is not text is given as JSON. */
  readonly text: string;
  /** By our own count. */
  readonly tokens: number;
  readonly role: RenderedPiece["role"];
  /** Empty if the piece does not show blocks, such as the agent's tools or a note of ours. */
  readonly blockIds: readonly number[];
};

/** A prompt as an agent gets it, and the source of each part. */
export type RenderedContext = {
  readonly system: readonly WireBlock[];
  readonly tools: readonly ModelTool[];
  readonly messages: readonly RenderedMessage[];
  /** System text, tools and messages, piece by piece in the order of the prompt. */
  readonly chunks: readonly RenderedChunk[];
  /** Sum of all chunks by our own count; the budget also applies the rate of the provider's count. */
  readonly totalTokens: number;
  readonly renderedFrames: readonly number[];
  /** By frame: the index of the last message that shows some of it. */
  readonly frameToMessageIndex: ReadonlyMap<number, number>;
};

export function contextOf(path: PromptPath): RenderedContext {
  return {
    ...frontOf(path),
    messages: path.messages,
    chunks: path.pieces.map(chunkOf),
    totalTokens: path.tokens,
    renderedFrames: [...path.frameToMessageIndex.keys()],
    frameToMessageIndex: path.frameToMessageIndex,
  };
}

/** The parts before the messages. */
function frontOf({ head }: PromptPath): Pick<RenderedContext, "system" | "tools"> {
  const parsed = (section: "tools" | "system") =>
    head
      .filter((unit) => unit.section === section)
      .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString("utf8")));
  return { system: parsed("system") as WireBlock[], tools: parsed("tools").flat() as ModelTool[] };
}

function chunkOf({ role, content, tokens, blockIds }: RenderedPiece): RenderedChunk {
  return { text: textIn(content) ?? JSON.stringify(content), tokens, role, blockIds };
}

/** Null if the content is not text. */
function textIn(content: Json): string | null {
  const { type, text } = content as Readonly<Record<string, Json>>; // pieces are objects or lists
  return type === "text" && typeof text === "string" ? text : null;
}

/** The request to the provider. After `roundsMax` rounds of tool calls the agent must answer in text. */
export function requestOf(agent: Agent, path: PromptPath, rounds: number): ModelRequest {
  return {
    model: agent.model,
    ...frontOf(path),
    messages: path.messages.map(({ role, content }) => ({ role, content })),
    toolChoice: rounds >= (agent.roundsMax ?? agentDefaults.roundsMax) ? "none" : "auto",
    maxTokens: agent.maxTokens ?? agentDefaults.maxTokens,
    stopSequences: agent.stopSequences ?? [],
    marks: marksOf(path),
  };
}

/**
 * Cache marks after the system text, which changes least, and at the ends of the previous and this prompt.
 */
function marksOf({ messages, mark }: PromptPath): readonly CacheMark[] {
  const message = messages.length - 1;
  const block = (messages[message]?.content.length ?? 0) - 1;
  const before: readonly CacheMark[] = mark === null ? [] : [{ in: "message", ...mark }];
  return [{ in: "system" }, ...before, ...(block < 0 ? [] : [{ in: "message", message, block } as const])];
}

/** The hash that identifies a prompt in the log, without its text. */
export function contextHash(request: ModelRequest): string {
  const { marks: _, ...rest } = request;
  return hashContent(canonicalJson(rest));
}
