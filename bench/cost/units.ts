import { hashContent } from "../../src/base/index.ts";
import {
  isClearing,
  textBlock,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../src/protocols/index.ts";
import { instructions } from "../../src/render/index.ts";
import { type Counter, estimateText, estimateTokens } from "../../src/tokens/index.ts";
import type { WireBlock } from "../../test/support/recordings.ts";
import { messageTokens } from "../../test/tokens/replay.ts";
import { nonce } from "../replay/player.ts";
import type { PromptUnit } from "./cache.ts";

/** What of ours a unit is; null: the client's or the model's. */
export type OwnKind = "instructions" | "header" | "tail" | null;
export type SizedUnit = PromptUnit & { readonly own: OwnKind };

export type SizerOptions = {
  readonly model: string;
  /** What our instructions and tools are filled up to. */
  readonly ownTokens: number;
  readonly count: Counter;
};

/** Turns requests into units with their tokens. Each unit is looked at once. */
export class Sizer {
  readonly #options: SizerOptions;
  readonly #sized = new Map<string, { readonly tokens: number; readonly own: OwnKind }>();
  readonly #groups = new WeakMap<WireGroup, readonly SizedUnit[]>();
  readonly #instructions = hashContent(textBlock(instructions(nonce)));
  readonly #instructionTokens: number;

  constructor(options: SizerOptions) {
    this.#options = options;
    const text = instructions(nonce);
    const exact = options.count(text);
    // Filled up with words of the same kind.
    const filled = Math.max(1, options.ownTokens / exact);
    this.#instructionTokens = Math.ceil(estimateText(text, options.model) * filled);
  }

  /** In the order in which a provider reads them: tools, system, messages. */
  units(request: WireRequest): readonly SizedUnit[] {
    const { tools, system, messages } = request;
    const lastUser = messages.findLastIndex(({ role }) => role === "user");
    const shown = messages.filter(({ head }, at) => at > lastUser || !isClearing(head));
    return [tools, system, ...shown].flatMap((group) => this.#unitsOf(request, group));
  }

  #unitsOf(request: WireRequest, group: WireGroup): readonly SizedUnit[] {
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    const units = group.units.map((unit, at): SizedUnit => {
      const { tokens, own } = this.#size({ request, group, unit });
      const { section, role, hash, mark, type } = unit;
      return {
        key: `${section === "messages" && at === 0 ? "<" : ""}${role} ${hash}`,
        tokens,
        own,
        isMarked: mark !== null,
        isUser: section === "messages" && role === "user",
        run: type === "tool_use" ? "call" : type === "tool_result" ? "result" : null,
      };
    });
    this.#groups.set(group, units);
    return units;
  }

  #size({ request, group, unit }: Looked): { readonly tokens: number; readonly own: OwnKind } {
    const name = `${unit.role} ${unit.hash}`;
    const known = this.#sized.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(unitBytes(request.bytes, group.range.start, unit));
    const own = unit.hash === this.#instructions ? "instructions" : ownKind(bytes);
    const sized = { tokens: this.#tokens(unit, own, bytes), own };
    this.#sized.set(name, sized);
    return sized;
  }

  #tokens({ section, role }: WireUnit, own: OwnKind, bytes: Buffer): number {
    const { model } = this.#options;
    if (own === "instructions") return this.#instructionTokens;
    if (section !== "messages") return estimateTokens(bytes.length, model).count;
    const block = JSON.parse(bytes.toString("utf8")) as WireBlock;
    return messageTokens({ role, content: [block] }, model);
  }
}

type Looked = { readonly request: WireRequest; readonly group: WireGroup; readonly unit: WireUnit };

const textHead = '{"type":"text","text":"';
const header = new RegExp(`^\\[${nonce} turn \\d+, `);

/** No recording has our mark in it. */
function ownKind(bytes: Buffer): OwnKind {
  const start = bytes.toString("utf8", 0, 200);
  if (!start.startsWith(textHead) || !start.includes(nonce)) return null;
  return header.test(start.slice(textHead.length)) ? "header" : "tail";
}
