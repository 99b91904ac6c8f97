import { must } from "../../base/index.ts";
import type { AddedBlock } from "../../engine/frames/index.ts";
import { textOfUnit } from "../../ledger/index.ts";
import { protocolOf, type Tolerance } from "../../protocols/index.ts";
import type { DiffReason } from "../answers/diff-answers.ts";
import { type BodyUnit, bodyUnitBytes } from "./body-units.ts";
import { plainReason } from "./diff-reason.ts";
import type { DiffSide, DiffSides, UnitPair } from "./diff-units.ts";
import { namesSelection, type OwnCode, ownCode } from "./own-units.ts";
import {
  arrivalReason,
  arrivalRecorded,
  loweredReasons,
  type ReasonSource,
  reasoningReasons,
  withheldReasonOf,
} from "./recorded-reason.ts";
import { type SentFacts, unknownFacts } from "./sent-facts.ts";

/** Two bodies, and what is needed to explain their differences. */
export type ReasonContext = DiffSides & {
  readonly source: ReasonSource;
  /** Whether it was sent without reasoning that is bound to notes of ours. */
  readonly isPlain: boolean;
  /** Whether it follows an answer that called our tools, which the client has not received yet. */
  readonly isRound: boolean;
  readonly isOwnLine: Tolerance["isOwnLine"];
  /** Finds the block with this content, for units that the log does not know. */
  readonly blockOf: (content: string) => AddedBlock | null;
};

/**
 * The reasons why paired units differ; empty if they are the same. `lastPaired` is the last unit that the
 * client's body has a counterpart for.
 */
export function unitReasons(
  context: ReasonContext & { readonly lastPaired: number },
  pairing: UnitPair,
): readonly DiffReason[] {
  const before = sideUnit(context.before, pairing.before[0]);
  const after = sideUnit(context.after, pairing.after[0]);
  if (before === null) {
    const isBeyond = (pairing.after[0] ?? -1) > context.lastPaired;
    return after === null ? [] : addedReasons(context, after, isBeyond);
  }
  if (after === null) return removedReasons(context, before);
  if (pairing.after.length > 1) return [plainReason("merged")];
  if (pairing.before.length > 1) return [sentJoined];
  const changed =
    before.unit.unit.hash === after.unit.unit.hash ? [] : changedReasons(context, before, after);
  return pairing.isMoved ? [plainReason("order"), ...changed] : changed;
}

const sentJoined: DiffReason = {
  ...plainReason("merged"),
  words: "The client split one text into several. Aperture still sends one, to keep the cache.",
};

type SideUnit = { readonly unit: BodyUnit; readonly bytes: Uint8Array; readonly facts: SentFacts };

function sideUnit({ request, units, facts }: DiffSide, at: number | undefined): SideUnit | null {
  if (at === undefined) return null;
  const unit = must(units[at], "it lies in the body");
  return { unit, bytes: bodyUnitBytes(request, unit), facts: facts?.[at] ?? unknownFacts };
}

function addedReasons(context: ReasonContext, added: SideUnit, isBeyond: boolean): readonly DiffReason[] {
  const { before, after, isOwnLine, isRound } = context;
  const code = ownCodeOf(added) ?? answerCode(after, added);
  if (code === "manifest" || code === "change-note") {
    const selectionReasons = namesSelection(textOfUnit(added.unit.unit, added.bytes) ?? "")
      ? [plainReason("selection")]
      : [];
    return [plainReason(code), ...selectionReasons];
  }
  if (code !== null) return [plainReason(code)];
  if (isOnlyCommands(added, isOwnLine)) return [plainReason("command")];
  // Compared with an earlier request, later messages of client and model are new.
  if (before.facts !== null) return [plainReason("new")];
  if (isRound && isBeyond && added.facts.origin === "model") return [plainReason("round")];
  return [added.unit.unit.kind === "reasoning" ? keptReasoning : plainReason("unknown")];
}

const keptReasoning: DiffReason = {
  ...plainReason("canon"),
  words: "The client dropped this reasoning. Aperture still sends it, because the cache depends on it.",
};

/** The kind of a unit of ours. The log says that it is ours; its form says which kind. */
function ownCodeOf({ unit, bytes, facts }: SideUnit): OwnCode | "own" | null {
  const code = ownCode(unit, bytes);
  if (facts.origin !== "aperture") return facts.origin === null || code === "command" ? code : null;
  return code ?? (unit.unit.part === "result" ? "answer" : "own");
}

/** A result that answers a call of our tools is ours, even if the log does not know it. */
function answerCode({ units, request }: DiffSide, { unit, facts }: SideUnit): "answer" | null {
  const { callId, part } = unit.unit;
  if (facts.origin !== null || part !== "result" || callId === null) return null;
  const call = units.find((other) => other.unit.part === "call" && other.unit.callId === callId);
  return call !== undefined && ownCode(call, bodyUnitBytes(request, call)) === "command" ? "answer" : null;
}

/** Whether a text of the model holds nothing but commands. */
function isOnlyCommands({ unit, bytes }: SideUnit, isOwnLine: Tolerance["isOwnLine"]): boolean {
  const text =
    unit.unit.part === "text" && unit.unit.role === "assistant" ? textOfUnit(unit.unit, bytes) : null;
  if (text === null) return false;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 0 && lines.every(isOwnLine);
}

function removedReasons(
  { before, source, isPlain }: ReasonContext,
  removed: SideUnit,
): readonly DiffReason[] {
  const { unit } = removed.unit;
  if (before.facts !== null && ownCodeOf(removed) !== null) return [plainReason("once")];
  if (unit.kind === "reasoning") return reasoningReasons(source, isPlain);
  const { noAnswerText } = protocolOf(unit).traits;
  if (unit.role === "assistant" && textOfUnit(unit, removed.bytes) === noAnswerText)
    return [plainReason("stand-in")];
  return [plainReason(before.facts === null ? "unknown" : "client")];
}

function changedReasons(context: ReasonContext, before: SideUnit, after: SideUnit): readonly DiffReason[] {
  const { facts } = after;
  if (facts.as !== "original") return loweredReasons(context.source, facts);
  if (context.before.facts !== null && before.facts.as !== "original")
    return loweredReasons(context.source, facts);
  if (facts.origin === "aperture") return [plainReason("answer")];
  const withheld = withheldFor(context, before, facts);
  if (withheld !== null) return [withheld];
  const tolerance = { role: after.unit.unit.role, isOwnLine: context.isOwnLine };
  const protocol = protocolOf(after.unit.unit);
  if (protocol.read.isSame(after.bytes, before.bytes, tolerance)) return [plainReason("canon")];
  // Only a result may be shown with fewer lines and still count as whole.
  if (after.unit.unit.part === "result") {
    const isRecorded = facts.block !== null && facts.block.content !== after.unit.unit.hash;
    const reason =
      arrivalReason({ unit: after.unit.unit, before: before.bytes, after: after.bytes }) ??
      (isRecorded ? arrivalRecorded : null);
    if (reason !== null) return [reason];
  }
  if (context.before.facts !== null) return [plainReason("client")];
  return [plainReason(protocol.read.isRenamedCall(before.bytes) ? "canon" : "unknown")];
}

/** A side request has no path: the client's own content then tells which block it was. */
function withheldFor(
  { source, blockOf }: ReasonContext,
  { unit }: SideUnit,
  facts: SentFacts,
): DiffReason | null {
  const block = facts.block ?? blockOf(unit.unit.hash);
  return block === null ? null : withheldReasonOf(source, { ...facts, block });
}
