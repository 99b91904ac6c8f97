import type { Seq } from "../../base/index.ts";
import type { AddedBlock, Block, BlockKind } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import type { LevelWish } from "../../exchange/index.ts";
import { safeText, shortened, withoutNonce } from "../../notes/index.ts";
import type { ContentReader } from "../content-cache.ts";
import { wire } from "../runtime-protocol.ts";
import { isOwnBlock, type VisibleFrame } from "./visible-frames.ts";

/** A unit of a prompt as the agent's client writes it. The ledger may show its block shorter. */
export type PromptUnit = {
  readonly role: "user" | "assistant";
  readonly bytes: Uint8Array;
  /** The block it shows. Null for a note. */
  readonly block: AddedBlock | null;
  /** The frame of the window that it belongs to. Null if it stands outside the window. */
  readonly frame: Seq | null;
};

export type UnitContext = {
  readonly view: View;
  readonly nonce: string;
  readonly read: ContentReader;
};

/** The units of a frame: own blocks as they are, those of others under a line with the speaker. */
export function unitsOfFrame(context: UnitContext, { seq, blocks }: VisibleFrame): readonly PromptUnit[] {
  return blocks.flatMap((block) => unitsOfBlock(context, block).map((unit) => ({ ...unit, frame: seq })));
}

const assistantKinds: readonly BlockKind[] = ["assistant", "reasoning", "tool-call"];

function unitsOfBlock({ view, nonce, read }: UnitContext, block: AddedBlock): readonly PromptUnit[] {
  const bytes = read(block.content);
  if (isOwnBlock(block, view)) {
    const role = assistantKinds.includes(block.kind) ? "assistant" : "user";
    return [{ role, bytes, block, frame: null }];
  }
  const line = speakerLine(block, nonce);
  const spoken = wire.read.text(bytes);
  if (spoken === null) return [noteUnit(line), { role: "user", bytes, block, frame: null }];
  return [{ ...noteUnit(`${line}\n${withoutNonce(spoken, nonce)}`), block }];
}

/** The bytes with which the agent's client shows a block of the window. */
export function clientBytes(context: UnitContext, block: AddedBlock): Uint8Array | null {
  return unitsOfBlock(context, block).at(-1)?.bytes ?? null;
}

/** A shorter text of a message under the line with its speaker. */
export function withSpeaker(wish: LevelWish, block: AddedBlock, nonce: string): LevelWish {
  if (wish.text === null || block.kind !== "user") return wish;
  if (wish.as === "placeholder")
    return { ...wish, text: `${speakerLabel(block, nonce)}: ${wish.text}`.trim() };
  return { ...wish, text: `${speakerLine(block, nonce)}\n${wish.text}` };
}

/** A text in the words of the runtime. */
export function noteUnit(text: string): PromptUnit {
  return { role: "user", bytes: wire.write.text(text), block: null, frame: null };
}

const speakerCharsMax = 60;
const kindNames: Readonly<Partial<Record<BlockKind, string>>> = { system: "system", notice: "notice" };

/** `[k7f3 bob, message 12 #41]`: only we can write the nonce, so the line names the real speaker. */
export function speakerLine(block: Block, nonce: string): string {
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

const labelWords = [
  "agent",
  "system",
  "memory",
  "notice",
  "pinned",
  "you",
  "elsewhere",
  "earlier",
  "end",
  "turn",
];
