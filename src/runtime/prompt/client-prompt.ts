import { type ContentHash, ok, type Result, type Seq } from "../../base/index.ts";
import type { AddedBlock, RewriteReason } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { lastSentTurn, type Moment } from "../../engine/moment/index.ts";
import { withoutNonce } from "../../notes/index.ts";
import { contentText, type WritableGroup } from "../../protocols/index.ts";
import type { BlockIndex } from "../block-index.ts";
import type { ContentCache } from "../content-cache.ts";
import type { RunStatus } from "../run-status.ts";
import { isSameHead, type PromptHead } from "./prompt-head.ts";
import { noteUnit, type PromptUnit, speakerLabel, unitsOfFrame } from "./prompt-unit.ts";
import {
  ambientAround,
  ephemeralBlocks,
  peripheralBlocks,
  type ShownAmbient,
  shownAmbient,
  surroundings,
} from "./surroundings.ts";
import {
  framesBack,
  framesToDrop,
  inReadingOrder,
  isOwnBlock,
  startFrames,
  type VisibleFrame,
  type WindowSize,
} from "./visible-frames.ts";

/** A prompt as the agent's client composes it from the log, before the ledger plans it. */
export type ClientPrompt = {
  readonly head: PromptHead;
  readonly units: readonly PromptUnit[];
  /** The number of units that it repeats from the prompt before it. */
  readonly repeatedCount: number;
  /** The frames of the window that it shows. */
  readonly frames: ReadonlySet<Seq>;
  readonly ambient: ShownAmbient;
  /** Why it repeats nothing of the prompt before it. Null if it does, or if there was none. */
  readonly restart: RewriteReason | null;
};

export type ClientInput = {
  readonly moment: Moment;
  readonly view: View;
  /** The prompt that was sent last. Null if none was, or if it cannot be continued. */
  readonly last: ClientPrompt | null;
  /** Tools and system text as they were when the last prompt's path began. */
  readonly head: PromptHead;
  /** Tools and system text as they are now, for a path that begins now. */
  readonly headNow: PromptHead;
  readonly status: RunStatus;
  readonly index: BlockIndex;
  readonly contents: ContentCache;
  readonly nonce: string;
  readonly model: string;
  readonly window: WindowSize;
  /** How many recent messages of each other stream are shown; 0 shows none. */
  readonly peripheralNotes: number;
  /** The line with the name of the stream. */
  readonly opening: string;
};

/**
 * The prompts that an agent may get, best first; each later one shows fewer frames. The first continues the
 * last prompt, unless its head has changed or the window moves.
 */
export async function* promptCandidates(input: ClientInput): AsyncGenerator<Result<ClientPrompt>> {
  const { last, view, head } = input;
  const isContinued = last !== null && isSameHead(last.head, head) && !movesWindow(input, last);
  if (isContinued) yield await continuePrompt(input, last);
  const hasOtherHead = last === null || !isSameHead(last.head, head);
  const restart = view.sent.size === 0 ? null : hasOtherHead ? "user" : "pressure";
  let frames = startFrames(input, framesToStart(input));
  for (;;) {
    yield await startPrompt(input, frames, restart);
    const older = olderThanQuestion(input, frames);
    if (older === 0) return;
    frames = startFrames(input, frames.slice(Math.min(older, Math.max(1, Math.ceil(older / 2)))));
  }
}

/** The window moves by whole steps, and not in the middle of a run. */
function movesWindow(input: ClientInput, last: ClientPrompt): boolean {
  const fresh = framesSince(input, sentSeq(input));
  return framesToDrop(last.frames.size + fresh.length, input.window) > 0 && !isMidRun(input, fresh);
}

/** The frames of a new path: those of the last prompt and those since, without the steps that are dropped. */
function framesToStart(input: ClientInput): readonly VisibleFrame[] {
  const { last, window, moment, view } = input;
  if (last === null) return newestFrames(input);
  const fresh = framesSince(input, sentSeq(input));
  const dropped = isMidRun(input, fresh) ? 0 : framesToDrop(last.frames.size + fresh.length, window);
  const start = Math.min(sentSeq(input) + 1, ...last.frames);
  return inReadingOrder(moment, view, framesSince(input, start - 1)).slice(dropped);
}

