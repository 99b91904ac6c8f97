import type { ManifestFacts } from "../../awareness/index.ts";
import { type ContentHash, fail, ok, type Result } from "../../base/index.ts";
import type { AddedBlock, RewriteReason } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { blockViewOf, factValue, lastSentTurn, type Moment } from "../../engine/moment/index.ts";
import { withoutNonce } from "../../notes/index.ts";
import { contentText } from "../../protocols/index.ts";
import type { BlockIndex } from "../block-index.ts";
import type { ContentCache } from "../content-cache.ts";
import type { RunStatus } from "../run-status.ts";
import type { PromptPath } from "./prompt-path.ts";
import { ambientAround, ephemeralBlocks, peripheralBlocks, promptTail } from "./prompt-tail.ts";
import { ownUnit, type RenderedUnit, speakerLabel, type UnitContext, unitsOfFrame } from "./rendered-unit.ts";
import {
  framesBack,
  framesToDrop,
  inReadingOrder,
  isOwnBlock,
  startFrames,
  type VisibleFrame,
  type WindowSize,
} from "./visible-frames.ts";

export type PromptInput = {
  readonly moment: Moment;
  readonly view: View;
  /** The prompt that was sent last. Null if none was. */
  readonly path: PromptPath | null;
  /** Tools and system text as they were when the path began. */
  readonly head: readonly RenderedUnit[];
  /** Tools and system text as they are now, for a path that begins now. */
  readonly headNow: readonly RenderedUnit[];
  readonly status: RunStatus;
  readonly index: BlockIndex;
  readonly contents: ContentCache;
  readonly nonce: string;
  readonly model: string;
  readonly window: WindowSize;
  /** Maximum tokens of a prompt, by our count times the rate. */
  readonly budgetTokens: number;
  readonly rate: number;
  readonly facts: ManifestFacts | null;
  /** How many recent messages of each other stream are shown; 0 shows none. */
  readonly peripheralNotes: number;
  readonly timeMs: number;
  readonly opening: string;
};

/** A prompt: the part that was sent before and keeps its bytes, and the units that follow it. */
export type RenderedPrompt = {
  /** Null if nothing of the last prompt is kept. */
  readonly kept: PromptPath | null;
  readonly fresh: readonly RenderedUnit[];
  /** Why a new path begins; null if the path continues or is the first. */
  readonly epoch: RewriteReason | null;
  /** By our own count. */
  readonly tokens: number;
};

/**
 * Continues the last prompt byte for byte as long as it fits; otherwise starts a new path with later frames.
 */
export async function renderPrompt(input: PromptInput): Promise<Result<RenderedPrompt>> {
  const { path, window, budgetTokens, rate } = input;
  if (path === null) return await startPath(input, newestFrames(input), null);
  if (!hasSameHead(path, input.head)) return await startPath(input, windowFrames(input, path), "user");
  const fresh = inReadingOrder(input.moment, input.view, framesSince(input, sentSeq(input)));
  const dropped = framesToDrop(path.frameCount + fresh.length, window);
  if (dropped > 0 && !isMidRun(input, fresh)) {
    return await startPath(input, windowFrames(input, path).slice(dropped), "pressure");
  }
  const continued = await continuePath(input, path, fresh);
  if (!continued.ok || continued.value.tokens * rate <= budgetTokens) return continued;
  return await startPath(input, windowFrames(input, path), "pressure");
}

async function continuePath(
  input: PromptInput,
  path: PromptPath,
  frames: readonly VisibleFrame[],
): Promise<Result<RenderedPrompt>> {
  const written = await writeFrames(input, { frames, isStart: false });
  if (!written.ok) return written;
  const fresh = [...written.value.units, ...written.value.tail];
  return ok({ kept: path, fresh, epoch: null, tokens: path.tokens + tokensIn(fresh) });
}

/**
 * Starts a new path: the lasting blocks, then the frames. Frames that do not fit are dropped, oldest
 * first; the frames of the present run are kept and shortened instead.
 */
async function startPath(
  input: PromptInput,
  all: readonly VisibleFrame[],
  epoch: RewriteReason | null,
): Promise<Result<RenderedPrompt>> {
  let frames = startFrames(input, all);
  for (;;) {
    const rendered = await startUnits(input, { frames, isStart: true });
    if (!rendered.ok) return rendered;
    const tokens = tokensIn(rendered.value);
    if (tokens * input.rate <= input.budgetTokens)
      return ok({ kept: null, fresh: rendered.value, epoch, tokens });
    const older = olderThanQuestion(input, frames);
    if (older === 0) return await startShortened(input, frames, epoch);
    frames = startFrames(input, frames.slice(Math.min(older, Math.max(1, Math.ceil(older / 2)))));
  }
}

