import { hashContent } from "../../base/index.ts";
import { commandTools } from "../../commands/index.ts";
import type { Part } from "../../content/index.ts";
import type { BlockKind } from "../../engine/frames/index.ts";
import { instructions, readNote } from "../../notes/index.ts";
import {
  protocolOf,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../protocols/index.ts";
import { type ExactCounter, estimateText } from "../../tokens/index.ts";
import { recordingRoute } from "../../transcripts/index.ts";
import { plainPartText } from "./block-text.ts";
import { partsTokens } from "./message-tokens.ts";
import { playedNonce } from "./request-player.ts";
import type { CacheUnit } from "./simulated-cache.ts";

/** The instructions for a stream that is managed from its start (`first`) or from later on (`late`). */
const ownInstructions = {
  first: instructions(playedNonce, { hasTools: true }),
  late: instructions(playedNonce, { hasTools: false }),
};

/** Which note of ours a unit is. Null if it is the client's or the model's. */
export type OwnKind = "instructions" | "header" | "tail" | null;
export type SizedPromptUnit = CacheUnit &
  UnitSize & {
    readonly role: string;
    readonly kind: BlockKind;
    /** The id of the call that the unit makes or answers. */
    readonly callId: string | null;
    /** Equal for equal units, wherever they stand in a message. */
    readonly bare: string;
  };

type UnitSize = { readonly tokens: number; readonly own: OwnKind; readonly text: string };

export type UnitSizerOptions = {
  readonly model: string;
  /** Our instructions and tools count as this many tokens, even if they are shorter. */
  readonly ownTokens: number;
  readonly count: ExactCounter;
};

/** Recordings are played in this format. */
const protocol = protocolOf(recordingRoute);

/** Counts the tokens of the units of requests, each unit once. */
export class UnitSizer {
  readonly #options: UnitSizerOptions;
  readonly #sizes = new Map<string, UnitSize>();
  readonly #groups = new WeakMap<WireGroup, readonly SizedPromptUnit[]>();
  /** Tokens of our instructions, by the hash of their block. */
  readonly #instructions: ReadonlyMap<string, number>;

  constructor(options: UnitSizerOptions) {
    this.#options = options;
    const sizes = commandTools.map((tool) => options.count(textOf(protocol.write.tool(tool))));
    const tools = sizes.reduce((sum, size) => sum + size, 0);
    // A stream that is managed later has no tools of ours, and is charged as if it had.
    this.#instructions = new Map([
      [
        hashContent(protocol.write.text(ownInstructions.first)),
        filledTokens(ownInstructions.first, options.ownTokens - tools, options),
      ],
      [
        hashContent(protocol.write.text(ownInstructions.late)),
        filledTokens(ownInstructions.late, options.ownTokens, options),
      ],
    ]);
  }

  /** The units of one message, or of a section before the messages. */
  unitsOf(request: WireRequest, group: WireGroup): readonly SizedPromptUnit[] {
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    const units = group.units.map((unit, at): SizedPromptUnit => {
      const { section, role, kind, hash, mark, part, callId } = unit;
      const bare = `${role} ${hash}`;
      return {
        ...this.#sizeOf({ request, group, unit }),
        bare,
        key: section === "messages" && at === 0 ? `<${bare}` : bare,
        role,
        kind,
        callId,
        isMarked: mark !== null,
        isUser: section === "messages" && role === "user",
        run: part === "call" || part === "result" ? part : null,
      };
    });
    this.#groups.set(group, units);
    return units;
  }

  #sizeOf({
    request,
    group,
    unit,
  }: {
    readonly request: WireRequest;
    readonly group: WireGroup;
    readonly unit: WireUnit;
  }): UnitSize {
    const name = `${unit.role} ${unit.hash}`;
    const known = this.#sizes.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(unitBytes(request.bytes, group.range.start, unit));
    const part = protocol.read.part(bytes);
    const filled = this.#instructions.get(unit.hash);
    const own = filled === undefined ? ownKind(bytes) : "instructions";
    const size = { own, text: plainPartText(part), tokens: filled ?? this.#tokens(unit, bytes, part) };
    this.#sizes.set(name, size);
    return size;
  }

  #tokens({ section }: WireUnit, bytes: Buffer, part: Part): number {
    const { model } = this.#options;
    return section === "tools" ? estimateText(textOf(bytes), model) : partsTokens([part], model);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}

/** The estimate for a text that is filled up with similar words to `tokens` by the exact count. */
function filledTokens(text: string, tokens: number, { count, model }: UnitSizerOptions): number {
  return Math.ceil(estimateText(text, model) * Math.max(1, tokens / count(text)));
}

/** Recognises notes of ours by the nonce, which no recording contains. */
function ownKind(bytes: Buffer): OwnKind {
  if (!bytes.includes(playedNonce)) return null;
  const text = protocol.read.text(bytes);
  const note = text === null ? null : readNote(text);
  if (note?.nonce !== playedNonce) return null;
  return note.type === "header"
    ? "header"
    : note.type === "manifest" || note.type === "change-note"
      ? "tail"
      : null;
}
