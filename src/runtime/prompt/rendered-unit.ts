import { type MessageId, must, type Seq } from "../../base/index.ts";
import type { Block, BlockKind, Unit, UnitOrigin } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { type BlockView, blockViewOf, type Moment } from "../../engine/moment/index.ts";
import { safeText, shortened, withoutNonce } from "../../notes/index.ts";
import { unitTokens } from "../../tokens/index.ts";
import type { ContentReader } from "../content-cache.ts";
import { wire } from "../wire.ts";
import { type BlockForm, blockFormOf, originalForm } from "./block-form.ts";
import { isOwnBlock, type VisibleFrame } from "./visible-frames.ts";

/** A unit of a prompt; it keeps its bytes for as long as it is sent. */
export type RenderedUnit = {
  readonly section: "tools" | "system" | "message";
  readonly role: "user" | "assistant";
  readonly bytes: Uint8Array;
  readonly tokens: number;
  readonly shows: readonly Unit["shows"][number][];
  /** The frame it comes from. Null for a note of ours. */
  readonly frame: Seq | null;
  readonly origin: UnitOrigin;
  readonly anchor: string;
  readonly message: MessageId | null;
};

export type UnitContext = {
  readonly moment: Moment;
  readonly view: View;
  readonly nonce: string;
  readonly model: string | null;
  readonly read: ContentReader;
  /** True if the units begin a path. */
  readonly isStart: boolean;
  /** Upper limits of the level, by block, if the prompt would be too large otherwise. */
  readonly atMost?: ReadonlyMap<number, "trimmed" | "minimal" | "placeholder">;
};

/**
 * The units of a frame: the agent's own blocks unchanged, those of others under a line that names the
 * speaker.
 */
export function unitsOfFrame(context: UnitContext, { blocks }: VisibleFrame): readonly RenderedUnit[] {
  const { moment, view, nonce, model, read, isStart, atMost } = context;
  const units: RenderedUnit[] = [];
  for (const block of blocks) {
    const blockView = must(blockViewOf(moment, view, block.id), "an agent sees what its view reaches");
    const limit = atMost?.get(block.id);
    const bytes = read(block.content);
    // A call of the last answer stays unchanged: reasoning after it in the same answer is bound to it.
    const isNewCall = !isStart && isOwnBlock(block, view) && block.kind === "tool-call";
    const input = { bytes, nonce, model, ...(limit !== undefined && { atMost: limit }) };
    const form = isNewCall ? originalForm : blockFormOf(blockView, input);
    units.push(...unitsOfBlock(context, blockView, { bytes, form }));
  }
  return units;
}

type FormedBlock = { readonly bytes: Uint8Array; readonly form: BlockForm };

function unitsOfBlock(
  context: UnitContext,
  blockView: BlockView,
  formed: FormedBlock,
): readonly RenderedUnit[] {
  const { block } = blockView;
  const { bytes, form } = formed;
  const { replacement } = form;
  const isOwn = isOwnBlock(block, context.view);
  const shown = replacement === null ? bytes : (wire.write.replace(bytes, replacement) ?? bytes);
  if (isOwn && block.kind !== "memory") return [blockUnit(context, blockView, { bytes: shown, form })];
  const header = headerLine(context, blockView);
  const spoken = wire.read.text(shown);
  if (spoken === null)
    return [noteUnit(context, blockView, header), blockUnit(context, blockView, { bytes: shown, form })];
  // Only texts of ours carry the nonce; it is removed from everything others wrote.
  const text = replacement === null ? withoutNonce(spoken, context.nonce) : spoken;
  return [blockUnit(context, blockView, { bytes: wire.write.text(`${header}\n${text}`), form })];
}

const speakerCharsMax = 60;
const kindNames: Readonly<Partial<Record<BlockKind, string>>> = {
  system: "system",
  memory: "memory",
  notice: "notice",
};

/** `[k7f3 bob, message 12 #41]`: only we can write the nonce, so the line names the real speaker. */
function headerLine({ nonce }: UnitContext, { block }: BlockView): string {
  const name = kindNames[block.kind] ?? speakerLabel(block, nonce);
  return `[${nonce} ${name}, message ${block.message} #${block.id}]`;
}

/** A person may have the name of an agent, so the label says whether the speaker is an agent. */
export function speakerLabel({ kind, speaker }: Pick<Block, "kind" | "speaker">, nonce: string): string {
  const name = speakerName(speaker, nonce);
  return kind === "assistant" ? `agent ${name}` : name;
}

/** A name that could be read as several words, or as one of our labels, stands in quotes; labels never do. */
export function speakerName(speaker: string, nonce: string): string {
  const name = shortened(safeText(speaker, nonce), speakerCharsMax) || "somebody";
  const isPlain = /^[A-Za-z0-9_.-]+$/.test(name) && !labelWords.includes(name.toLowerCase());
  return isPlain ? name : `"${name}"`;
}

const labelWords = ["agent", "system", "memory", "notice", "pinned", "you", "elsewhere", "earlier", "end"];

const assistantKinds: readonly BlockKind[] = ["assistant", "reasoning", "tool-call"];

function blockUnit(
  context: UnitContext,
  { block }: BlockView,
  { bytes, form: { as } }: FormedBlock,
): RenderedUnit {
  const { id, kind, message, anchor, addedSeq } = block;
  const isAssistant = isOwnBlock(block, context.view) && assistantKinds.includes(kind);
  return {
    section: "message",
    role: isAssistant ? "assistant" : "user",
    bytes,
    tokens: unitTokens({ bytes, kind }, context.model),
    shows: [{ block: id, as }],
    frame: addedSeq,
    origin: isAssistant ? "model" : "client",
    anchor,
    message,
  };
}

function noteUnit(context: UnitContext, { block }: BlockView, text: string): RenderedUnit {
  return { ...ownUnit(text, context.model), frame: block.addedSeq };
}

/** A note of ours as a unit. */
export function ownUnit(text: string, model: string | null, anchor = "aperture"): RenderedUnit {
  const bytes = wire.write.text(text);
  return {
    section: "message",
    role: "user",
    bytes,
    tokens: unitTokens({ bytes, kind: "user" }, model),
    shows: [],
    frame: null,
    origin: "aperture",
    anchor,
    message: null,
  };
}

export function headUnit(section: "tools" | "system", bytes: Uint8Array, model: string | null): RenderedUnit {
  return {
    ...ownUnit("", model, section),
    section,
    bytes,
    tokens: unitTokens({ bytes, kind: "system" }, model),
    origin: "client",
  };
}
