import { type Json, must, type Seq, type UnitId } from "../../base/index.ts";
import type { SentUnit, View } from "../../engine/index.ts";
import { type Moment, sentPath } from "../../engine/moment/index.ts";
import { unitTokens } from "../../tokens/index.ts";
import type { ContentReader } from "../content-cache.ts";
import type { WireBlock } from "../provider.ts";
import type { RenderedUnit } from "./rendered-unit.ts";

/** A message of a prompt, with the frames and blocks it shows. */
export type RenderedMessage = {
  readonly role: "user" | "assistant";
  readonly content: WireBlock[];
  readonly sourceFrames: { readonly from: number; readonly to: number } | null;
  readonly blockIds: number[];
};

/** The content of one unit of a prompt. */
export type RenderedPiece = {
  readonly role: "tools" | "system" | "user" | "assistant";
  /** In the form of the Messages API; the piece of tools holds all of them. */
  readonly content: Json;
  readonly tokens: number;
  readonly blockIds: readonly number[];
};

/**
 * A prompt that grows at its end. Everything that each turn needs to know about it is updated as it grows, so
 * that a turn costs only what is new.
 */
export class PromptPath {
  readonly head: RenderedUnit[] = [];
  readonly messages: RenderedMessage[] = [];
  /** All pieces of the prompt in order; their tokens add up to those of the prompt. */
  readonly pieces: RenderedPiece[] = [];
  readonly frameToMessageIndex = new Map<number, number>();
  /** The ambient blocks that were shown last, by name. */
  readonly ambient = new Map<string, number>();
  #leaf: UnitId | null = null;
  #tokens = 0;
  #start: Seq | null = null;
  /** The last block of the previous prompt. */
  #mark: { readonly message: number; readonly block: number } | null = null;

  get leaf(): UnitId | null {
    return this.#leaf;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** The first frame that is shown. Null if there is none yet. */
  get start(): Seq | null {
    return this.#start;
  }

  get frameCount(): number {
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

  /**
   * A copy that can grow by itself. All messages but the last are shared, because only the last one grows.
   */
  copy(): PromptPath {
    const copy = new PromptPath();
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

  /** Appends the units of one prompt; `leaf` is the id of the last one in the log. */
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
    if (unit.section !== "message") {
      this.head.push(unit);
      return;
    }
    const frame = unit.frame ?? null;
    if (unit.anchor === "tail") for (const { block } of unit.shows) this.ambient.set(anchorOf(block), block);
    this.#addToMessage(unit.role, piece, frame);
    if (frame === null) return;
    this.#start = Math.min(this.#start ?? frame, frame) as Seq;
    this.frameToMessageIndex.set(frame, this.messages.length - 1);
  }

  #addToMessage(
    role: RenderedUnit["role"],
    { content, blockIds }: RenderedPiece,
    frame: number | null,
  ): void {
    const block = content as WireBlock; // a unit of a message holds one block
    const last = this.messages.at(-1);
    if (last === undefined || last.role !== role) {
      const sourceFrames = frame === null ? null : { from: frame, to: frame };
      this.messages.push({ role, content: [block], sourceFrames, blockIds: [...blockIds] });
      return;
    }
    last.content.push(block);
    last.blockIds.push(...blockIds);
    this.messages[this.messages.length - 1] = { ...last, sourceFrames: extendSpan(last.sourceFrames, frame) };
  }
}

function pieceOf({ section, role, bytes, tokens, shows }: RenderedUnit): RenderedPiece {
  const content = JSON.parse(Buffer.from(bytes).toString("utf8")) as Json;
  const blockIds = shows.map(({ block }) => Number(block));
  return { role: section === "message" ? role : section, content, tokens, blockIds };
}

function extendSpan(
  span: RenderedMessage["sourceFrames"],
  frame: number | null,
): RenderedMessage["sourceFrames"] {
  if (frame === null) return span;
  return span === null
    ? { from: frame, to: frame }
    : { from: Math.min(span.from, frame), to: Math.max(span.to, frame) };
}

/** The units of the last prompt of a view, from the log. */
export function sentUnits(moment: Moment, view: View): readonly SentUnit[] {
  return sentPath(moment, view).map((id) => must(moment.state.units.get(id), "a path is made of sent units"));
}

type UnitSource = { readonly read: ContentReader; readonly model: string };

/** Rebuilds the path of a sent prompt from the log after a restart. */
export function restorePromptPath(
  moment: Moment,
  units: readonly SentUnit[],
  { read, model }: UnitSource,
): PromptPath {
  const path = new PromptPath();
  const anchorOf = (block: number): string =>
    must(moment.state.blocks.get(block), "it was shown").block.anchor;
  const rendered = units.map((unit) => renderedUnit(moment, unit, { read, model }));
  path.append(rendered, units.at(-1)?.id ?? null, anchorOf);
  return path;
}

function renderedUnit({ state }: Moment, unit: SentUnit, { read, model }: UnitSource): RenderedUnit {
  const bytes = read(unit.bytes);
  const { anchor, origin, shows, message } = unit;
  const section = anchor === "tools" || anchor === "system" ? anchor : "message";
  const [shown] = origin === "aperture" ? [] : shows;
  const block = shown === undefined ? null : must(state.blocks.get(shown.block), "it was shown").block;
  const kind = section === "message" ? (block?.kind ?? "user") : "system";
  return {
    section,
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
