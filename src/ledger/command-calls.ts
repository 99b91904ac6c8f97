import { hashContent, must } from "../base/index.ts";
import { isCommandTool } from "../commands/index.ts";
import { editablePart } from "../content/index.ts";
import type { CommandCall, CommandResult } from "../exchange/index.ts";
import { type AnswerUnit, protocolOf, type UnitWrapper } from "../protocols/index.ts";
import { childrenOf, type LedgerTree, newestBelow, parentOf } from "./ledger-tree.ts";
import { isOwn, type LedgerNode, nodeBytes, shownWhole, type UnitFacts } from "./node.ts";
import { type PlannedUnit, plannedDefaults, rewordUnit } from "./planned-units.ts";

/** A call by its id and by the id of the node before the message that makes it. */
export type CallRef = { readonly id: string; readonly beforeId: string };

/** The results of commands by the key of their call. */
export type CommandResults = ReadonlyMap<string, CommandResult>;

export function callKey({ id, beforeId }: CallRef): string {
  return `${beforeId} ${id}`;
}

/** The id of the node before the message that a node belongs to. */
export function idBeforeMessage(tree: LedgerTree, node: LedgerNode): string {
  let start = node;
  let before = parentOf(tree, start);
  while (!start.opensMessage && before !== null) [start, before] = [before, parentOf(tree, before)];
  return before?.sent?.id ?? "";
}

/** The call of one of our tools in a unit. Null if it is no such call. */
export function ownCallIn(unit: Pick<UnitFacts, "protocol" | "part">, bytes: Uint8Array): CommandCall | null {
  const content = unit.part === "call" ? editablePart(protocolOf(unit).read.part(bytes)) : null;
  if (content?.type !== "call" || !isCommandTool(content.name)) return null;
  const { id, name, input } = content;
  return { id, name, input };
}

export function ownCallsIn(units: readonly AnswerUnit[]): readonly CommandCall[] {
  return units.flatMap(({ unit, bytes }) => ownCallIn(unit, bytes) ?? []);
}

/**
 * The last hidden call after the part of an answer that the client has: the next message comes after it. If
 * the answer continued in rounds, the results lie between the calls.
 */
export function hiddenEnd(tree: LedgerTree, node: LedgerNode): LedgerNode {
  if (node.wrapping.role !== "assistant") return node;
  return lastHidden(tree, node) ?? node;
}

function lastHidden(tree: LedgerTree, node: LedgerNode): LedgerNode | null {
  for (const child of newestBelow(tree, node)) {
    if (!isOwn(child)) continue;
    const last = lastHidden(tree, child) ?? (child.facts.isHidden === true ? child : null);
    if (last !== null) return last;
  }
  return null;
}

/** A call of one of our tools that has no result yet, and the result that is sent for it. */
export type OpenCall = { readonly call: LedgerNode; readonly result: AnswerUnit };

/**
 * The calls of our tools that the next units must answer: the calls in the message that ends at the node or,
 * if the node lies inside the message after it, the calls without a result so far.
 */
export function openCalls(tree: LedgerTree, end: LedgerNode, results: CommandResults): readonly OpenCall[] {
  const answered = new Set<string | null>();
  let at: LedgerNode | null = end;
  for (let isOver = false; at !== null && at.wrapping.role === "user" && !isOver; at = parentOf(tree, at)) {
    answered.add(at.facts.callId);
    isOver = at.opensMessage;
  }
  const calls: OpenCall[] = [];
  if (at?.wrapping.role !== "assistant") return calls;
  for (; at !== null; at = at.opensMessage ? null : parentOf(tree, at)) {
    const { isHidden, callId } = at.facts;
    if (isHidden && callId !== null && !answered.has(callId))
      calls.push({ call: at, result: writeResult(tree, at, results) });
  }
  return calls.reverse();
}

