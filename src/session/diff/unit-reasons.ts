import { must } from "../../base/index.ts";
import type { AddedBlock } from "../../engine/index.ts";
import { nothingSaid } from "../../protocols/index.ts";
import { isSameUnit, type Tolerance, textOf } from "../ledger/tolerance.ts";
import { type BodyUnit, bytesIn } from "./body-units.ts";
import type { Paired, Side, Sides } from "./diff-units.ts";
import { namesSelection, type OwnCode, ownCode } from "./own-units.ts";
import { type DiffReason, plainReason } from "./reason.ts";
import {
  arrivalReason,
  arrived,
  loweredReasons,
  reasoningReasons,
  type Witness,
  withheldAt,
} from "./recorded-reason.ts";
import { type SentFacts, unknownFacts } from "./sent-facts.ts";

/** Two bodies, and who knows why they differ. */
export type Reasoning = Sides & {
  readonly witness: Witness;
  /** Sent without reasoning that is bound to something of ours. */
  readonly isPlain: boolean;
  /** Sent after an answer that called our tools: the client has not got that answer yet. */
  readonly isRound: boolean;
  readonly isOwnLine: Tolerance["isOwnLine"];
  /** The block that has this content; looked up where the log knows no unit. */
  readonly blockOf: (content: string) => AddedBlock | null;
};

/** What is behind all that the client has said. */
export type Beyond = { readonly lastPaired: number };

/** Why what was sent is not what was there before. Empty: it is. */
export function unitReasons(asked: Reasoning & Beyond, paired: Paired): readonly DiffReason[] {
  const [before, after] = [one(asked.before, paired.before[0]), one(asked.after, paired.after[0])];
  if (before === null) {
    const isBeyond = (paired.after[0] ?? -1) > asked.lastPaired;
    return after === null ? [] : addedReasons(asked, after, isBeyond);
  }
  if (after === null) return leftOutReasons(asked, before);
  if (paired.after.length > 1) return [plainReason("merged")];
  if (paired.before.length > 1) return [sentJoined];
  const changed = before.unit.unit.hash === after.unit.unit.hash ? [] : changedReasons(asked, before, after);
  return paired.isMoved ? [plainReason("order"), ...changed] : changed;
}

const sentJoined: DiffReason = {
  ...plainReason("merged"),
  words: "The client has taken apart what was sent as one text; it is sent as it was.",
};

/** A unit, its bytes, and what the log says of it. */
type One = { readonly unit: BodyUnit; readonly bytes: Uint8Array; readonly facts: SentFacts };

function one({ request, units, facts }: Side, at: number | undefined): One | null {
  if (at === undefined) return null;
  const unit = must(units[at], "it lies in the body");
  return { unit, bytes: bytesIn(request, unit), facts: facts?.[at] ?? unknownFacts };
}

function addedReasons(asked: Reasoning, added: One, isBeyond: boolean): readonly DiffReason[] {
  const { before, after, isOwnLine, isRound } = asked;
  const code = ownCodeOf(added) ?? answerCode(after, added);
  if (code === "manifest" || code === "change-note") {
    const told = namesSelection(added.bytes) ? [plainReason("selection")] : [];
    return [plainReason(code), ...told];
  }
  if (code !== null) return [plainReason(code)];
  if (isCommanding(added, isOwnLine)) return [plainReason("command")];
  // Beside another request, what the client and the model have said since is simply new.
  if (before.facts !== null) return [plainReason("new")];
  if (isRound && isBeyond && added.facts.origin === "model") return [plainReason("round")];
  return [added.unit.unit.kind === "reasoning" ? keptReasoning : plainReason("unknown")];
}

const keptReasoning: DiffReason = {
  ...plainReason("canon"),
  words:
    "The client has dropped this reasoning; it is sent as it was, because what follows is cached behind it.",
};

/** What of ours it is. The log says that it is ours; its form says what. */
function ownCodeOf({ unit, bytes, facts }: One): OwnCode | "own" | null {
  const code = ownCode(unit, bytes);
  if (facts.origin !== "aperture") return facts.origin === null || code === "command" ? code : null;
  return code ?? (unit.unit.type === "tool_result" ? "answer" : "own");
}

/** What answers a call of ours is ours, whether or not the log knows it. */
function answerCode({ units, request }: Side, { unit, facts }: One): "answer" | null {
  const { callId, type } = unit.unit;
  if (facts.origin !== null || type !== "tool_result" || callId === null) return null;
  const call = units.find((one) => one.unit.type === "tool_use" && one.unit.callId === callId);
  return call !== undefined && ownCode(call, bytesIn(request, call)) === "command" ? "answer" : null;
}

/** A text of the model that says nothing but commands. */
function isCommanding({ unit, bytes }: One, isOwnLine: Tolerance["isOwnLine"]): boolean {
  const text = unit.unit.type === "text" && unit.unit.role === "assistant" ? textOf(bytes) : null;
  if (text === null) return false;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 0 && lines.every(isOwnLine);
}

function leftOutReasons({ before, witness, isPlain }: Reasoning, left: One): readonly DiffReason[] {
  const { unit } = left.unit;
  if (before.facts !== null && ownCodeOf(left) !== null) return [plainReason("once")];
  if (unit.kind === "reasoning") return reasoningReasons(witness, isPlain);
  if (unit.role === "assistant" && textOf(left.bytes) === nothingSaid) return [plainReason("stand-in")];
  return [plainReason(before.facts === null ? "unknown" : "client")];
}

function changedReasons(asked: Reasoning, before: One, after: One): readonly DiffReason[] {
  const { facts } = after;
  if (facts.as !== "original") return loweredReasons(asked.witness, facts);
  if (asked.before.facts !== null && before.facts.as !== "original")
    return loweredReasons(asked.witness, facts);
  if (facts.origin === "aperture") return [plainReason("answer")];
  const withheld = withheldFor(asked, before, facts);
  if (withheld !== null) return [withheld];
  const tolerance = { role: after.unit.unit.role, isOwnLine: asked.isOwnLine };
  if (isSameUnit(after.bytes, before.bytes, tolerance)) return [plainReason("canon")];
  // A result is the only thing that is shown in fewer lines and still counts as whole.
  if (after.unit.unit.type === "tool_result") {
    const isRecorded = facts.block !== null && facts.block.content !== after.unit.unit.hash;
    const reason =
      arrivalReason({ before: before.bytes, after: after.bytes }) ?? (isRecorded ? arrived : null);
    if (reason !== null) return [reason];
  }
  if (asked.before.facts !== null) return [plainReason("client")];
  return [plainReason(isRenamed(before) ? "canon" : "unknown")];
}

/** What was sent beside a stream stands on no path: then the client's own words say which block it was. */
function withheldFor({ witness, blockOf }: Reasoning, { unit }: One, facts: SentFacts): DiffReason | null {
  const block = facts.block ?? blockOf(unit.unit.hash);
  return block === null ? null : withheldAt(witness, { ...facts, block });
}

/** A client that does not know a tool gives its call another name. */
function isRenamed({ unit, bytes }: One): boolean {
  return unit.unit.type === "tool_use" && Buffer.from(bytes).includes('"name":"invalid"');
}
