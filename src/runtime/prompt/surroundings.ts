import { cutText, must, type Seq, type StreamId } from "../../base/index.ts";
import type { AddedBlock } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { asOf, blockOf, type Moment, streamOf } from "../../engine/moment/index.ts";
import { safeText, shortened, withoutNonce } from "../../notes/index.ts";
import { activationOf } from "../activation.ts";
import type { BlockIndex } from "../block-index.ts";
import type { ContentReader } from "../content-cache.ts";
import type { RunStatus } from "../run-status.ts";
import { wire } from "../runtime-protocol.ts";
import { noteUnit, type PromptUnit, speakerLabel, speakerName } from "./prompt-unit.ts";
import { isOwnBlock } from "./visible-frames.ts";

export type SurroundingsInput = {
  readonly moment: Moment;
  readonly view: View;
  readonly status: Pick<RunStatus, "current" | "isStarted">;
  readonly index: BlockIndex;
  readonly nonce: string;
  readonly read: ContentReader;
  /** Ambient blocks that earlier prompts of the path show already. */
  readonly shown: ShownAmbient;
  /** True if a path begins: then everything is shown again. */
  readonly isStart: boolean;
  readonly peripheral: readonly AddedBlock[];
};

/**
 * The texts at the end of a prompt: what surrounds the conversation, once and then only what is new. They
 * stay where they were sent, so that later prompts are read from the provider's cache.
 */
export function surroundings(input: SurroundingsInput): readonly PromptUnit[] {
  return [
    ...goneAmbientLines(input).map(noteUnit),
    ...freshAmbient(input).map((block) => ({ ...noteUnit(ambientText(input, block)), block })),
    ...input.peripheral.map((block) => noteUnit(elsewhereText(input, block))),
    ...ephemeralTexts(input).map(noteUnit),
    ...reasonLines(input).map(noteUnit),
  ];
}

/** The ambient blocks an agent sees now: those of its stream and of the whole space whose scope is open. */
export function ambientAround({
  moment,
  view,
  index,
}: Pick<SurroundingsInput, "moment" | "view" | "index">): readonly AddedBlock[] {
  const all = index.blocksOfKind(moment, view.stream, "ambient");
  const open = new Set(
    all.flatMap(({ anchor }) => (anchor.startsWith(scopePrefix) ? [anchor.slice(scopePrefix.length)] : [])),
  );
  return all.filter(({ during }) => during === undefined || open.has(during));
}

/** An ambient block with such an anchor opens the scope of that name. */
export const scopePrefix = "scope ";

function freshAmbient(input: SurroundingsInput): readonly AddedBlock[] {
  return ambientAround(input).filter(({ id }) => !input.shown.has(id));
}

/** Lines about ambient blocks that were shown and are gone, if no other block has taken their name. */
function goneAmbientLines(input: SurroundingsInput): readonly string[] {
  const { nonce, shown } = input;
  const around = ambientAround(input);
  const [ids, names] = [
    new Set<number>(around.map(({ id }) => id)),
    new Set(around.map(({ anchor }) => anchor)),
  ];
  const gone = [...shown].filter(([id]) => !ids.has(id));
  const anchors = new Set(gone.map(([, anchor]) => anchor).filter((anchor) => !names.has(anchor)));
  return [...anchors].map((anchor) => goneLine(anchor, nonce));
}

function goneLine(anchor: string, nonce: string): string {
  return `[${nonce} ${safeName(anchor, nonce)}: no longer there]`;
}

/** The names of ambient blocks that were shown, by block, without those that were reported as gone. */
export type ShownAmbient = ReadonlyMap<number, string>;

export function shownAmbient(
  before: ShownAmbient,
  units: readonly PromptUnit[],
  nonce: string,
): ShownAmbient {
  const shown = new Map(before);
  for (const { block, bytes } of units) {
    if (block?.kind === "ambient") shown.set(block.id, block.anchor);
    const text = block === null && shown.size > 0 ? wire.read.text(bytes) : null;
    for (const [id, anchor] of text === null ? [] : shown)
      if (goneLine(anchor, nonce) === text) shown.delete(id);
  }
  return shown;
}

function ambientText({ nonce, read }: SurroundingsInput, { anchor, content, id }: AddedBlock): string {
  const text = textOf(read(content), nonce);
  const head = `[${nonce} ${safeName(anchor, nonce)}, #${id}, as it is now]`;
  return text === "" ? head : `${head}\n${text}\n[${nonce} end of #${id}]`;
}

