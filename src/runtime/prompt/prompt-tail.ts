import type { ManifestFacts } from "../../awareness/index.ts";
import { cutText, must, type Seq, type StreamId } from "../../base/index.ts";
import type { AddedBlock, Unit } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { asOf, attributesOf, blockOf, type Moment, streamOf, turnNow } from "../../engine/moment/index.ts";
import {
  changeNote,
  compactHeader,
  type HeaderBlock,
  type ManifestOptions,
  manifestText,
  safeText,
  shortened,
  withoutNonce,
} from "../../notes/index.ts";
import { readableUnit } from "../../protocols/index.ts";
import { activationOf } from "../activation.ts";
import type { BlockIndex } from "../block-index.ts";
import type { ContentReader } from "../content-cache.ts";
import type { RunStatus } from "../run-status.ts";
import { speakerLabel, speakerName } from "./rendered-unit.ts";
import { isOwnBlock } from "./visible-frames.ts";

/** The changing text at the end of a prompt, and the blocks it shows. */
export type PromptTail = { readonly text: string; readonly shows: readonly Unit["shows"][number][] };

export type PromptTailInput = {
  readonly moment: Moment;
  readonly view: View;
  readonly status: Pick<RunStatus, "current" | "isStarted">;
  readonly index: BlockIndex;
  readonly nonce: string;
  readonly read: ContentReader;
  /** Ambient blocks that the path shows already. */
  readonly shown: ReadonlySet<number>;
  /** True if a path begins: then everything is shown again. */
  readonly isStart: boolean;
  /** Null if the agent is not told about its context. */
  readonly facts: ManifestFacts | null;
  /** True if the prompt would end with the agent's own words: then a note must ask it to go on. */
  readonly endsWithOwn: boolean;
  readonly peripheral: readonly AddedBlock[];
  /** Blocks the agent added since its last prompt; it does not know their ids yet. */
  readonly own: readonly AddedBlock[];
  readonly timeMs: number;
};

/**
 * Shows everything once and then only what is new. A tail stays where it was sent, so that later prompts are
 * read from the provider's cache; when an ambient block changes, only that block is shown again.
 */
export function promptTail(input: PromptTailInput): PromptTail | null {
  const ambient = freshAmbient(input);
  const lines = [
    ...goneAmbientLines(input),
    ...ambient.map((block) => ambientText(input, block)),
    ...input.peripheral.map((block) => elsewhereText(input, block)),
    ...ephemeralTexts(input),
    ...reasonLines(input),
    ...contextLines(input),
  ];
  if (lines.length === 0 && input.endsWithOwn) lines.push(`[${input.nonce} nobody has spoken since; go on]`);
  if (lines.length === 0) return null;
  return { text: lines.join("\n"), shows: ambient.map(({ id }) => ({ block: id, as: "original" })) };
}

/** The ambient blocks an agent sees now: those of its stream and of the whole space whose scope is open. */
export function ambientAround({
  moment,
  view,
  index,
}: Pick<PromptTailInput, "moment" | "view" | "index">): readonly AddedBlock[] {
  const all = index.blocksOfKind(moment, view.stream, "ambient");
  const open = new Set(
    all.flatMap(({ anchor }) => (anchor.startsWith(scopePrefix) ? [anchor.slice(scopePrefix.length)] : [])),
  );
  return all.filter(({ during }) => during === undefined || open.has(during));
}

/** An ambient block with such an anchor opens the scope of that name. */
export const scopePrefix = "scope ";

function freshAmbient(input: PromptTailInput): readonly AddedBlock[] {
  return ambientAround(input).filter(({ id }) => !input.shown.has(id));
}

/** Lines about ambient blocks that were shown and are gone, if no other block has taken their name. */
function goneAmbientLines(input: PromptTailInput): readonly string[] {
  const { moment, nonce, shown } = input;
  const around = ambientAround(input);
  const [ids, names] = [
    new Set<number>(around.map(({ id }) => id)),
    new Set(around.map(({ anchor }) => anchor)),
  ];
  const gone = [...shown]
    .filter((id) => !ids.has(id))
    .flatMap((id) => moment.state.blocks.get(id)?.block ?? []);
  const anchors = new Set(gone.map(({ anchor }) => anchor).filter((anchor) => !names.has(anchor)));
  return [...anchors].map((anchor) => `[${nonce} ${safeName(anchor, nonce)}: no longer there]`);
}

