import { reworded, type Words } from "../../protocols/index.ts";
import { type HeaderMode, isLower, levelLine, type PathPiece, placeholder } from "../../render/index.ts";
import type { Numbered, WantedBlock } from "../desk-port.ts";
import { type Item, inOtherWords } from "./draft.ts";
import { isOwn, type Place, wholly } from "./place.ts";
import type { Reworded } from "./rewrite.ts";

/** What blocks are to show, by their number. */
export type WantedBlocks = ReadonlyMap<number, WantedBlock>;

/** A unit as far as its words matter: one that was sent, or one that is about to be. */
export type Spoken = Pick<Place, "numbered" | "original" | "first" | "isRewritten"> & {
  readonly bytes: Uint8Array;
};

/** About what the line behind a lowered block costs. */
const lineTokens = 16;

/** The words by which a unit shows its block as it is wanted; undefined where it has none. */
export function wordsAs(
  { numbered, original, first, isRewritten, bytes }: Spoken,
  wanted: WantedBlock,
  nonce: string,
): Reworded | undefined {
  if (numbered === null) return undefined;
  const own = isRewritten ? original : bytes;
  if (wanted.as === "original") return first ?? (own === null ? undefined : { bytes: own, showing: wholly });
  const words = wordsOf(wanted, numbered, nonce);
  // Its own words may be forgotten after a restart; what is kept of them is kept in what is shown.
  const other = words === null ? null : reworded(own ?? bytes, words);
  if (other === null) return undefined;
  return { bytes: other, showing: { as: wanted.as, tokens: shownTokens(wanted), borrows: [] } };
}

function shownTokens({ tokens }: WantedBlock): number {
  return tokens + lineTokens;
}

function wordsOf(wanted: WantedBlock, numbered: Numbered, nonce: string): Words | null {
  const { as, text, input } = wanted;
  const line = levelLine(nonce, { block: numbered.block, as, tokens: numbered.tokens });
  // An input has no place for a line, so it has a member more.
  if (input !== null) return { input: { ...input, _: line } };
  if (text === null) return null;
  if (as === "placeholder") return { text: placeholderOf(wanted, numbered, nonce), keepsMedia: false };
  return { text: `${text}\n${line}`, keepsMedia: as === "trimmed" };
}

function placeholderOf({ text, reason }: WantedBlock, numbered: Numbered, nonce: string): string {
  const { block, kind, tokens } = numbered;
  const mode: HeaderMode = "compact";
  const header = { block, kind, tokens, exact: false, ttl: null, state: null };
  return placeholder({ nonce, mode, turn: numbered.turn }, { block: header, reason, hint: text ?? "" });
}

/** The pieces of a path, each with the size it would have as it is wanted. */
export function piecesOf(path: readonly Place[], wanted: WantedBlocks): readonly PathPiece[] {
  const lowered = new Set<number>();
  for (const place of path) {
    const other = otherFor(place, wanted);
    if (other !== null && other.as !== "original" && place.numbered !== null)
      lowered.add(place.numbered.block);
  }
  return path.map((place) => pieceOf(place, wanted, lowered));
}

function pieceOf(place: Place, wanted: WantedBlocks, lowered: ReadonlySet<number>): PathPiece {
  const whole = wholeTokens(place);
  const tokens = tokensOf(place);
  const other = otherFor(place, wanted);
  if (other !== null) {
    const isMissed = isLower(place.showing.as, other.as);
    return { tokens, wanted: other.as === "original" ? whole : shownTokens(other), isMissed };
  }
  // What borrows lines from a block that goes will say them itself.
  const mustSay = place.showing.borrows.some((block) => lowered.has(block));
  return { tokens, wanted: mustSay ? whole : null };
}

/** About how large a unit is as it is shown. */
export function tokensOf(place: Place): number {
  return place.showing.tokens ?? wholeTokens(place);
}

function wholeTokens(place: Place): number {
  return place.numbered?.tokens ?? ownTokens(place);
}

/** How a place is to be shown, where that is not how it is shown. */
export function otherFor({ facts, numbered, showing, original, isRewritten }: Place, wanted: WantedBlocks) {
  const other = numbered === null ? undefined : wanted.get(numbered.block);
  if (numbered === null || other === undefined || other.as === showing.as) return null;
  if (other.as === "original") return isRewritten && original === null ? null : other;
  // The model's own words stay as they are, and so does what would not be shorter.
  const isSayable = facts.kind === "tool-call" ? other.input !== null : other.text !== null;
  const isShorter = isLower(showing.as, other.as) || shownTokens(other) < (showing.tokens ?? numbered.tokens);
  const isSpoken = facts.kind === "reasoning" || facts.kind === "assistant";
  return isSayable && isShorter && !isSpoken ? other : null;
}

const bytesPerToken = 4;

function ownTokens(place: Place): number {
  const { sent } = place;
  return sent === null || !isOwn(place) ? 0 : Math.ceil((sent.end - sent.start) / bytesPerToken);
}

/** An item whose block is known already: after a fork it is shown as it is wanted at once. */
export function wantedItem(item: Item, wanted: WantedBlocks, nonce: string): Item {
  const other = item.numbered === null ? undefined : wanted.get(item.numbered.block);
  if (other === undefined || other.as === "original") return item;
  const words = wordsAs(item, other, nonce);
  return words === undefined ? item : inOtherWords(item, words);
}