/** How many frames may be dropped: those before the activation, except the last message to the agent. */
function olderThanQuestion(
  { status: { requestedSeq }, view }: PromptInput,
  frames: readonly VisibleFrame[],
): number {
  const isFromOthers = ({ blocks }: VisibleFrame): boolean =>
    blocks.some((block) => !isOwnBlock(block, view));
  const older = frames.filter(({ seq }) => seq < requestedSeq).length;
  if (frames.some((frame) => frame.seq === requestedSeq && isFromOthers(frame))) return older;
  const question = frames.slice(0, older).findLastIndex(isFromOthers);
  return question === -1 ? older : question;
}

const lowerForms = ["trimmed", "minimal", "placeholder"] as const;

/** Starts a path with all blocks of the run, shortened until they fit: the largest blocks first. */
async function startShortened(
  input: PromptInput,
  frames: readonly VisibleFrame[],
  epoch: RewriteReason | null,
): Promise<Result<RenderedPrompt>> {
  const atMost = new Map<number, (typeof lowerForms)[number]>();
  let tokens = 0;
  for (const form of lowerForms) {
    for (;;) {
      const rendered = await startUnits(input, { frames, isStart: true, atMost });
      if (!rendered.ok) return rendered;
      tokens = tokensIn(rendered.value);
      if (tokens * input.rate <= input.budgetTokens)
        return ok({ kept: null, fresh: rendered.value, epoch, tokens });
      const largest = largestIn(rendered.value, (block) => !isLower(atMost.get(block), form));
      if (largest === null) break;
      atMost.set(largest, form);
    }
  }
  return fail("AP_RUNTIME_BUDGET", { tokens: Math.ceil(tokens * input.rate), budget: input.budgetTokens });
}

function isLower(form: (typeof lowerForms)[number] | undefined, than: (typeof lowerForms)[number]): boolean {
  return form !== undefined && lowerForms.indexOf(form) >= lowerForms.indexOf(than);
}

/** Shortening a smaller block would save too little. */
const shortenedTokensMin = 100;

function largestIn(units: readonly RenderedUnit[], mayShorten: (block: number) => boolean): number | null {
  const candidates = units.filter(({ shows, role, frame, tokens }) => {
    const [shown] = shows;
    return (
      shown !== undefined &&
      frame !== null &&
      role === "user" &&
      tokens >= shortenedTokensMin &&
      mayShorten(shown.block)
    );
  });
  const [largest] = [...candidates].sort((a, b) => b.tokens - a.tokens);
  return largest?.shows[0]?.block ?? null;
}

type FrameSelection = {
  readonly frames: readonly VisibleFrame[];
  readonly isStart: boolean;
  readonly atMost?: NonNullable<UnitContext["atMost"]>;
};

async function startUnits(
  input: PromptInput,
  selection: FrameSelection,
): Promise<Result<readonly RenderedUnit[]>> {
  const written = await writeFrames(input, selection);
  if (!written.ok) return written;
  const baseline = await baselineOf(input, selection.frames);
  if (!baseline.ok) return baseline;
  return ok([...input.headNow, ...baseline.value, ...written.value.units, ...written.value.tail]);
}

type FrameUnits = { readonly units: readonly RenderedUnit[]; readonly tail: readonly RenderedUnit[] };

async function writeFrames(input: PromptInput, selection: FrameSelection): Promise<Result<FrameUnits>> {
  const { moment, view, index } = input;
  const since = sentSeq(input);
  const peripheral = peripheralBlocks(moment, view, { since, each: input.peripheralNotes });
  const blocks = [
    ...selection.frames.flatMap((frame) => frame.blocks),
    ...ambientAround({ moment, view, index }),
    ...ephemeralBlocks(input),
    ...peripheral,
  ];
  const read = await input.contents.load(hashesOf(blocks));
  if (!read.ok) return read;
  const { nonce, model, facts, timeMs } = input;
  const { atMost } = selection;
  const unitContext: UnitContext = {
    moment,
    view,
    nonce,
    model,
    read: read.value,
    isStart: selection.isStart,
    ...(atMost !== undefined && { atMost }),
  };
  const units: RenderedUnit[] = [];
  for (const frame of selection.frames) {
    const written = unitsOfFrame(unitContext, inMessages(frame, selection.isStart));
    units.push(...between(units.at(-1), written[0], input), ...written);
  }
  const path = selection.isStart ? null : input.path;
  const shown = new Set(path?.ambient.values());
  const endsWithOwn = (units.at(-1)?.role ?? (path?.endsWithOwn ? "assistant" : "user")) === "assistant";
  const own = selection.frames.flatMap((frame) => frame.blocks.filter((block) => isOwnBlock(block, view)));
  const tail = promptTail({
    moment,
    view,
    status: input.status,
    index,
    nonce,
    read: read.value,
    shown,
    isStart: selection.isStart,
    facts,
    own,
    timeMs,
    endsWithOwn,
    peripheral,
  });
  const tailUnit = tail === null ? [] : [{ ...ownUnit(tail.text, model, "tail"), shows: tail.shows }];
  return ok({ units, tail: tailUnit });
}

/**
 * Separates two consecutive answers of the agent by a note of ours. Without it they would merge into one
 * message, and reasoning that leads to a call must begin a message. In the path that was sent a tail stood
 * between them.
 */