/** The last of our results inside a message of the client: the client's next units come after it. */
export function endOfOwnResults(tree: LedgerTree, node: LedgerNode): LedgerNode {
  const own = childrenOf(tree, node).findLast(
    (child) => isOwn(child) && !child.opensMessage && child.facts.part === "result",
  );
  return node.wrapping.role !== "user" || own === undefined ? node : endOfOwnResults(tree, own);
}

/** The wrapping of a user message that we write after a call. */
function userMessage({ facts }: LedgerNode): UnitWrapper {
  return protocolOf(facts).write.message("user");
}

/** A user message of ours with the results of these calls. */
export function resultUnits(calls: readonly OpenCall[]): readonly PlannedUnit[] {
  return calls.map(({ call, result }, at) =>
    resultUnit(result, { wrapping: userMessage(call), opensMessage: at === 0 }),
  );
}

/**
 * Adds the results of our calls to the new units, after the client's results, because nothing may stand
 * before those. If a call leaked to the client, our result replaces the client's.
 */
export function addResults(
  units: readonly PlannedUnit[],
  calls: readonly OpenCall[],
): readonly PlannedUnit[] {
  if (calls.length === 0) return units;
  const missing = new Map(calls.map(({ call, result }) => [call.facts.callId, result]));
  const replaced = units.map((unit) => {
    const result = unit.facts.part === "result" ? missing.get(unit.facts.callId) : undefined;
    missing.delete(unit.facts.callId);
    return result === undefined ? unit : rewordUnit(unit, { bytes: result.bytes, shown: shownWhole });
  });
  const first = replaced.findIndex(
    ({ opensMessage, wrapping }, at) => (opensMessage || at === 0) && wrapping.role === "user",
  );
  const opening = replaced[first];
  if (opening === undefined || missing.size === 0) return replaced;
  const { wrapping, opensMessage } = opening;
  const end = endOfResults(replaced, first);
  const own = [...missing.values()].map((result, at) =>
    resultUnit(result, { wrapping, opensMessage: opensMessage && end === first && at === 0 }),
  );
  return insertUnits(replaced, own, { at: end, isMessageStart: end === first });
}

/** Inserts units. If they come first in their message, the unit after them does not open it any more. */
export function insertUnits(
  units: readonly PlannedUnit[],
  inserted: readonly PlannedUnit[],
  { at, isMessageStart }: { readonly at: number; readonly isMessageStart: boolean },
): readonly PlannedUnit[] {
  const [next, ...rest] = units.slice(at);
  const after = next === undefined ? [] : [isMessageStart ? { ...next, opensMessage: false } : next];
  return [...units.slice(0, at), ...inserted, ...after, ...rest];
}

/** The index after the results with which a message begins. */
export function endOfResults(units: readonly PlannedUnit[], first: number): number {
  const rest = units.slice(first);
  const count = rest.findIndex(
    ({ facts, opensMessage }, at) => facts.part !== "result" || (opensMessage && at > 0),
  );
  return count === -1 ? units.length : first + count;
}

export const unansweredText =
  "Aperture has not carried this out in time. If anything changes after all, the manifest will say so.";

function writeResult(tree: LedgerTree, call: LedgerNode, results: CommandResults): AnswerUnit {
  const { id } = must(ownCallIn(call.facts, nodeBytes(call)), "it was read as a call before");
  const { text, isError } = results.get(callKey({ id, beforeId: idBeforeMessage(tree, call) })) ?? {
    text: unansweredText,
    isError: true,
  };
  return protocolOf(call.facts).write.result({ callId: id, content: text, isError });
}

function resultUnit(
  { unit, bytes }: AnswerUnit,
  position: Pick<PlannedUnit, "wrapping" | "opensMessage">,
): PlannedUnit {
  const hash = hashContent(bytes);
  const own = { ...plannedDefaults, origin: "aperture", extra: null, alignedIndex: null } as const;
  return { ...own, facts: unit, ...position, bytes, hash };
}
