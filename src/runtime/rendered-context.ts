import { canonicalJson, hashContent, type Json } from "../base/index.ts";
import type { Agent } from "./agent.ts";
import { usual } from "./agent.ts";
import type { Path, RenderedMessage, RenderedPiece } from "./path.ts";
import type { Mark, ModelRequest, ModelTool, WireBlock } from "./provider.ts";

/** A piece of a prompt in words, with what it costs and which blocks it shows. */
export type RenderedChunk = {
  /** What it says; of anything but text, all of it as JSON. */
  readonly text: string;
  /** By our own count. */
  readonly tokens: number;
  readonly role: RenderedPiece["role"];
  /** None: it is not from the log, such as the agent's tools, or is a line of ours. */
  readonly blockIds: readonly number[];
};

/** A prompt as an agent gets it, and where each part of it comes from. */
export type RenderedContext = {
  readonly system: readonly WireBlock[];
  readonly tools: readonly ModelTool[];
  readonly messages: readonly RenderedMessage[];
  /** All of the above, piece by piece in the order of the prompt. */
  readonly chunks: readonly RenderedChunk[];
  /** Those of all chunks, by our own count: what the provider makes of one is for the budget to know. */
  readonly totalTokens: number;
  readonly renderedFrames: readonly number[];
  /** By frame: the last message that shows something of it. */
  readonly frameToMessageIndex: ReadonlyMap<number, number>;
};

export function contextOf(path: Path): RenderedContext {
  return {
    ...frontOf(path),
    messages: path.messages,
    chunks: path.pieces.map(chunkOf),
    totalTokens: path.tokens,
    renderedFrames: [...path.frameToMessageIndex.keys()],
    frameToMessageIndex: path.frameToMessageIndex,
  };
}

/** What stands in front of the messages. */
function frontOf({ head }: Path): Pick<RenderedContext, "system" | "tools"> {
  const parsed = (place: "tools" | "system") =>
    head
      .filter((unit) => unit.place === place)
      .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString("utf8")));
  return { system: parsed("system") as WireBlock[], tools: parsed("tools").flat() as ModelTool[] };
}

function chunkOf({ role, content, tokens, blockIds }: RenderedPiece): RenderedChunk {
  return { text: wordsIn(content) ?? JSON.stringify(content), tokens, role, blockIds };
}

/** Null: it is no text. */
function wordsIn(content: Json): string | null {
  const { type, text } = content as Readonly<Record<string, Json>>; // pieces are objects or lists
  return type === "text" && typeof text === "string" ? text : null;
}

/** What is asked of the provider. Once an agent has called tools often enough, it must answer in words. */
export function requestOf(agent: Agent, path: Path, rounds: number): ModelRequest {
  return {
    model: agent.model,
    ...frontOf(path),
    messages: path.messages.map(({ role, content }) => ({ role, content })),
    toolChoice: rounds >= (agent.roundsMax ?? usual.roundsMax) ? "none" : "auto",
    maxTokens: agent.maxTokens ?? usual.maxTokens,
    stopSequences: agent.stopSequences ?? [],
    marks: marksOf(path),
  };
}

/** Where the prompt before this one ended, where this one ends, and the part that changes least. */
function marksOf({ messages, mark }: Path): readonly Mark[] {
  const message = messages.length - 1;
  const block = (messages[message]?.content.length ?? 0) - 1;
  const before: readonly Mark[] = mark === null ? [] : [{ in: "message", ...mark }];
  return [{ in: "system" }, ...before, ...(block < 0 ? [] : [{ in: "message", message, block } as const])];
}

/** By which a prompt is known in the log, without its text. */
export function contextHash(request: ModelRequest): string {
  const { marks: _, ...rest } = request;
  return hashContent(canonicalJson(rest));
}
