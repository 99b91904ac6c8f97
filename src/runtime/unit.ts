import { type MessageId, must, type Seq } from "../base/index.ts";
import type { Block, BlockKind, Moment, Origin, Place, ShownBlock, View } from "../engine/index.ts";
import { placeOf } from "../engine/index.ts";
import { reworded, spokenIn, textBlock } from "../protocols/index.ts";
import { safeText, shortened, withoutNonce } from "../render/index.ts";
import { unitTokens } from "../session/index.ts";
import type { ReadContent } from "./contents.ts";
import { type FocusedFrame, isOwn } from "./focus.ts";
import { type Showing, showingOf, wholly } from "./showing.ts";

/** A piece of a prompt, with the bytes it keeps for as long as it is sent. */
export type RenderedUnit = {
  readonly place: "tools" | "system" | "message";
  readonly role: "user" | "assistant";
  readonly bytes: Uint8Array;
  readonly tokens: number;
  readonly shows: readonly ShownBlock[];
  /** The frame it comes from; null: it is ours. */
  readonly frame: Seq | null;
  readonly origin: Origin;
  readonly anchor: string;
  readonly message: MessageId | null;
};

export type Writing = {
  readonly moment: Moment;
  readonly view: View;
  readonly nonce: string;
  readonly model: string | null;
  readonly read: ReadContent;
  /** Whether it begins a path. */
  readonly isStart: boolean;
  /** Shown by at most so much, where all of them together would be too much. */
  readonly atMost?: ReadonlyMap<number, "trimmed" | "minimal" | "placeholder">;
};

/** The units of a frame: own words as they were said, those of others under the name of who said them. */
export function unitsOf(writing: Writing, { blocks }: FocusedFrame): readonly RenderedUnit[] {
  const { moment, view, nonce, model, read, isStart, atMost } = writing;
  const units: RenderedUnit[] = [];
  for (const block of blocks) {
    const place = must(placeOf(moment, view, block.id), "an agent sees what its view reaches");
    const limit = atMost?.get(block.id);
    const bytes = read(block.content);
    // As it was just said: reasoning that comes behind it in the same answer is bound to it.
    const isJustSaid = !isStart && isOwn(block, view) && block.kind === "tool-call";
    const asked = { bytes, nonce, model, ...(limit !== undefined && { atMost: limit }) };
    const showing = isJustSaid ? wholly : showingOf(place, asked);
    units.push(...unitsOfBlock(writing, place, { bytes, showing }));
  }
  return units;
}

type Written = { readonly bytes: Uint8Array; readonly showing: Showing };

function unitsOfBlock(writing: Writing, place: Place, written: Written): readonly RenderedUnit[] {
  const { block } = place;
  const { bytes, showing } = written;
  const own = isOwn(block, writing.view);
  const shown = showing.words === null ? bytes : (reworded(bytes, showing.words) ?? bytes);
  if (own && block.kind !== "memory") return [unit(writing, place, { bytes: shown, showing })];
  const head = headLine(writing, place);
  const said = spokenIn(shown);
  if (said?.type !== "text")
    return [noteUnit(writing, place, head), unit(writing, place, { bytes: shown, showing })];
  // Words of ours carry the mark; nobody else's do, whatever they write.
  const words = showing.words === null ? withoutNonce(said.text, writing.nonce) : said.text;
  return [unit(writing, place, { bytes: textBlock(`${head}\n${words}`), showing })];
}

const speakerCharsMax = 60;
const kindNames: Readonly<Partial<Record<BlockKind, string>>> = {
  system: "system",
  memory: "memory",
  notice: "notice",
};

/** `[k7f3 bob, message 12 #41]`: only we can write it, so only who spoke can have this name. */
function headLine({ nonce }: Writing, { block }: Place): string {
  const name = kindNames[block.kind] ?? whoSpoke(block, nonce);
  return `[${nonce} ${name}, message ${block.message} #${block.id}]`;
}

/** A person may have the name of an agent; that it is one only we say. */
export function whoSpoke({ kind, speaker }: Pick<Block, "kind" | "speaker">, nonce: string): string {
  const name = speakerName(speaker, nonce);
  return kind === "assistant" ? `agent ${name}` : name;
}

/** A name that might read as more than one, or as a word of ours, stands in quotes: none of ours does. */
export function speakerName(speaker: string, nonce: string): string {
  const name = shortened(safeText(speaker, nonce), speakerCharsMax) || "somebody";
  const isPlain = /^[A-Za-z0-9_.-]+$/.test(name) && !ownWords.includes(name.toLowerCase());
  return isPlain ? name : `"${name}"`;
}

const ownWords = ["agent", "system", "memory", "notice", "pinned", "you", "elsewhere", "earlier", "end"];

const assistantKinds: readonly BlockKind[] = ["assistant", "reasoning", "tool-call"];

function unit(writing: Writing, { block }: Place, { bytes, showing: { as } }: Written): RenderedUnit {
  const { id, kind, message, anchor, addedSeq } = block;
  const isSaid = isOwn(block, writing.view) && assistantKinds.includes(kind);
  return {
    place: "message",
    role: isSaid ? "assistant" : "user",
    bytes,
    tokens: unitTokens({ bytes, kind }, writing.model),
    shows: [{ block: id, as }],
    frame: addedSeq,
    origin: isSaid ? "model" : "client",
    anchor,
    message,
  };
}

function noteUnit(writing: Writing, { block }: Place, text: string): RenderedUnit {
  return { ...ownUnit(text, writing.model), frame: block.addedSeq };
}

/** A text of ours among what the agent reads. */
export function ownUnit(text: string, model: string | null, anchor = "aperture"): RenderedUnit {
  const bytes = textBlock(text);
  return {
    place: "message",
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

export function headUnit(place: "tools" | "system", bytes: Uint8Array, model: string | null): RenderedUnit {
  return {
    ...ownUnit("", model, place),
    place,
    bytes,
    tokens: unitTokens({ bytes, kind: "system" }, model),
    origin: "client",
  };
}
