import type { EditablePart } from "../../content/index.ts";
import { type BlockKind, levels, type Shown } from "../../engine/frames/index.ts";
import { attributesOf, type BlockView, factValue, isWithheld, wantedOf } from "../../engine/moment/index.ts";
import { hintOf, levelLine, placeholder, withoutNonce } from "../../notes/index.ts";
import { readEditable, type UnitReplacement } from "../../protocols/index.ts";
import { type LevelText, levelTexts } from "../../recorder/index.ts";

/** The level at which a block is shown, and the text that replaces its own. Null if it is shown unchanged. */
export type BlockForm = { readonly as: Shown; readonly replacement: UnitReplacement | null };

/**
 * Kinds that may be shortened. Text of the model stays unchanged: a note of ours inside it would teach the
 * model to write such notes.
 */
const shortenedKinds: readonly BlockKind[] = [
  "user",
  "tool-call",
  "tool-result",
  "media",
  "memory",
  "notice",
];

export const originalForm: BlockForm = { as: "original", replacement: null };

export type BlockFormInput = {
  readonly bytes: Uint8Array;
  readonly nonce: string;
  readonly model: string | null;
  /** Upper limit of the level, whatever is wanted: there is no room for more. */
  readonly atMost?: Shown;
};

/** The form that is wanted, or the nearest one for which there is a text. */
export function blockFormOf(blockView: BlockView, input: BlockFormInput): BlockForm {
  const as = input.atMost ?? wantedOf(blockView);
  const unit =
    as === "original" || !shortenedKinds.includes(blockView.block.kind)
      ? null
      : readEditable(input.bytes, blockView.block);
  if (unit === null) return originalForm;
  if (as === "placeholder") return { as, replacement: placeholderText(blockView, unit, input) };
  const { kind } = blockView.block;
  const { texts } = levelTexts({
    kind,
    unit: unit,
    call: null,
    tokens: tokensOf(blockView),
    model: input.model,
  });
  const level = levels.slice(1, levels.indexOf(as as (typeof levels)[number]) + 1).findLast((one) => {
    return texts.some(([made]) => made === one);
  });
  const text = texts.find(([one]) => one === level)?.[1];
  return level === undefined || text === undefined
    ? originalForm
    : { as: level, replacement: levelReplacement(blockView, level, { ...text, nonce: input.nonce }) };
}

function levelReplacement(
  blockView: BlockView,
  as: Shown,
  { text, input, nonce }: LevelText & { readonly nonce: string },
): UnitReplacement {
  const line = levelLine(nonce, { block: blockView.block.id, as, tokens: tokensOf(blockView) });
  return input === null
    ? { text: `${withoutNonce(text ?? "", nonce)}\n${line}`, keepsMedia: as === "trimmed" }
    : { input: { ...input, _: line } };
}

function placeholderText(
  blockView: BlockView,
  unit: EditablePart,
  { nonce, atMost }: BlockFormInput,
): UnitReplacement {
  const { id: block, kind, turn } = blockView.block;
  const isGone = isWithheld(blockView) || (attributesOf(blockView.moment, block)?.purged ?? false);
  const original = unit.type === "call" || isGone ? "" : unit.text;
  const header = { block, kind, tokens: tokensOf(blockView), exact: false, ttl: null, state: null } as const;
  const ownReason =
    factValue(blockView, "archive")?.reason ?? (atMost === undefined ? null : "there is no room for it");
  const reason = isGone ? "withheld" : ownReason;
  const pruned = { block: header, reason, hint: hintOf(original), isKept: !isGone };
  const text = placeholder({ nonce, mode: "compact", turn }, pruned);
  return unit.type === "call" ? { input: { _: text } } : { text, keepsMedia: false };
}

function tokensOf({ moment, block }: BlockView): number {
  return attributesOf(moment, block.id)?.tokens?.count ?? 0;
}
