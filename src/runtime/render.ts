import { type ContentHash, fail, ok, type Result } from "../base/index.ts";
import {
  type AddedBlock,
  factValue,
  lastSent,
  type Moment,
  placeOf,
  type RewriteReason,
  type View,
} from "../engine/index.ts";
import { type ManifestFacts, withoutNonce } from "../render/index.ts";
import { storedWords } from "../session/index.ts";
import type { Asked } from "./asked.ts";
import type { Contents } from "./contents.ts";
import { type FocusedFrame, framesBack, inOrder, isOwn } from "./focus.ts";
import type { Path } from "./path.ts";
import type { Standing } from "./standing.ts";
import { startable } from "./startable.ts";
import { ambientAround, passingBlocks, peripheralBlocks, tailOf } from "./tail.ts";
import { ownUnit, type RenderedUnit, unitsOf, type Writing, whoSpoke } from "./unit.ts";
import { leftOut, type WindowSize } from "./window.ts";

export type RenderAsked = {
  readonly moment: Moment;
  readonly view: View;
  /** What was sent last; null: nothing yet. */
  readonly path: Path | null;
  /** Tools and system text, as they would stand in front of what was sent. */
  readonly head: readonly RenderedUnit[];
  /** The same with all that was told since, for a path that begins now. */
  readonly headNow: readonly RenderedUnit[];
  readonly asked: Asked;
  readonly standing: Standing;
  readonly contents: Contents;
  readonly nonce: string;
  readonly model: string;
  readonly window: WindowSize;
  /** So many tokens a prompt may have, by our count times the rate. */
  readonly budgetTokens: number;
  readonly rate: number;
  readonly facts: ManifestFacts | null;
  /** So many notes of each other stream; none: what happens elsewhere is not told. */
  readonly peripheralNotes: number;
  readonly timeMs: number;
  readonly opening: string;
};

/** What a prompt is made of: what was sent before and stays as it is, and what comes behind it. */
export type Rendering = {
  /** Null: nothing of it. */
  readonly kept: Path | null;
  readonly fresh: readonly RenderedUnit[];
  /** Why the path begins anew, or null. */
  readonly epoch: RewriteReason | null;
  /** By our own count. */
  readonly tokens: number;
};

/** Goes on with what was sent, byte for byte, as long as that fits; else begins anew further on. */
export async function render(asked: RenderAsked): Promise<Result<Rendering>> {
  const { path, window, budgetTokens, rate } = asked;
  if (path === null) return await begin(asked, newest(asked), null);
  if (!hasSameHead(path, asked.head)) return await begin(asked, windowFrames(asked, path), "user");
  const fresh = inOrder(asked.moment, asked.view, framesSince(asked, sentSeq(asked)));
  const left = leftOut(path.frames + fresh.length, window);
  if (left > 0 && !isMidRun(asked, fresh)) {
    return await begin(asked, windowFrames(asked, path).slice(left), "pressure");
  }
  const going = await goOn(asked, path, fresh);
  if (!going.ok || going.value.tokens * rate <= budgetTokens) return going;
  return await begin(asked, windowFrames(asked, path), "pressure");
}

async function goOn(
  asked: RenderAsked,
  path: Path,
  frames: readonly FocusedFrame[],
): Promise<Result<Rendering>> {
  const written = await write(asked, { frames, isStart: false });
  if (!written.ok) return written;
  const fresh = [...written.value.units, ...written.value.tail];
  return ok({ kept: path, fresh, epoch: null, tokens: path.tokens + tokensIn(fresh) });
}

/**
 * A path from its beginning: what stays with the agent, then the frames. What does not fit goes, the oldest
 * first; the run that goes on is shortened before any of it goes.
 */
async function begin(
  asked: RenderAsked,
  all: readonly FocusedFrame[],
  epoch: RewriteReason | null,
): Promise<Result<Rendering>> {
  let frames = startable(asked, all);
  for (;;) {
    const rendered = await beginWith(asked, { frames, isStart: true });
    if (!rendered.ok) return rendered;
    const tokens = tokensIn(rendered.value);
    if (tokens * asked.rate <= asked.budgetTokens)
      return ok({ kept: null, fresh: rendered.value, epoch, tokens });
    const older = olderThanQuestion(asked, frames);
    if (older === 0) return await shortened(asked, frames, epoch);
    frames = startable(asked, frames.slice(Math.min(older, Math.max(1, Math.ceil(older / 2)))));
  }
}

/** How many frames may go: those before the agent was asked, but for what was last said to it. */
function olderThanQuestion(
  { asked: { askedSeq }, view }: RenderAsked,
  frames: readonly FocusedFrame[],
): number {
  const isSaidToIt = ({ blocks }: FocusedFrame): boolean => blocks.some((block) => !isOwn(block, view));
  const older = frames.filter(({ seq }) => seq < askedSeq).length;
  if (frames.some((frame) => frame.seq === askedSeq && isSaidToIt(frame))) return older;
  const question = frames.slice(0, older).findLastIndex(isSaidToIt);
  return question === -1 ? older : question;
}

