import { canonicalJson, hashContent } from "../base/index.ts";
import type { Agent } from "./agent.ts";
import { usual } from "./agent.ts";
import type { Path, RenderedMessage } from "./path.ts";
import type { Mark, ModelRequest, ModelTool, WireBlock } from "./provider.ts";

/** A prompt as an agent gets it, and where each part of it comes from. */
export type RenderedContext = {
  readonly system: readonly WireBlock[];
  readonly tools: readonly ModelTool[];
  readonly messages: readonly RenderedMessage[];
  /** By our own count. */
  readonly totalTokens: number;
  readonly renderedFrames: readonly number[];
  /** By frame: the last message that shows something of it. */
  readonly frameToMessageIndex: ReadonlyMap<number, number>;
};

export function contextOf(path: Path): RenderedContext {
  const parsed = (place: "tools" | "system") =>
    path.head
      .filter((unit) => unit.place === place)
      .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString("utf8")));
  return {
    system: parsed("system") as WireBlock[],
    tools: parsed("tools").flat() as ModelTool[],
    messages: path.messages,
    totalTokens: path.tokens,
    renderedFrames: [...path.frameToMessageIndex.keys()],
    frameToMessageIndex: path.frameToMessageIndex,
  };
}

/** What is asked of the provider. Once an agent has called tools often enough, it must answer in words. */
export function requestOf(agent: Agent, path: Path, rounds: number): ModelRequest {
  const { system, tools, messages } = contextOf(path);
  return {
    model: agent.model,
    system,
    tools,
    messages: messages.map(({ role, content }) => ({ role, content })),
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