function ambientText({ nonce, read }: PromptTailInput, { anchor, content, id }: AddedBlock): string {
  const text = textOf(read(content), nonce);
  const head = `[${nonce} ${safeName(anchor, nonce)}, #${id}, as it is now]`;
  return text === "" ? head : `${head}\n${text}\n[${nonce} end of #${id}]`;
}

function elsewhereText({ moment, nonce, read }: PromptTailInput, block: AddedBlock): string {
  const { stream, content } = block;
  const { name } = must(streamOf(moment, stream), "a block has a stream");
  const text = shortened(safeText(textOf(read(content), nonce), nonce), elsewhereCharsMax);
  return `[${nonce} elsewhere, in ${safeName(name, nonce)}: ${speakerLabel(block, nonce)}: ${text}]`;
}

const elsewhereCharsMax = 160;
const ambientCharsMax = 200_000;

/** The ephemeral blocks that came with the activations of the run. */
function ephemeralTexts(input: PromptTailInput): readonly string[] {
  const { nonce, read } = input;
  const blocks = isShownBefore(input) ? [] : ephemeralBlocks(input);
  return blocks.map(
    ({ content, speaker }) =>
      `[${nonce} for this moment, ${speakerName(speaker, nonce)}]\n${textOf(read(content), nonce)}`,
  );
}

/** The reasons of the activations, if they have any. */
function reasonLines(input: PromptTailInput): readonly string[] {
  const { status, nonce } = input;
  const reasons = (isShownBefore(input) ? [] : status.current).flatMap((block) => {
    const activation = activationOf(block);
    return activation !== null && "reason" in activation ? (activation.reason ?? []) : [];
  });
  return [...new Set(reasons)].map((reason) => `[${nonce} you are asked to act: ${safeText(reason, nonce)}]`);
}

/** Reasons and ephemeral blocks are shown with the first prompt of a run, and again if a new path begins. */
function isShownBefore({ status, isStart }: PromptTailInput): boolean {
  return status.isStarted && !isStart;
}

/** The ephemeral blocks that were added in the same frames as the activations of the run. */
export function ephemeralBlocks({
  moment,
  view,
  status,
}: Pick<PromptTailInput, "moment" | "view" | "status">): readonly AddedBlock[] {
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

function contextLines(input: PromptTailInput): readonly string[] {
  const { moment, view, nonce, facts, isStart } = input;
  if (facts === null) return [];
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const turn = turnNow(moment, stream) + 1;
  const options: ManifestOptions = { nonce, turn, variant: "text", detail: "summary", fill: "shown" };
  const note = isStart ? manifestText(facts, options) : changeNote(facts, options);
  return [...ownLines(input, turn), ...(note === null ? [] : [note])];
}

/** `[k7f3 turn 31, 14:05: message 12 #41..#44; #43 result ~4.2k until 51]` */
function ownLines({ moment, nonce, own, timeMs, isStart }: PromptTailInput, turn: number): readonly string[] {
  if (own.length === 0 && !isStart) return [];
  const messages = [...new Set(own.map(({ message }) => message))].map((message) => ({
    message,
    role: "assistant",
    from: "you",
    blocks: own.filter((block) => block.message === message).map((block) => headerBlock(moment, turn, block)),
  }));
  const time = { timeMs, zoneMinutes: 0, sinceMs: null, saysDate: isStart };
  return [compactHeader({ nonce, turn, ...time, messages })];
}

function headerBlock(moment: Moment, turn: number, { id, kind, ttl }: AddedBlock): HeaderBlock {
  const { count, exact } = attributesOf(moment, id)?.tokens ?? { count: 0, exact: false };
  const left = ttl === null ? null : { turns: ttl.at - turn, until: ttl.at };
  return { block: id, kind, tokens: count, exact, ttl: left, state: null };
}

function textOf(bytes: Uint8Array, nonce: string): string {
  const unit = readableUnit(bytes);
  return unit?.type === "text" ? withoutNonce(cutText(unit.text, ambientCharsMax), nonce) : "";
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
