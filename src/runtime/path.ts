import { type Json, must, type Seq, type UnitId } from "../base/index.ts";
import { type Moment, pathOf, type SentUnit, type View } from "../engine/index.ts";
import { unitTokens } from "../session/index.ts";
import type { ReadContent } from "./contents.ts";
import type { WireBlock } from "./provider.ts";
import type { RenderedUnit } from "./unit.ts";

/** A message of a prompt, with what it is made of. */
export type RenderedMessage = {
  readonly role: "user" | "assistant";
  readonly content: WireBlock[];
  readonly sourceFrames: { readonly from: number; readonly to: number } | null;
  readonly blockIds: number[];
};

/** A piece of a prompt as it was added to it. */
export type RenderedPiece = {
  readonly role: "tools" | "system" | "user" | "assistant";
  /** In the form of the Messages interface; of tools, all of them. */
  readonly content: Json;
  readonly tokens: number;
  readonly blockIds: readonly number[];
};

/**
 * A prompt that grows at its end. Everything about it that is asked for with every turn is kept as it grows,
 * so that a turn costs what is new in it.
 */
export class Path {
  readonly head: RenderedUnit[] = [];
  readonly messages: RenderedMessage[] = [];
  /** All that the prompt is made of, in order: their tokens are those of the prompt. */
  readonly pieces: RenderedPiece[] = [];
  readonly frameToMessageIndex = new Map<number, number>();
  /** By their name, the ambient blocks that were shown last. */
  readonly ambient = new Map<string, number>();
  #leaf: UnitId | null = null;
  #tokens = 0;
  #start: Seq | null = null;
  /** Where the prompt before this one ended. */
  #mark: { readonly message: number; readonly block: number } | null = null;

  get leaf(): UnitId | null {
    return this.#leaf;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** The first frame that is shown; null: none yet. */
  get start(): Seq | null {
    return this.#start;
  }

  get frames(): number {
    return this.frameToMessageIndex.size;
  }

  get mark(): { readonly message: number; readonly block: number } | null {
    return this.#mark;
  }

  get endsWithOwn(): boolean {
    return this.messages.at(-1)?.role === "assistant";
  }

  hasCall(id: string): boolean {
    return this.messages.some(({ content }) =>
      content.some((block) => block.type === "tool_use" && block["id"] === id),
    );
  }

  /** One that goes on from here on its own. Messages and units are not copied: they only grow at the end. */
  copy(): Path {
    const copy = new Path();
    copy.head.push(...this.head);
    for (const message of this.messages) copy.messages.push(message);
    for (const piece of this.pieces) copy.pieces.push(piece);
    const last = copy.messages.pop();
    if (last !== undefined)
      copy.messages.push({ ...last, content: [...last.content], blockIds: [...last.blockIds] });
    for (const [frame, index] of this.frameToMessageIndex) copy.frameToMessageIndex.set(frame, index);
    for (const [name, block] of this.ambient) copy.ambient.set(name, block);
    copy.#leaf = this.#leaf;
    copy.#tokens = this.#tokens;
    copy.#start = this.#start;
    return copy;
  }

  /** Those that belong to one prompt, under the numbers they have in the log. */
  append(units: readonly RenderedUnit[], leaf: UnitId | null, anchorOf: (block: number) => string): void {
    const last = this.messages.at(-1);
    this.#mark =
      last === undefined ? null : { message: this.messages.length - 1, block: last.content.length - 1 };
    for (const unit of units) this.#add(unit, anchorOf);
    this.#leaf = leaf;
  }

  #add(unit: RenderedUnit, anchorOf: (block: number) => string): void {
    this.#tokens += unit.tokens;
    const piece = pieceOf(unit);
    this.pieces.push(piece);
    if (unit.place !== "message") {
      this.head.push(unit);
      return;
    }
    const frame = unit.frame ?? null;
    if (unit.anchor === "tail") for (const { block } of unit.shows) this.ambient.set(anchorOf(block), block);
    this.#speak(unit.role, piece, frame);
    if (frame === null) return;
    this.#start = Math.min(this.#start ?? frame, frame) as Seq;
    this.frameToMessageIndex.set(frame, this.messages.length - 1);
  }

  #speak(role: RenderedUnit["role"], { content, blockIds }: RenderedPiece, frame: number | null): void {
    const block = content as WireBlock; // what a unit of a message holds
    const last = this.messages.at(-1);
    if (last === undefined || last.role !== role) {
      const sourceFrames = frame === null ? null : { from: frame, to: frame };
      this.messages.push({ role, content: [block], sourceFrames, blockIds: [...blockIds] });
      return;
    }
    last.content.push(block);
    last.blockIds.push(...blockIds);
    this.messages[this.messages.length - 1] = { ...last, sourceFrames: spanned(last.sourceFrames, frame) };
  }
}

function pieceOf({ place, role, bytes, tokens, shows }: RenderedUnit): RenderedPiece {
  const content = JSON.parse(Buffer.from(bytes).toString("utf8")) as Json;
  const blockIds = shows.map(({ block }) => Number(block));
  return { role: place === "message" ? role : place, content, tokens, blockIds };
}

function spanned(
  span: RenderedMessage["sourceFrames"],
  frame: number | null,
): RenderedMessage["sourceFrames"] {
  if (frame === null) return span;
  return span === null
    ? { from: frame, to: frame }
    : { from: Math.min(span.from, frame), to: Math.max(span.to, frame) };
}

/** The units of the last prompt of a view, as the log has them. */
export function sentUnits(moment: Moment, view: View): readonly SentUnit[] {
  return pathOf(moment, view).map((id) => must(moment.state.units.get(id), "a path is made of sent units"));
}

type Reading = { readonly read: ReadContent; readonly model: string };

/** What was sent, put together again from the log after a restart. */
export function pathFrom(moment: Moment, units: readonly SentUnit[], { read, model }: Reading): Path {
  const path = new Path();
  const anchorOf = (block: number): string =>
    must(moment.state.blocks.get(block), "it was shown").block.anchor;
  const rendered = units.map((unit) => renderedUnit(moment, unit, { read, model }));
  path.append(rendered, units.at(-1)?.id ?? null, anchorOf);
  return path;
}

function renderedUnit({ state }: Moment, unit: SentUnit, { read, model }: Reading): RenderedUnit {
  const bytes = read(unit.bytes);
  const { anchor, origin, shows, message } = unit;
  const place = anchor === "tools" || anchor === "system" ? anchor : "message";
  const [shown] = origin === "aperture" ? [] : shows;
  const block = shown === undefined ? null : must(state.blocks.get(shown.block), "it was shown").block;
  const kind = place === "message" ? (block?.kind ?? "user") : "system";
  return {
    place,
    role: origin === "model" ? "assistant" : "user",
    bytes,
    tokens: unitTokens({ bytes, kind }, model),
    shows,
    frame: block?.addedSeq ?? null,
    origin,
    anchor,
    message,
  };
}