const lowerForms = ["trimmed", "minimal", "placeholder"] as const;

/**
 * Everything of the run is kept, and as much of each block as there is room for: the largest give way first.
 */
async function shortened(
  asked: RenderAsked,
  frames: readonly FocusedFrame[],
  epoch: RewriteReason | null,
): Promise<Result<Rendering>> {
  const atMost = new Map<number, (typeof lowerForms)[number]>();
  let tokens = 0;
  for (const form of lowerForms) {
    for (;;) {
      const rendered = await beginWith(asked, { frames, isStart: true, atMost });
      if (!rendered.ok) return rendered;
      tokens = tokensIn(rendered.value);
      if (tokens * asked.rate <= asked.budgetTokens)
        return ok({ kept: null, fresh: rendered.value, epoch, tokens });
      const largest = largestIn(rendered.value, (block) => !isLower(atMost.get(block), form));
      if (largest === null) break;
      atMost.set(largest, form);
    }
  }
  return fail("AP_RUNTIME_BUDGET", { tokens: Math.ceil(tokens * asked.rate), budget: asked.budgetTokens });
}

function isLower(form: (typeof lowerForms)[number] | undefined, than: (typeof lowerForms)[number]): boolean {
  return form !== undefined && lowerForms.indexOf(form) >= lowerForms.indexOf(than);
}

/** Smaller blocks have nothing to give. */
const shortenedTokensMin = 100;

function largestIn(units: readonly RenderedUnit[], isOpen: (block: number) => boolean): number | null {
  const open = units.filter(({ shows, role, frame, tokens }) => {
    const [shown] = shows;
    return (
      shown !== undefined &&
      frame !== null &&
      role === "user" &&
      tokens >= shortenedTokensMin &&
      isOpen(shown.block)
    );
  });
  const [largest] = [...open].sort((a, b) => b.tokens - a.tokens);
  return largest?.shows[0]?.block ?? null;
}

type Wanted = {
  readonly frames: readonly FocusedFrame[];
  readonly isStart: boolean;
  readonly atMost?: NonNullable<Writing["atMost"]>;
};

async function beginWith(asked: RenderAsked, wanted: Wanted): Promise<Result<readonly RenderedUnit[]>> {
  const written = await write(asked, wanted);
  if (!written.ok) return written;
  const baseline = await baselineOf(asked, wanted.frames);
  if (!baseline.ok) return baseline;
  return ok([...asked.headNow, ...baseline.value, ...written.value.units, ...written.value.tail]);
}

type WrittenUnits = { readonly units: readonly RenderedUnit[]; readonly tail: readonly RenderedUnit[] };

async function write(asked: RenderAsked, wanted: Wanted): Promise<Result<WrittenUnits>> {
  const { moment, view, standing } = asked;
  const since = sentSeq(asked);
  const peripheral = peripheralBlocks(moment, view, { since, each: asked.peripheralNotes });
  const blocks = [
    ...wanted.frames.flatMap((frame) => frame.blocks),
    ...ambientAround({ moment, view, standing }),
    ...passingBlocks(asked),
    ...peripheral,
  ];
  const read = await asked.contents.reader(hashesOf(blocks));
  if (!read.ok) return read;
  const { nonce, model, facts, timeMs } = asked;
  const { atMost } = wanted;
  const writing: Writing = {
    moment,
    view,
    nonce,
    model,
    read: read.value,
    isStart: wanted.isStart,
    ...(atMost !== undefined && { atMost }),
  };
  const units: RenderedUnit[] = [];
  for (const frame of wanted.frames) {
    const written = unitsOf(writing, inMessages(frame, wanted.isStart));
    units.push(...between(units.at(-1), written[0], asked), ...written);
  }
  const path = wanted.isStart ? null : asked.path;
  const shown = new Set(path?.ambient.values());
  const endsWithOwn = (units.at(-1)?.role ?? (path?.endsWithOwn ? "assistant" : "user")) === "assistant";
  const own = wanted.frames.flatMap((frame) => frame.blocks.filter((block) => isOwn(block, view)));
  const said = { own, timeMs, endsWithOwn, peripheral };
  const { isStart } = wanted;
  const tail = tailOf({
    moment,
    view,
    asked: asked.asked,
    standing,
    nonce,
    read: read.value,
    shown,
    isStart,
    facts,
    ...said,
  });
  const tailUnit = tail === null ? [] : [{ ...ownUnit(tail.text, model, "tail"), shows: tail.shows }];
  return ok({ units, tail: tailUnit });
}

/**
 * Two answers of an agent between which nobody spoke would be one message, and reasoning that leads to a call
 * has to begin one. In the path that was sent a tail stood there.
 */