function between(
  last: RenderedUnit | undefined,
  next: RenderedUnit | undefined,
  { nonce, model }: PromptInput,
): readonly RenderedUnit[] {
  const wouldMerge = last?.role === "assistant" && next?.role === "assistant";
  return wouldMerge ? [ownUnit(`[${nonce} nobody spoke in between]`, model)] : [];
}

function hashesOf(blocks: readonly AddedBlock[]): readonly ContentHash[] {
  return blocks.map(({ content }) => content);
}

/** System texts and memories stand in the head when a path begins; later ones stay among the messages. */
function inMessages(frame: VisibleFrame, isStart: boolean): VisibleFrame {
  return isStart
    ? { ...frame, blocks: frame.blocks.filter(({ kind }) => kind !== "system" && kind !== "memory") }
    : frame;
}

/**
 * The units before the first frame: the name of the stream, a line about earlier frames, memories and
 * pinned blocks.
 */
async function baselineOf(
  input: PromptInput,
  frames: readonly VisibleFrame[],
): Promise<Result<readonly RenderedUnit[]>> {
  const { moment, view, index, nonce, model } = input;
  const start = frames[0]?.seq ?? moment.seq;
  const memories = index
    .blocksOfKind(moment, view.stream, "memory")
    .filter((block) => isNotArchived(moment, view, block));
  const shown = new Set(frames.flatMap(({ blocks }) => blocks.map(({ id }) => id)));
  const pinned = index
    .pinned(moment, view)
    .filter(({ id, kind }) => !shown.has(id) && kind !== "memory" && kind !== "system");
  const read = await input.contents.load(hashesOf([...memories, ...pinned]));
  if (!read.ok) return read;
  const lasting = [...memories, ...pinned].map((block): RenderedUnit => {
    const stored = withoutNonce(contentText(read.value(block.content), block) ?? "", nonce);
    const speaker = isOwnBlock(block, view) ? "you" : speakerLabel(block, nonce);
    const label = block.kind === "memory" ? "memory" : `pinned, ${speaker}`;
    const text = `[${nonce} ${label}, message ${block.message} #${block.id}]\n${stored}`;
    return { ...ownUnit(text, model), shows: [{ block: block.id, as: "original" }] };
  });
  return ok([ownUnit(`${input.opening}${earlierLine(input, start)}`, model, "opening"), ...lasting]);
}

/** `[k7f3 earlier: up to message 30 #42 is not shown -> expand or recall it]` */
function earlierLine({ moment, view, nonce }: PromptInput, start: number): string {
  const earlier = findFirst(framesBack(moment, view), ({ seq }) => seq < start);
  const last = earlier?.blocks.at(-1);
  return last === undefined
    ? ""
    : `\n[${nonce} earlier: everything up to message ${last.message} #${last.id} is not shown -> expand or recall it]`;
}

function isNotArchived(moment: Moment, view: View, { id }: AddedBlock): boolean {
  const blockView = blockViewOf(moment, view, id);
  return blockView !== null && factValue(blockView, "archive") === null;
}

/** The frames of the present path, and those since. */
function windowFrames(input: PromptInput, path: PromptPath): readonly VisibleFrame[] {
  const start = path.start ?? sentSeq(input) + 1;
  return inReadingOrder(input.moment, input.view, framesSince(input, start - 1));
}

/** The frames for the first prompt of an agent in a stream. */
function newestFrames({ moment, view, window }: PromptInput): readonly VisibleFrame[] {
  const frames: VisibleFrame[] = [];
  for (const frame of framesBack(moment, view)) {
    if (frames.length >= window.frames) break;
    frames.unshift(frame);
  }
  return inReadingOrder(moment, view, frames);
}

function framesSince({ moment, view }: PromptInput, since: number): readonly VisibleFrame[] {
  const frames: VisibleFrame[] = [];
  for (const frame of framesBack(moment, view)) {
    if (frame.seq <= since) break;
    frames.unshift(frame);
  }
  return frames;
}

function hasSameHead({ head: sent }: PromptPath, head: readonly RenderedUnit[]): boolean {
  return sent.length === head.length && head.every(({ bytes }, at) => sameBytes(bytes, sent[at]?.bytes));
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0;
}

/**
 * True if the new frames hold results of the agent's own calls: the window does not move in the middle of a
 * run.
 */
function isMidRun({ view }: PromptInput, fresh: readonly VisibleFrame[]): boolean {
  return fresh.some(({ blocks }) =>
    blocks.some((block) => block.kind === "tool-result" && isOwnBlock(block, view)),
  );
}

function sentSeq({ moment, view }: PromptInput): number {
  return lastSentTurn(moment, view)?.seq ?? 0;
}

function tokensIn(units: readonly RenderedUnit[]): number {
  return units.reduce((sum, { tokens }) => sum + tokens, 0);
}

function findFirst<T>(all: Iterable<T>, is: (one: T) => boolean): T | null {
  for (const one of all) if (is(one)) return one;
  return null;
}
