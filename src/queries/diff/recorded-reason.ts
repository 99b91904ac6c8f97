import { must, type Seq } from "../../base/index.ts";
import { editablePart } from "../../content/index.ts";
import type { Actor, FactName } from "../../engine/frames/index.ts";
import { rewriteReasonTexts } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import {
  asOf,
  type BlockView,
  blockViewOf,
  factOf,
  factVersion,
  type Moment,
  pairOf,
} from "../../engine/moment/index.ts";
import { readNote } from "../../notes/index.ts";
import { protocolOf, type WireUnit } from "../../protocols/index.ts";
import type { DiffReason } from "../answers/diff-answers.ts";
import { plainReason } from "./diff-reason.ts";
import type { SentFacts } from "./sent-facts.ts";

/** The moment and view in which reasons are looked up. `view` is null if the exchange belongs to none. */
export type ReasonSource = { readonly moment: Moment; readonly view: View | null };

const actorWords: Readonly<Record<Actor, string>> = {
  user: "you",
  client: "the client",
  model: "the model",
  sidecar: "background work",
  policy: "policy",
};

/** The reasons why a block is shown shortened: the actor that wanted it, and the rewrite that did it. */
export function loweredReasons(source: ReasonSource, facts: SentFacts): readonly DiffReason[] {
  const blockView = blockThen(source, facts);
  const wanted = blockView === null ? null : (withheldReason(blockView) ?? archiveReason(blockView));
  const rewrite = rewriteReason(source, facts);
  if (wanted !== null) return [wanted, ...rewrite];
  const level = facts.as === "placeholder" ? plainPruned : levelReason(blockView, facts);
  const isFirst = level.by === null && rewrite.length === 0 && facts.as === "trimmed";
  return [isFirst ? trimmedAtOnce : level, ...rewrite];
}

/** Null if the block was not withheld. */
export function withheldReasonOf(source: ReasonSource, facts: SentFacts): DiffReason | null {
  const blockView = blockThen(source, facts);
  return blockView === null ? null : withheldReason(blockView);
}

/** The block when the unit was first sent: the wishes of that moment explain how it was sent. */
function blockThen({ moment, view }: ReasonSource, { block, seq }: SentFacts): BlockView | null {
  if (view === null || block === null) return null;
  const momentThen = seq === null ? moment : asOf(moment, seq as Seq);
  return blockViewOf(momentThen, view, block.id);
}

function withheldReason(blockView: BlockView): DiffReason | null {
  const factHolder = pairOf(blockView).find((member) => factOf(member, "withhold").value === true);
  if (factHolder === undefined) return null;
  const { by, seq } = factSetter(factHolder, "withhold");
  return {
    code: "withheld",
    words: `Withheld by ${actorWords[by]}.`,
    by,
    seq,
    why: null,
  };
}

function archiveReason(blockView: BlockView): DiffReason | null {
  const factHolder = [blockView, ...pairOf(blockView)].find(
    (member) => factOf(member, "archive").value !== null,
  );
  const archive = factHolder === undefined ? null : factOf(factHolder, "archive").value;
  if (factHolder === undefined || archive === null || typeof archive !== "object") return null;
  const { by, seq } = factSetter(factHolder, "archive");
  const reasonText = "reason" in archive && archive.reason !== "" ? `: ${archive.reason}` : "";
  const words = `Archived by ${actorWords[by]}${reasonText}. A placeholder replaces it; the original is stored.`;
  return { code: "pruned", words, by, seq, why: null };
}

const plainPruned: DiffReason = {
  code: "pruned",
  words: "A placeholder replaces it; the original is stored.",
  by: null,
  seq: null,
  why: null,
};

const trimmedAtOnce: DiffReason = {
  code: "arrival",
  words: "Trimmed on arrival, because it is large. The original is stored.",
  by: "policy",
  seq: null,
  why: null,
};

const levelWords = {
  original: "whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "cut to one line",
  placeholder: "pruned",
  absent: "not at all",
} as const;

function levelReason(blockView: BlockView | null, { as }: SentFacts): DiffReason {
  const shown = `Shown ${levelWords[as]}`;
  const level = blockView === null ? null : factOf(blockView, "level");
  if (blockView === null || level === null || level.value === "original") {
    return { code: "level", words: `${shown}; the original is stored.`, by: null, seq: null, why: null };
  }
  const { by, seq } = factSetter(blockView, "level");
  const words = `${shown}, set by ${actorWords[by]}; the original is stored.`;
  return { code: "level", words, by, seq, why: null };
}