async function continuePrompt(input: ClientInput, last: ClientPrompt): Promise<Result<ClientPrompt>> {
  const { moment, view } = input;
  const frames = inReadingOrder(moment, view, framesSince(input, sentSeq(input)));
  const written = await writeFrames(input, { frames, last });
  if (!written.ok) return written;
  return ok({
    head: last.head,
    units: [...last.units, ...written.value],
    repeatedCount: last.units.length,
    frames: new Set([...last.frames, ...framesIn(written.value)]),
    ambient: shownAmbient(last.ambient, written.value, input.nonce),
    restart: null,
  });
}

/** Starts a path: the name of the stream, the lasting blocks, then the frames. */
async function startPrompt(
  input: ClientInput,
  frames: readonly VisibleFrame[],
  restart: RewriteReason | null,
): Promise<Result<ClientPrompt>> {
  const baseline = await baselineOf(input, frames);
  if (!baseline.ok) return baseline;
  const written = await writeFrames(input, { frames, last: null });
  if (!written.ok) return written;
  return ok({
    head: input.headNow,
    units: [...baseline.value, ...written.value],
    repeatedCount: 0,
    frames: new Set(framesIn(written.value)),
    ambient: shownAmbient(new Map(), written.value, input.nonce),
    restart,
  });
}

export function framesIn(units: readonly PromptUnit[]): readonly Seq[] {
  return units.flatMap(({ frame }) => frame ?? []);
}

/** How many frames may be dropped: those before the activation, except the last message to the agent. */
function olderThanQuestion(
  { status: { requestedSeq }, view }: ClientInput,
  frames: readonly VisibleFrame[],
): number {
  const isFromOthers = ({ blocks }: VisibleFrame): boolean =>
    blocks.some((block) => !isOwnBlock(block, view));
  const older = frames.filter(({ seq }) => seq < requestedSeq).length;
  if (frames.some((frame) => frame.seq === requestedSeq && isFromOthers(frame))) return older;
  const question = frames.slice(0, older).findLastIndex(isFromOthers);
  return question === -1 ? older : question;
}

type FrameSelection = {
  readonly frames: readonly VisibleFrame[];
  /** The prompt that is continued. Null if a path starts. */
  readonly last: ClientPrompt | null;
};

/** The units of these frames, and the surroundings after them. */
async function writeFrames(
  input: ClientInput,
  { frames, last }: FrameSelection,
): Promise<Result<readonly PromptUnit[]>> {
  const { moment, view, index, status, nonce } = input;
  const peripheral = peripheralBlocks(moment, view, { since: sentSeq(input), each: input.peripheralNotes });
  const blocks = [
    ...frames.flatMap((frame) => frame.blocks),
    ...ambientAround({ moment, view, index }),
    ...ephemeralBlocks(input),
    ...peripheral,
  ];
  const read = await input.contents.load(hashesOf(blocks));
  if (!read.ok) return read;
  const isStart = last === null;
  const units: PromptUnit[] = [];
  for (const frame of frames) {
    const written = unitsOfFrame({ view, nonce, read: read.value }, inMessages(frame, isStart));
    if (wouldMerge(units, written)) units.push(noteUnit(`[${nonce} nobody spoke in between]`));
    units.push(...written);
  }
  const shown: ShownAmbient = last?.ambient ?? new Map();
  const common = { moment, view, status, index, nonce, read: read.value };
  for (const unit of surroundings({ ...common, shown, isStart, peripheral })) {
    // A scope that opens again shows a block for the second time: a path shows each block once.
    const isKnown = unit.block !== null && last?.units.some(({ block }) => block?.id === unit.block?.id);
    units.push(isKnown === true ? { ...unit, block: null } : unit);
  }
  const end = units.at(-1) ?? last?.units.at(-1);
  if (end?.role === "assistant") units.push(noteUnit(`[${nonce} nobody has spoken since; go on]`));
  return ok(units);
}

/**
 * True if two answers of the agent would become one message, and reasoning that leads to a call must begin a
 * message. In the path that was sent something stood between them.
 */
