import { bare, boundText, boundToolText, byCodeUnit, canonicalText } from "./bound-text.ts";
import type { JsonObject, NumberTexts } from "./json-text.ts";
import {
  type Block,
  blocksOf,
  isThinking,
  type ParsedMessage,
  type ParsedRequest,
  type Role,
} from "./request.ts";
import { changeOf } from "./rules-system.ts";
import { toolName } from "./rules-tools.ts";
import { digestOf } from "./signatures.ts";

/**
 * A digest of everything before a place in a conversation, carried along block by block. Neighbouring
 * messages of one role count as one, so a block is joined with its role and not with its message.
 *
 * Reasoning itself is left out: a run of it may be dropped from the front without changing what later blocks
 * are bound to. Holes are found by the chain of reasoning blocks instead.
 */
export class PrefixChain {
  readonly #numbers: NumberTexts;
  readonly #deferred: ReadonlyMap<string, string>;
  readonly #head: string;
  #state = "";

  constructor(request: ParsedRequest) {
    this.#numbers = request.numbers;
    this.#deferred = new Map(
      request.tools
        .filter(isDeferred)
        .map((tool) => [toolName(tool) ?? "", boundToolText(tool, request.numbers)]),
    );
    // A deferred tool counts from where it is named: adding one that nobody has named yet changes nothing.
    const tools = request.tools
      .filter((tool) => !isDeferred(tool))
      .map((tool) => boundToolText(tool, request.numbers))
      .sort(byCodeUnit);
    const system = request.system.map((block) => boundText(block, request.numbers));
    const spoken = system.filter((text) => text !== null);
    this.#head = digestOf(digestOf(...tools), digestOf(...spoken));
  }

  get prefix(): string {
    return digestOf(this.#head, this.#state);
  }

  /** What a summary of the conversation so far must carry, to stand for it. */
  get state(): string {
    return this.#state;
  }

  resume(state: string): void {
    this.#state = state;
  }

  enter(message: ParsedMessage): void {
    if (message.role !== "system") return;
    const { content: _, ...fields } = message.asSent;
    this.#join("message", canonicalText(bare(fields), this.#numbers));
  }

  add(role: Role, block: Block): void {
    if (isThinking(block)) return;
    // The provider drops everything before its own summary.
    if (block.type === "compaction") this.#state = "";
    const text = boundText(block, this.#numbers);
    if (text !== null) this.#join(role, text);
    for (const name of namesIn(block)) {
      const definition = this.#deferred.get(name);
      if (definition !== undefined) this.#join("tool", definition);
    }
  }

  #join(label: string, text: string): void {
    this.#state = digestOf(this.#state, label, text);
  }
}

function isDeferred(tool: JsonObject): boolean {
  return tool["defer_loading"] === true;
}

/** The tools that a block names, and thereby makes part of the conversation. */
function namesIn(block: Block): readonly string[] {
  switch (block.type) {
    case "tool_use":
      return [String(block["name"])];
    case "tool_addition":
      return [changeOf(block).name ?? ""];
    case "tool_result":
      return blocksOf(block["content"])
        .filter(({ type }) => type === "tool_reference")
        .map((part) => String(part["tool_name"]));
    default:
      return [];
  }
}