type FactSetter = { readonly by: Actor; readonly seq: number | null };

function factSetter(blockView: BlockView, fact: FactName): FactSetter {
  return { by: factOf(blockView, fact).by, seq: factVersion(blockView, fact)?.seq ?? null };
}

/** The rewrite that first sent the unit in this form; none if it was appended. */
function rewriteReason({ view }: ReasonSource, { seq }: SentFacts): readonly DiffReason[] {
  if (view === null || seq === null) return [];
  const epoch = epochAt(view, seq);
  if (epoch === null) return [];
  const words = `Since rewrite ${epoch.number}: ${rewriteReasonTexts[epoch.reason]}.`;
  return [{ code: "rewrite", words, by: null, seq: epoch.seq, why: null }];
}

/** An epoch and the turn that begins it share a frame, or stand in neighbouring frames if it is large. */
function epochAt(view: View, seq: number) {
  for (let at = view.epochs.size - 1; at >= 0; at -= 1) {
    const epoch = must(view.epochs.get(at), "epochs have no gaps");
    if (epoch.seq > seq) continue;
    const carrier = [...view.sent.entries()].find(([, sent]) => sent.seq >= epoch.seq)?.[1];
    const isWithin = carrier !== undefined && seq <= carrier.seq;
    return isWithin ? { number: at + 1, reason: epoch.reason, seq: epoch.seq } : null;
  }
  return null;
}

/** The reasons why reasoning of the client's body was not sent. */
export function reasoningReasons(source: ReasonSource, isPlain: boolean): readonly DiffReason[] {
  const words = isPlain
    ? "Removed: this reasoning followed a note of Aperture that is not sent now, and the provider would reject it."
    : "Removed: a rewrite changed the text before this reasoning, and the provider would reject it.";
  return [{ code: "reasoning", words, by: null, seq: lastEpochSeq(source), why: null }];
}

function lastEpochSeq({ moment, view }: ReasonSource): number | null {
  const last = view?.epochs.get(view.epochs.size - 1) ?? null;
  return last === null || last.seq > moment.seq ? null : last.seq;
}

const escapeCharacter = "\u001b";
const repeated = /^\[\w+ the line above stands here \d+ times\]$/m;
const reference = /^\[\w+ [^\n]*: same as [^\n]*in #(\d+), from its line \d+[^\n]*\]$/gm;

/**
 * Explains what was removed from a result on arrival, from its two texts. Null if the texts do not show it,
 * so that only the log can tell.
 */
export function arrivalReason({
  unit,
  before,
  after,
}: {
  readonly unit: WireUnit;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}): DiffReason | null {
  const [beforeText, shown] = [textOf(unit, before), textOf(unit, after)];
  if (startsWithHeader(shown)) {
    return { ...plainReason("header"), words: "A header before it gives its number and size." };
  }
  const quotedBlocks = [...new Set([...shown.matchAll(reference)].map(([, block]) => `#${block}`))];
  const isRemoved = (sign: string): boolean => beforeText.includes(sign) && !shown.includes(sign);
  const removed = [
    isRemoved(escapeCharacter) ? ["terminal control codes"] : [],
    isRemoved("\r") ? ["overwritten progress lines"] : [],
    repeated.test(shown) ? ["repeated lines"] : [],
    quotedBlocks.length > 0 ? [`lines already in ${quotedBlocks.join(" ")}`] : [],
  ].flat();
  return removed.length === 0 ? null : { ...arrivalRecorded, words: arrivalWords(removed.join(", ")) };
}

const arrivalWords = (removed: string): string =>
  `Shown on arrival without ${removed}. The original is stored.`;

/** The log says that the block is shown whole, but in other words than the client sent. */
export const arrivalRecorded: DiffReason = {
  code: "arrival",
  words: arrivalWords("redundant text"),
  by: "policy",
  seq: null,
  why: null,
};

function textOf(unit: WireUnit, bytes: Uint8Array): string {
  const readable = editablePart(protocolOf(unit).read.part(bytes));
  return readable?.type === "result" || readable?.type === "text" ? readable.text : "";
}

/** True if a full header was put in front of a result. */
function startsWithHeader(text: string): boolean {
  const note = readNote(text);
  return note?.type === "message-header" || note?.type === "part-header" || note?.type === "placeholder";
}
