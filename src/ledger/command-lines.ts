import { type CommandLine, commandLines, textCallName } from "../commands/index.ts";
import type { CommandCall } from "../exchange/index.ts";
import { answersText } from "../notes/index.ts";
import { type Protocol, protocolOf } from "../protocols/index.ts";
import {
  type CommandResults,
  callKey,
  endOfResults,
  idBeforeMessage,
  insertUnits,
  ownCallIn,
  unansweredText,
} from "./command-calls.ts";
import { type LedgerTree, parentOf } from "./ledger-tree.ts";
import { type LedgerNode, nodeBytes, textOfUnit, type UnitFacts } from "./node.ts";
import { ownTextUnit, type PlannedUnit } from "./planned-units.ts";
import type { RequestHead } from "./request-head.ts";

/**
 * The ways to command that a head offers the model: our tools, or command lines with this nonce. Without an
 * offer a call by one of our names is the client's own.
 */
export type CommandOffer = { readonly hasTools: boolean; readonly nonce: string | null };

export const noCommandOffer: CommandOffer = { hasTools: false, nonce: null };

export function commandOfferOf(head: RequestHead | null, nonce: string): CommandOffer {
  if (head === null) return noCommandOffer;
  return { hasTools: head.ownTools.length > 0, nonce: head.hasTextCommands ? nonce : null };
}

/** Adds to the facts of an answer's unit whether it commands, and whether the client gets it. */
export function answerFacts(
  facts: UnitFacts,
  bytes: Uint8Array,
  { hasTools, nonce }: CommandOffer,
): UnitFacts {
  if (hasTools && ownCallIn(facts, bytes) !== null) return { ...facts, isHidden: true };
  const text = nonce !== null && facts.part === "text" ? textOfUnit(facts, bytes) : null;
  const lines = nonce === null || text === null ? [] : commandLines(text, nonce);
  if (text === null || lines.length === 0) return facts;
  return hasOnlyCommands(text, lines)
    ? { ...facts, hasCommands: true, isHidden: true }
    : { ...facts, hasCommands: true };
}

function hasOnlyCommands(text: string, lines: readonly CommandLine[]): boolean {
  const ends = [0, ...lines.map(({ end }) => end)];
  const rest = ends.map((from, at) => text.slice(from, lines[at]?.start));
  return rest.join("").trim() === "";
}

/** A command line as a call. */
type LineCommand = CommandCall & { readonly lineText: string; readonly beforeId: string };

/**
 * The command lines of the message that ends at a node, as calls. Their ids contain the node before the
 * message, so that the same line in a later message is another call.
 */
export function lineCommands(tree: LedgerTree, end: LedgerNode, nonce: string): readonly LineCommand[] {
  const texts = textsWithCommands(tree, end);
  const first = texts[0];
  if (first === undefined) return [];
  const beforeId = idBeforeMessage(tree, first);
  return texts.flatMap((node, at) =>
    commandLines(textOfUnit(node.facts, nodeBytes(node)) ?? "", nonce).map(({ start, text }) => ({
      id: `${textCallName}${beforeId}:${at}:${start}`,
      name: textCallName,
      input: { text },
      lineText: text,
      beforeId,
    })),
  );
}

function textsWithCommands(tree: LedgerTree, end: LedgerNode): readonly LedgerNode[] {
  const texts: LedgerNode[] = [];
  if (end.wrapping.role !== "assistant") return texts;
  for (let at: LedgerNode | null = end; at !== null; at = at.opensMessage ? null : parentOf(tree, at))
    if (at.facts.hasCommands === true) texts.push(at);
  return texts.reverse();
}

type LineResultsInput = {
  readonly tree: LedgerTree;
  readonly head: RequestHead;
  readonly nonce: string;
  readonly results: CommandResults;
};

/** The results of an answer's command lines as one text. Null if there are none. */
export function lineResults(
  end: LedgerNode,
  { tree, head, nonce, results }: LineResultsInput,
): string | null {
  if (!head.hasTextCommands) return null;
  const answers = lineCommands(tree, end, nonce).map(({ lineText, ...call }) => ({
    command: lineText,
    text: results.get(callKey(call))?.text ?? unansweredText,
  }));
  return answers.length === 0 ? null : answersText(nonce, answers);
}

/** A user message of ours with the results of command lines. */
export function lineResultsMessage(protocol: Protocol, text: string): PlannedUnit {
  const wrapping = protocol.write.message("user");
  return asResult(ownTextUnit(protocol, text, { wrapping, opensMessage: true }));
}

/** Adds the results of command lines before the user's text, but after tool results: these come first. */
export function addLineResults(units: readonly PlannedUnit[], text: string | null): readonly PlannedUnit[] {
  const first = units.findIndex(({ opensMessage, wrapping }) => opensMessage && wrapping.role === "user");
  const opening = units[first];
  if (text === null || opening === undefined) return units;
  const { wrapping, facts } = opening;
  const at = endOfResults(units, first);
  const isMessageStart = at === first;
  const results = asResult(ownTextUnit(protocolOf(facts), text, { wrapping, opensMessage: isMessageStart }));
  return insertUnits(units, [results], { at, isMessageStart });
}

/** Results may hold content of others, so they are blocks like the results of calls, and trusted no more. */
function asResult(unit: PlannedUnit): PlannedUnit {
  return { ...unit, facts: { ...unit.facts, kind: "tool-result" } };
}
