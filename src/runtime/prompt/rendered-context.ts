import { canonicalJson, hashContent, type Json, must } from "../../base/index.ts";
import type { SentRequestUnit } from "../../exchange/index.ts";
import { unitBytes, type WireGroup, type WireRequest } from "../../protocols/index.ts";
import { unitTokens } from "../../tokens/index.ts";
import type { Agent } from "../agent.ts";
import { agentDefaults } from "../agent.ts";
import type { CacheMark, ModelMessage, ModelRequest, ModelTool, WireBlock } from "../provider.ts";
import type { RunPrompt } from "./run-prompt.ts";

/** A message of a prompt, with the frames and blocks it shows. */
export type RenderedMessage = {
  readonly role: "user" | "assistant";
  readonly content: readonly WireBlock[];
  readonly sourceFrames: { readonly from: number; readonly to: number } | null;
  readonly blockIds: readonly number[];
};

/** A piece of a prompt as text, with its tokens and the blocks it shows. */
export type RenderedChunk = {
  /** The text of the piece; a piece that is not text is given as JSON. */
  readonly text: string;
  /** By our own count. */
  readonly tokens: number;
  readonly role: "tools" | "system" | "user" | "assistant";
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

/** A message or section of a body, parsed. The units of a body that did not change are the same objects. */
type ParsedGroup = {
  readonly blocks: readonly WireBlock[];
  readonly tokens: readonly number[];
  readonly total: number;
};

const parsedGroups = new WeakMap<WireGroup, ParsedGroup>();

function parsedGroup(request: WireRequest, group: WireGroup): ParsedGroup {
  const known = parsedGroups.get(group);
  if (known !== undefined) return known;
  const units = group.units.map((unit) => {
    const bytes = unitBytes(request.bytes, group.range.start, unit);
    return {
      block: JSON.parse(Buffer.from(bytes).toString("utf8")) as WireBlock,
      tokens: unitTokens({ bytes, kind: unit.kind }, request.model),
    };
  });
  const tokens = units.map((unit) => unit.tokens);
  const parsed = { blocks: units.map(({ block }) => block), tokens, total: sum(tokens) };
  parsedGroups.set(group, parsed);
  return parsed;
}

/** The tokens of a prompt by our own count. */
export function bodyTokens(body: WireRequest): number {
  return sum([body.tools, body.system, ...body.messages].map((group) => parsedGroup(body, group).total));
}

/** The parts before the messages. */
function frontOf(body: WireRequest): Pick<RenderedContext, "system" | "tools"> {
  const tools = parsedGroup(body, body.tools).blocks as readonly unknown[]; // each is a tool, not a block
  return { system: parsedGroup(body, body.system).blocks, tools: tools as readonly ModelTool[] };
}

function messageIn(body: WireRequest, group: WireGroup): ModelMessage {
  const role = group.role === "assistant" ? "assistant" : "user";
  return { role, content: parsedGroup(body, group).blocks };
}

/** The prompt as it would be sent. */
export function contextOf({ moment, client, body, plan }: RunPrompt): RenderedContext {
  const units = plan.report.fresh;
  const blockOf = ({ numbered }: SentRequestUnit): readonly number[] =>
    numbered === null ? [] : [numbered.block];
  const head = body.tools.units.length + body.system.units.length;
  const frameToMessageIndex = new Map<number, number>();
  const chunks: RenderedChunk[] = [...toolChunks(body), ...systemChunks(body)];
  let next = head;
  const messages = body.messages.map((group, index): RenderedMessage => {
    const message = messageIn(body, group);
    const { tokens } = parsedGroup(body, group);
    const shown = units.slice(next, next + group.units.length).map(blockOf);
    next += group.units.length;
    const frames = shown
      .flat()
      .map((id) => must(moment.state.blocks.get(id), "it is shown").block.addedSeq)
      .filter((seq) => client.frames.has(seq));
    for (const frame of frames) frameToMessageIndex.set(frame, index);
    chunks.push(
      ...message.content.map((block, at) =>
        chunkOf(message.role, block, { tokens: tokens[at], blockIds: shown[at] }),
      ),
    );
    const sourceFrames = frames.length === 0 ? null : { from: Math.min(...frames), to: Math.max(...frames) };
    return { ...message, sourceFrames, blockIds: shown.flat() };
  });
  return {
    ...frontOf(body),
    messages,
    chunks,
    totalTokens: bodyTokens(body),
    renderedFrames: [...frameToMessageIndex.keys()],
    frameToMessageIndex,
  };
}

type ChunkFacts = {
  readonly tokens: number | undefined;
  readonly blockIds?: readonly number[] | undefined;
};

function chunkOf(
  role: RenderedChunk["role"],
  block: WireBlock,
  { tokens = 0, blockIds = [] }: ChunkFacts,
): RenderedChunk {
  return { text: textIn(block) ?? JSON.stringify(block), tokens, role, blockIds };
}

/** All tools are one chunk. */
function toolChunks(body: WireRequest): readonly RenderedChunk[] {
  const { blocks, total } = parsedGroup(body, body.tools);
  if (blocks.length === 0) return [];
  return [{ text: JSON.stringify(blocks), tokens: total, role: "tools", blockIds: [] }];
}

function systemChunks(body: WireRequest): readonly RenderedChunk[] {
  const { blocks, tokens } = parsedGroup(body, body.system);
  return blocks.map((block, at) => chunkOf("system", block, { tokens: tokens[at] }));
}

/** Null if the content is not text. */
function textIn(content: Json): string | null {
  const { type, text } = content as Readonly<Record<string, Json>>; // pieces are objects
  return type === "text" && typeof text === "string" ? text : null;
}

/** The request to the provider. After `roundsMax` rounds of tool calls the agent must answer in text. */
export function requestOf(agent: Agent, body: WireRequest, rounds: number): ModelRequest {
  return {
    model: agent.model,
    ...frontOf(body),
    messages: body.messages.map((group) => messageIn(body, group)),
    toolChoice: rounds >= (agent.roundsMax ?? agentDefaults.roundsMax) ? "none" : "auto",
    maxTokens: agent.maxTokens ?? agentDefaults.maxTokens,
    stopSequences: agent.stopSequences ?? [],
    marks: marksOf(body),
  };
}

/** The cache marks as the ledger placed them. */
function marksOf({ system, messages }: WireRequest): readonly CacheMark[] {
  const inMessages = messages.flatMap(({ units }, message) =>
    units.flatMap(({ mark }, block): readonly CacheMark[] =>
      mark === null ? [] : [{ in: "message", message, block }],
    ),
  );
  return [...(system.isMarked ? [{ in: "system" } as const] : []), ...inMessages];
}

/** The hash that identifies a prompt in the log, without its text. */
export function contextHash(request: ModelRequest): string {
  const { marks: _, ...rest } = request;
  return hashContent(canonicalJson(rest));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
