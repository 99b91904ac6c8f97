import { boundText, boundToolText, byCodeUnit, canonicalText, withoutSilentFields } from "./bound-text.ts";
import type { JsonObject, NumberTexts } from "./json-text.ts";
import {
  type ContentBlock,
  contentBlocks,
  isThinking,
  type ParsedMessage,
  type ParsedRequest,
  type Role,
} from "./parsed-request.ts";
import { toolChangeOf } from "./rules/system-rules.ts";
import { toolName } from "./rules/tool-rules.ts";
import { digestOf } from "./signatures.ts";

/**
 * A running digest of everything before a point in a conversation, block by block. Neighbouring messages of
 * one role count as one, so a block is joined with its role and not with its message.
 *
 * Reasoning itself is left out: a run of it may be dropped from the front without changing the prefix of
 * later blocks. The chain of reasoning blocks finds holes instead.
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
    // A deferred tool counts from the point where it is named: adding an unnamed one changes nothing.
    const tools = request.tools
      .filter((tool) => !isDeferred(tool))
      .map((tool) => boundToolText(tool, request.numbers))
      .sort(byCodeUnit);
    const system = request.system.map((block) => boundText(block, request.numbers));
    const systemTexts = system.filter((text) => text !== null);
    this.#head = digestOf(digestOf(...tools), digestOf(...systemTexts));
  }

  get prefix(): string {
    return digestOf(this.#head, this.#state);
  }

  /** A summary of the conversation so far carries this state, so that `resume` can continue from it. */
  get state(): string {
    return this.#state;
  }

  resume(state: string): void {
    this.#state = state;
  }

  enter(message: ParsedMessage): void {
    if (message.role !== "system") return;
    const { content: _, ...fields } = message.asSent;
    this.#join("message", canonicalText(withoutSilentFields(fields), this.#numbers));
  }

  add(role: Role, block: ContentBlock): void {
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

/** The tools that a block names; from then on they are part of the conversation. */
function namesIn(block: ContentBlock): readonly string[] {
  switch (block.type) {
    case "tool_use":
      return [String(block["name"])];
    case "tool_addition":
      return [toolChangeOf(block).name ?? ""];
    case "tool_result":
      return contentBlocks(block["content"])
        .filter(({ type }) => type === "tool_reference")
        .map((part) => String(part["tool_name"]));
    default:
      return [];
  }
}