function elsewhereText({ moment, nonce, read }: SurroundingsInput, block: AddedBlock): string {
  const { stream, content } = block;
  const { name } = must(streamOf(moment, stream), "a block has a stream");
  const text = shortened(safeText(textOf(read(content), nonce), nonce), elsewhereCharsMax);
  return `[${nonce} elsewhere, in ${safeName(name, nonce)}: ${speakerLabel(block, nonce)}: ${text}]`;
}

const elsewhereCharsMax = 160;
const ambientCharsMax = 200_000;

/** The ephemeral blocks that came with the activations of the run. */
function ephemeralTexts(input: SurroundingsInput): readonly string[] {
  const { nonce, read } = input;
  const blocks = isShownBefore(input) ? [] : ephemeralBlocks(input);
  return blocks.map(
    ({ content, speaker }) =>
      `[${nonce} for this moment, ${speakerName(speaker, nonce)}]\n${textOf(read(content), nonce)}`,
  );
}

/** The reasons of the activations, if they have any. */
function reasonLines(input: SurroundingsInput): readonly string[] {
  const { status, nonce } = input;
  const reasons = (isShownBefore(input) ? [] : status.current).flatMap((block) => {
    const activation = activationOf(block);
    return activation !== null && "reason" in activation ? (activation.reason ?? []) : [];
  });
  return [...new Set(reasons)].map((reason) => `[${nonce} you are asked to act: ${safeText(reason, nonce)}]`);
}

/** Reasons and ephemeral blocks are shown with the first prompt of a run, and again if a new path begins. */
function isShownBefore({ status, isStart }: SurroundingsInput): boolean {
  return status.isStarted && !isStart;
}

/** The ephemeral blocks that were added in the same frames as the activations of the run. */
export function ephemeralBlocks({
  moment,
  view,
  status,
}: Pick<SurroundingsInput, "moment" | "view" | "status">): readonly AddedBlock[] {
  const seqs = new Set(status.current.map(({ addedSeq }) => addedSeq));
  return [...seqs].sort((a, b) => a - b).flatMap((seq) => ephemeralAt(moment, view, seq));
}

/** Only in the stream itself: a block that is added to a parent now comes after the fork. */
function ephemeralAt(moment: Moment, { stream }: View, addedSeq: Seq): readonly AddedBlock[] {
  const then = asOf(moment, addedSeq);
  const { blocks } = must(streamOf(then, stream), "a view has a stream");
  const found: AddedBlock[] = [];
  for (let index = blocks.size - 1; index >= 0; index -= 1) {
    const id = must(blocks.get(index), "streams have no gaps");
    const block = must(moment.state.blocks.get(id), "streams list known blocks").block;
    if (block.addedSeq < addedSeq) break;
    if (block.addedSeq === addedSeq && block.ephemeral && blockOf(then, id) !== null) found.unshift(block);
  }
  return found;
}

function textOf(bytes: Uint8Array, nonce: string): string {
  const text = wire.read.text(bytes);
  return text === null ? "" : withoutNonce(cutText(text, ambientCharsMax), nonce);
}

function safeName(anchor: string, nonce: string): string {
  return shortened(safeText(anchor, nonce), 80);
}

/** The latest messages of each other stream since the agent's last prompt, at most `each` of a stream. */
export function peripheralBlocks(
  moment: Moment,
  view: View,
  { since, each }: { readonly since: number; readonly each: number },
): readonly AddedBlock[] {
  const found: AddedBlock[] = [];
  for (const [, stream] of moment.state.streams.entries()) {
    if (isSelfOrParent(moment, view.stream, stream.id)) continue;
    let left = each;
    for (let at = stream.blocks.size - 1; at >= 0 && left > 0; at -= 1) {
      const block = must(
        moment.state.blocks.get(must(stream.blocks.get(at), "no gaps")),
        "it is known",
      ).block;
      if (block.addedSeq <= since) break;
      const isMessage = (block.kind === "user" || block.kind === "assistant") && !block.ephemeral;
      if (!isMessage || isOwnBlock(block, view) || blockOf(moment, block.id) === null) continue;
      found.push(block);
      left -= 1;
    }
  }
  return found.sort((a, b) => a.addedSeq - b.addedSeq);
}

/** True if `other` is the stream itself or one it was forked from. */
function isSelfOrParent(moment: Moment, stream: StreamId, other: StreamId): boolean {
  for (let id: StreamId | null = stream; id !== null; id = streamOf(moment, id)?.parent?.stream ?? null)
    if (id === other) return true;
  return false;
}