function between(
  last: RenderedUnit | undefined,
  next: RenderedUnit | undefined,
  { nonce, model }: RenderAsked,
): readonly RenderedUnit[] {
  const isOne = last?.role === "assistant" && next?.role === "assistant";
  return isOne ? [ownUnit(`[${nonce} nobody spoke in between]`, model)] : [];
}

function hashesOf(blocks: readonly AddedBlock[]): readonly ContentHash[] {
  return blocks.map(({ content }) => content);
}

/**
 * System text that was there when a path began stands in front of it; what came later stands where it came.
 */
function inMessages(frame: FocusedFrame, isStart: boolean): FocusedFrame {
  return isStart
    ? { ...frame, blocks: frame.blocks.filter(({ kind }) => kind !== "system" && kind !== "memory") }
    : frame;
}

/** What an agent knows of all that is not shown: where it is, what was noted for good, and what is pinned. */
async function baselineOf(
  asked: RenderAsked,
  frames: readonly FocusedFrame[],
): Promise<Result<readonly RenderedUnit[]>> {
  const { moment, view, standing, nonce, model } = asked;
  const start = frames[0]?.seq ?? moment.seq;
  const memories = standing.of(moment, view.stream, "memory").filter((block) => isKept(moment, view, block));
  const shown = new Set(frames.flatMap(({ blocks }) => blocks.map(({ id }) => id)));
  const pinned = standing
    .pinned(moment, view)
    .filter(({ id, kind }) => !shown.has(id) && kind !== "memory" && kind !== "system");
  const read = await asked.contents.reader(hashesOf([...memories, ...pinned]));
  if (!read.ok) return read;
  const noted = [...memories, ...pinned].map((block): RenderedUnit => {
    const words = withoutNonce(storedWords(read.value(block.content), block.kind) ?? "", nonce);
    const who = isOwn(block, view) ? "you" : whoSpoke(block, nonce);
    const what = block.kind === "memory" ? "memory" : `pinned, ${who}`;
    const text = `[${nonce} ${what}, message ${block.message} #${block.id}]\n${words}`;
    return { ...ownUnit(text, model), shows: [{ block: block.id, as: "original" }] };
  });
  return ok([ownUnit(`${asked.opening}${earlierLine(asked, start)}`, model, "opening"), ...noted]);
}

/** `[k7f3 earlier: up to message 30 #42 is not shown -> expand or recall it]` */
function earlierLine({ moment, view, nonce }: RenderAsked, start: number): string {
  const earlier = first(framesBack(moment, view), ({ seq }) => seq < start);
  const last = earlier?.blocks.at(-1);
  return last === undefined
    ? ""
    : `\n[${nonce} earlier: everything up to message ${last.message} #${last.id} is not shown -> expand or recall it]`;
}

function isKept(moment: Moment, view: View, { id }: AddedBlock): boolean {
  const place = placeOf(moment, view, id);
  return place !== null && factValue(place, "archive") === null;
}

/** The frames of the path at hand, and those since. */
function windowFrames(asked: RenderAsked, path: Path): readonly FocusedFrame[] {
  const start = path.start ?? sentSeq(asked) + 1;
  return inOrder(asked.moment, asked.view, framesSince(asked, start - 1));
}

/** For an agent that has not been here before. */
function newest({ moment, view, window }: RenderAsked): readonly FocusedFrame[] {
  const frames: FocusedFrame[] = [];
  for (const frame of framesBack(moment, view)) {
    if (frames.length >= window.frames) break;
    frames.unshift(frame);
  }
  return inOrder(moment, view, frames);
}

function framesSince({ moment, view }: RenderAsked, since: number): readonly FocusedFrame[] {
  const frames: FocusedFrame[] = [];
  for (const frame of framesBack(moment, view)) {
    if (frame.seq <= since) break;
    frames.unshift(frame);
  }
  return frames;
}

function hasSameHead({ head: sent }: Path, head: readonly RenderedUnit[]): boolean {
  return sent.length === head.length && head.every(({ bytes }, at) => sameBytes(bytes, sent[at]?.bytes));
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0;
}

/** Whether results of the agent's own calls are what is new: a run is not cut in its middle. */
function isMidRun({ view }: RenderAsked, fresh: readonly FocusedFrame[]): boolean {
  return fresh.some(({ blocks }) =>
    blocks.some((block) => block.kind === "tool-result" && isOwn(block, view)),
  );
}

function sentSeq({ moment, view }: RenderAsked): number {
  return lastSent(moment, view)?.seq ?? 0;
}

function tokensIn(units: readonly RenderedUnit[]): number {
  return units.reduce((sum, { tokens }) => sum + tokens, 0);
}

function first<T>(all: Iterable<T>, is: (one: T) => boolean): T | null {
  for (const one of all) if (is(one)) return one;
  return null;
}
