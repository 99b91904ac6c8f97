import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject, type NumberTexts } from "./json-text.ts";
import type { ModelRules } from "./models.ts";

export type Endpoint = "messages" | "count_tokens";
export type Role = "user" | "assistant" | "system";

/** A block always has a type; the rest depends on it. */
export type Block = JsonObject & { readonly type: string };

export type ParsedMessage = {
  readonly role: Role;
  /** A string as it was sent is one text block here: the interface makes no difference between them. */
  readonly content: readonly Block[];
  readonly asSent: JsonObject;
};

/** A request whose shape is sound, read once. Rules and models look at this and never at bytes. */
export type ParsedRequest = {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly rules: ModelRules;
  readonly version: string;
  readonly betas: ReadonlySet<string>;
  readonly system: readonly Block[];
  readonly tools: readonly JsonObject[];
  readonly messages: readonly ParsedMessage[];
  readonly thinking: JsonObject | null;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  /** Everything as it was sent. */
  readonly body: JsonObject;
  readonly numbers: NumberTexts;
  /** Top-level fields that nobody knows: accepted, and worth a look in a test. */
  readonly unknownFields: readonly string[];
};

/** Says where a block stands, in the words of error messages. */
export function placeOf({ message, block }: { readonly message: number; readonly block: number }): string {
  return `messages.${message}.content.${block}`;
}

export function blocksOf(content: Json | undefined): readonly Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return isList(content) ? (content as readonly Block[]) : []; // the shape rules have seen every block
}

export function textOf(block: Block): string {
  const text = block["text"];
  return typeof text === "string" ? text : "";
}

export function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** A message that only sets the effort from here on: the rules about places leave it alone. */
export function isEffortOnly(message: ParsedMessage): boolean {
  return (
    message.role === "system" && message.content.length === 0 && isObject(message.asSent["output_config"])
  );
}

/** What one speaker said in one go: neighbouring messages of one role are one turn. */
export type SpokenTurn = {
  readonly role: Role;
  readonly blocks: readonly PlacedBlock[];
  /** The message it begins with. */
  readonly first: number;
};

export type PlacedBlock = { readonly block: Block; readonly message: number; readonly index: number };

export function turnsOf(messages: readonly ParsedMessage[]): readonly SpokenTurn[] {
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
