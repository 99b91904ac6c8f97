import { hashContent } from "../../base/index.ts";
import { commandTools } from "../../commands/index.ts";
import type { BlockKind } from "../../engine/index.ts";
import {
  textBlock,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../protocols/index.ts";
import { instructions } from "../../render/index.ts";
import { type Counter, estimateText } from "../../tokens/index.ts";
import type { WireBlock } from "../../transcripts/index.ts";
import { blockText } from "./block-text.ts";
import type { PromptUnit } from "./cache.ts";
import { messageTokens } from "./message-tokens.ts";
import { nonce } from "./player.ts";

/** What a stream is told from the start, and what one is told that joins later. */
const told = {
  first: instructions(nonce, { hasTools: true }),
  late: instructions(nonce, { hasTools: false }),
};

/** What of ours a unit is; null: the client's or the model's. */
export type OwnKind = "instructions" | "header" | "tail" | null;
export type SizedUnit = PromptUnit &
  Look & {
    readonly role: string;
    readonly kind: BlockKind;
    /** The call it makes or answers. */
    readonly callId: string | null;
    /** The same wherever it stands in its message. */
    readonly bare: string;
  };

/** What is known of a unit once it was looked at. */
type Look = { readonly tokens: number; readonly own: OwnKind; readonly text: string };

export type SizerOptions = {
  readonly model: string;
  /** What our instructions and tools are filled up to. */
  readonly ownTokens: number;
  readonly count: Counter;
};

/** Sizes the units of requests. Each unit is looked at once. */
export class Sizer {
  readonly #options: SizerOptions;
  readonly #looks = new Map<string, Look>();
  readonly #groups = new WeakMap<WireGroup, readonly SizedUnit[]>();
  /** Tokens of our instructions, by the hash of what says them. */
  readonly #instructions: ReadonlyMap<string, number>;

  constructor(options: SizerOptions) {
    this.#options = options;
    const tools = commandTools.reduce((sum, tool) => sum + options.count(JSON.stringify(tool)), 0);
    // Who joins later has no tools of ours, and is charged as much as if it had.
    this.#instructions = new Map([
      [hashContent(textBlock(told.first)), filledTokens(told.first, options.ownTokens - tools, options)],
      [hashContent(textBlock(told.late)), filledTokens(told.late, options.ownTokens, options)],
    ]);
  }

  /** The units of one message, or of a section before the messages. */
  unitsOf(request: WireRequest, group: WireGroup): readonly SizedUnit[] {
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    const units = group.units.map((unit, at): SizedUnit => {
      const { section, role, kind, hash, mark, type, callId } = unit;
      const bare = `${role} ${hash}`;
      return {
        ...this.#look({ request, group, unit }),
        bare,
        key: section === "messages" && at === 0 ? `<${bare}` : bare,
        role,
        kind,
        callId,
        isMarked: mark !== null,
        isUser: section === "messages" && role === "user",
        run: type === "tool_use" ? "call" : type === "tool_result" ? "result" : null,
      };
    });
    this.#groups.set(group, units);
    return units;
  }

  #look({ request, group, unit }: Looked): Look {
    const name = `${unit.role} ${unit.hash}`;
    const known = this.#looks.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(unitBytes(request.bytes, group.range.start, unit));
    const block = JSON.parse(bytes.toString("utf8")) as WireBlock;
    const filled = this.#instructions.get(unit.hash);
    const own = filled === undefined ? ownKind(bytes) : "instructions";
    const look = { own, text: blockText(block), tokens: filled ?? this.#tokens({ unit, block }) };
    this.#looks.set(name, look);
    return look;
  }

  #tokens({ unit: { section, role }, block }: Parsed): number {
    const { model } = this.#options;
    if (section === "tools") return estimateText(JSON.stringify(block), model);
    return messageTokens({ role, content: [block] }, model);
  }
}

/** Of a text that is filled up with words of the same kind to so many tokens by the exact count. */
function filledTokens(text: string, tokens: number, { count, model }: SizerOptions): number {
  return Math.ceil(estimateText(text, model) * Math.max(1, tokens / count(text)));
}

type Parsed = { readonly unit: WireUnit; readonly block: WireBlock };
type Looked = { readonly request: WireRequest; readonly group: WireGroup; readonly unit: WireUnit };

const textHead = '{"type":"text","text":"';
const header = new RegExp(`^\\[${nonce} turn \\d+, `);
const tail = new RegExp(`^\\[(?:CONTEXT MANIFEST ${nonce} |${nonce} turn \\d+: )`);

/** No recording has our mark in it. */
function ownKind(bytes: Buffer): OwnKind {
  const start = bytes.toString("utf8", 0, 80);
  if (!start.startsWith(textHead)) return null;
  const text = start.slice(textHead.length);
  return header.test(text) ? "header" : tail.test(text) ? "tail" : null;
}
