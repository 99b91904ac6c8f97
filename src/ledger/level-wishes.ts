import type { PagedTable } from "../base/index.ts";
import { editablePart } from "../content/index.ts";
import { type LevelWish, type NumberedBlock, placeholderTokens } from "../exchange/index.ts";
import { hintOf, isLower, levelLine, placeholder } from "../notes/index.ts";
import { type PathPiece, pressureReason } from "../policy/index.ts";
import { protocolOf, type UnitReplacement } from "../protocols/index.ts";
import { isOwn, type LedgerNode, nodeBytes, type ShownBytes, shownWhole } from "./node.ts";
import { type PlannedUnit, rewordUnit } from "./planned-units.ts";

/** The wished level of blocks, by block number. */
export type LevelWishes = PagedTable<LevelWish>;

/** A sent node or a planned unit with its bytes. */
export type RewordableUnit = Pick<
  LedgerNode,
  "facts" | "numbered" | "original" | "firstForm" | "isRewritten"
> & {
  readonly bytes: Uint8Array;
};

/** The estimated size of the line after a lowered block. */
const lineTokens = 16;

/** The bytes with which a unit shows its block at the wished level. Undefined if there are none. */
export function rewordTo(
  { facts, numbered, original, firstForm, isRewritten, bytes }: RewordableUnit,
  wish: LevelWish,
  nonce: string,
): ShownBytes | undefined {
  if (numbered === null) return undefined;
  const own = isRewritten ? original : bytes;
  if (wish.as === "original")
    return firstForm ?? (own === null ? undefined : { bytes: own, shown: shownWhole });
  const replacement = replacementOf(wish, numbered, nonce);
  // After a restart the original may be forgotten. The shown bytes keep the fields that must stay.
  const other = replacement === null ? null : protocolOf(facts).write.replace(own ?? bytes, replacement);
  if (other === null) return undefined;
  return { bytes: other, shown: { as: wish.as, tokens: wishTokens(wish), borrows: [] } };
}

function wishTokens({ tokens }: LevelWish): number {
  return tokens + lineTokens;
}

function replacementOf(wish: LevelWish, numbered: NumberedBlock, nonce: string): UnitReplacement | null {
  const { as, text, input } = wish;
  const line = levelLine(nonce, { block: numbered.block, as, tokens: numbered.tokens });
  // An input has no room for a line, so the line becomes a member of it.
  if (input !== null) return { input: { ...input, _: line } };
  if (text === null) return null;
  if (as === "placeholder") return { text: placeholderText(wish, numbered, nonce), keepsMedia: false };
  return { text: `${text}\n${line}`, keepsMedia: as === "trimmed" };
}

function placeholderText({ text, reason }: LevelWish, numbered: NumberedBlock, nonce: string): string {
  const { block, kind, tokens, turn } = numbered;
  const header = { block, kind, tokens, exact: false, ttl: null, state: null };
  return placeholder({ nonce, mode: "compact", turn }, { block: header, reason, hint: text ?? "" });
}

/** The pieces of a path, each with the size it would have at its wished level. */
export function pathPieces(path: readonly LedgerNode[], wishes: LevelWishes): readonly PathPiece[] {
  const lowered = new Set<number>();
  for (const node of path) {
    const wish = pendingWish(node, wishes);
    if (wish !== null && wish.as !== "original" && node.numbered !== null) lowered.add(node.numbered.block);
  }
  return path.map((node) => pathPiece(node, wishes, lowered));
}

function pathPiece(node: LedgerNode, wishes: LevelWishes, lowered: ReadonlySet<number>): PathPiece {
  const whole = wholeTokens(node);
  const tokens = shownTokens(node);
  const wish = pendingWish(node, wishes);
  if (wish !== null) {
    const wantedTokens = wish.as === "original" ? whole : wishTokens(wish);
    return { tokens, wantedTokens, isWantedWhole: isLower(node.shown.as, wish.as) };
  }
  // A unit must repeat the lines it borrows from a block that is lowered.
  const losesLender = node.shown.borrows.some((block) => lowered.has(block));
  return { tokens, wantedTokens: losesLender ? whole : null };
}

/** The estimated size of a node as it is shown. */
export function shownTokens(node: LedgerNode): number {
  return node.shown.tokens ?? wholeTokens(node);
}

function wholeTokens(node: LedgerNode): number {
  return node.numbered?.tokens ?? ownTokens(node);
}

/** The wish for a node that is not shown as wished. Null if there is none, or it cannot be granted. */
export function pendingWish(
  { facts, numbered, shown, original, isRewritten }: LedgerNode,
  wishes: LevelWishes,
): LevelWish | null {
  const wish = numbered === null ? undefined : wishes.get(numbered.block);
  if (numbered === null || wish === undefined || wish.as === shown.as) return null;
  if (wish.as === "original") return isRewritten && original === null ? null : wish;
  // Texts and reasoning of the model are never changed, nor is a block that would not get shorter.
  const hasContent = facts.kind === "tool-call" ? wish.input !== null : wish.text !== null;
  const isShorter = isLower(shown.as, wish.as) || wishTokens(wish) < (shown.tokens ?? numbered.tokens);
  const isModelText = facts.kind === "reasoning" || facts.kind === "assistant";
  return hasContent && isShorter && !isModelText ? wish : null;
}

const bytesPerToken = 4;

function ownTokens(node: LedgerNode): number {
  const { sent } = node;
  return sent === null || !isOwn(node) ? 0 : Math.ceil((sent.end - sent.start) / bytesPerToken);
}

/** Shows a new unit of a known block at its wished level: after a fork that costs nothing. */
export function applyWish(unit: PlannedUnit, wishes: LevelWishes, nonce: string): PlannedUnit {
  const wish = unit.numbered === null ? undefined : wishes.get(unit.numbered.block);
  if (wish === undefined || wish.as === "original") return unit;
  const form = rewordTo(unit, wish, nonce);
  return form === undefined ? unit : rewordUnit(unit, form);
}

const prunableParts: readonly string[] = ["result", "media"];

/** A wish for a node's placeholder, to free room. Null if it is shown as one, or cannot be. */
export function pruneWish(node: LedgerNode): LevelWish | null {
  return node.shown.as === "placeholder" ? null : placeholderWish(node);
}

/** A wish for a node's placeholder, whatever is shown of it now. Null if it cannot have one. */
export function placeholderWish(node: LedgerNode): LevelWish | null {
  const { numbered, facts } = node;
  if (numbered === null) return null;
  const { block } = numbered;
  const wish = { block, as: "placeholder", tokens: placeholderTokens, reason: pressureReason } as const;
  if (facts.part === "call") {
    return { ...wish, text: null, input: {} };
  }
  // Results of the provider's own tools cannot be rewritten.
  if (!prunableParts.includes(facts.part)) return null;
  const content = editablePart(protocolOf(facts).read.part(node.original ?? nodeBytes(node)));
  const text = content === null || content.type === "call" ? "" : content.text;
  return { ...wish, text: hintOf(text), input: null };
}
