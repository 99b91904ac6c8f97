import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject, type NumberTexts } from "./json-text.ts";
import type { ModelRules } from "./model-rules.ts";

export type Endpoint = "messages" | "count_tokens";
export type Role = "user" | "assistant" | "system";

/** A block always has a type; the rest depends on it. */
export type ContentBlock = JsonObject & { readonly type: string };

export type ParsedMessage = {
  readonly role: Role;
  /** A string is one text block here: the API makes no difference between them. */
  readonly content: readonly ContentBlock[];
  readonly asSent: JsonObject;
};

/** A request whose shape has been checked. Rules and models read this and never the bytes. */
export type ParsedRequest = {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly rules: ModelRules;
  readonly version: string;
  readonly betas: ReadonlySet<string>;
  readonly system: readonly ContentBlock[];
  readonly tools: readonly JsonObject[];
  readonly messages: readonly ParsedMessage[];
  readonly thinking: JsonObject | null;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  /** The whole body as it was sent. */
  readonly body: JsonObject;
  readonly numbers: NumberTexts;
  /** Unknown top-level fields: accepted, and worth a look in a test. */
  readonly unknownFields: readonly string[];
};

/** The path of a block, as error messages name it. */
export function blockPath({ message, block }: { readonly message: number; readonly block: number }): string {
  return `messages.${message}.content.${block}`;
}

export function contentBlocks(content: Json | undefined): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return isList(content) ? (content as readonly ContentBlock[]) : []; // the shape rules have seen every block
}

export function textOfBlock(block: ContentBlock): string {
  const text = block["text"];
  return typeof text === "string" ? text : "";
}

export function isThinking(block: ContentBlock): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** A message that only sets the effort from here on: the rules about neighbours ignore it. */
export function isEffortOnly(message: ParsedMessage): boolean {
  return (
    message.role === "system" && message.content.length === 0 && isObject(message.asSent["output_config"])
  );
}

/** Neighbouring messages of one role, which count as one turn. */
export type SpeakerTurn = {
  readonly role: Role;
  readonly blocks: readonly PlacedBlock[];
  /** Index of its first message. */
  readonly first: number;
};

export type PlacedBlock = { readonly block: ContentBlock; readonly message: number; readonly index: number };

export function speakerTurns(messages: readonly ParsedMessage[]): readonly SpeakerTurn[] {
  const turns: { role: Role; blocks: PlacedBlock[]; first: number }[] = [];
  for (const [number, message] of messages.entries()) {
    if (isEffortOnly(message)) continue;
    const placed = message.content.map((block, index) => ({ block, message: number, index }));
    const last = turns.at(-1);
    if (last !== undefined && last.role === message.role && message.role !== "system") {
      last.blocks.push(...placed);
    } else turns.push({ role: message.role, blocks: placed, first: number });
  }
  return turns;
}