function wouldMerge(before: readonly PromptUnit[], next: readonly PromptUnit[]): boolean {
  return before.at(-1)?.role === "assistant" && next[0]?.role === "assistant";
}

function hashesOf(blocks: readonly AddedBlock[]): readonly ContentHash[] {
  return blocks.map(({ content }) => content);
}

/** System texts stand in the head when a path begins; later ones stay among the messages. */
function inMessages(frame: VisibleFrame, isStart: boolean): VisibleFrame {
  return isStart ? { ...frame, blocks: frame.blocks.filter(({ kind }) => kind !== "system") } : frame;
}

/** The units before the first frame: the name of the stream, a line about earlier frames, pinned blocks. */
async function baselineOf(
  input: ClientInput,
  frames: readonly VisibleFrame[],
): Promise<Result<readonly PromptUnit[]>> {
  const { moment, view, index, nonce } = input;
  const shown = new Set(frames.flatMap(({ blocks }) => blocks.map(({ id }) => id)));
  const pinned = index
    .pinned(moment, view)
    .filter(({ id, kind }) => !shown.has(id) && kind !== "memory" && kind !== "system");
  const read = await input.contents.load(hashesOf(pinned));
  if (!read.ok) return read;
  const lasting = pinned.map((block): PromptUnit => {
    const stored = withoutNonce(contentText(read.value(block.content), block) ?? "", nonce);
    const speaker = isOwnBlock(block, view) ? "you" : speakerLabel(block, nonce);
    const line = `[${nonce} pinned, ${speaker}, message ${block.message} #${block.id}]`;
    return { ...noteUnit(`${line}\n${stored}`), block };
  });
  return ok([noteUnit(`${input.opening}${earlierLine(input, frames)}`), ...lasting]);
}

/** `[k7f3 earlier: up to message 30 #42 is not shown -> expand or recall it]` */
function earlierLine({ moment, view, nonce }: ClientInput, frames: readonly VisibleFrame[]): string {
  const start = frames[0]?.seq ?? moment.seq;
  const earlier = findFirst(framesBack(moment, view), ({ seq }) => seq < start);
  const last = earlier?.blocks.at(-1);
  return last === undefined
    ? ""
    : `\n[${nonce} earlier: everything up to message ${last.message} #${last.id} is not shown -> expand or recall it]`;
}

/** The frames for the first prompt of an agent in a stream. */
function newestFrames({ moment, view, window }: ClientInput): readonly VisibleFrame[] {
  const frames: VisibleFrame[] = [];
  for (const frame of framesBack(moment, view)) {
    if (frames.length >= window.frames) break;
    frames.push(frame);
  }
  return inReadingOrder(moment, view, frames.reverse());
}

function framesSince({ moment, view }: ClientInput, since: number): readonly VisibleFrame[] {
  const frames: VisibleFrame[] = [];
  for (const frame of framesBack(moment, view)) {
    if (frame.seq <= since) break;
    frames.push(frame);
  }
  return frames.reverse();
}

/** True if the new frames hold results of the agent's own calls. */
function isMidRun({ view }: ClientInput, fresh: readonly VisibleFrame[]): boolean {
  return fresh.some(({ blocks }) =>
    blocks.some((block) => block.kind === "tool-result" && isOwnBlock(block, view)),
  );
}

function sentSeq({ moment, view }: ClientInput): number {
  return lastSentTurn(moment, view)?.seq ?? 0;
}

function findFirst<T>(all: Iterable<T>, is: (one: T) => boolean): T | null {
  for (const one of all) if (is(one)) return one;
  return null;
}

/** The messages of a prompt: units of one role that follow each other are one message. */
export function messagesOf(
  units: readonly Pick<PromptUnit, "role" | "bytes">[],
  markedUnits: ReadonlySet<number>,
): readonly WritableGroup[] {
  const messages: { role: PromptUnit["role"]; units: Uint8Array[]; markedUnit: number | null }[] = [];
  for (const [at, { role, bytes }] of units.entries()) {
    let message = messages.at(-1);
    if (message === undefined || message.role !== role) {
      message = { role, units: [], markedUnit: null };
      messages.push(message);
    }
    if (markedUnits.has(at)) message.markedUnit = message.units.length;
    message.units.push(bytes);
  }
  return messages;
}
