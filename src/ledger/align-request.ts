import { hashContent, must } from "../base/index.ts";
import type { UnitAlias } from "../exchange/index.ts";
import { protocolOf, sharedMessageCount, unitBytes, type WireRequest } from "../protocols/index.ts";
import {
  type ClientUnit,
  clientUnits,
  isClientUnit,
  unitCount,
  unitCountFrom,
  wrapperOf,
} from "./client-units.ts";
import { endOfOwnResults, hiddenEnd } from "./command-calls.ts";
import {
  endOfOwnUnits,
  leafBelow,
  type MatchRules,
  matchPath,
  mustDropReasoning,
  type PathMatch,
} from "./match-path.ts";
import { isReasoning, type LedgerNode, nodeBytes } from "./node.ts";
import { type PlannedUnit, plannedDefaults } from "./planned-units.ts";

/** The units of a request that the ledger has, and those it does not have. */
export type RequestAlignment = {
  readonly request: WireRequest;
  /** The nodes of the units that are taken over from the previous request. */
  readonly keptNodes: readonly LedgerNode[];
  /** The number of messages that those units make up. */
  readonly keptMessages: number;
  /** The units after the kept ones. */
  readonly units: readonly ClientUnit[];
  /** The path that those units match. */
  readonly match: PathMatch;
  readonly rules: MatchRules;
};

/** A request that was aligned before: the next alignment starts where the two requests part. */
export type PriorRequest = { readonly request: WireRequest; readonly nodes: readonly LedgerNode[] };

export type BaseMatchRules = Omit<MatchRules, "reasoningKeys" | "isRecent">;

type AlignOptions<Rules> = { readonly before: PriorRequest | null; readonly rules: Rules };

export function alignRequest(
  root: LedgerNode,
  request: WireRequest,
  { before, rules: base }: AlignOptions<BaseMatchRules>,
): RequestAlignment {
  const rules = { ...base, isRecent: membershipTest(before?.nodes ?? []) };
  const alignment = alignAfter(root, request, { before, rules });
  if (before === null || isContinuation(alignment, before)) return alignment;
  // It forks from the previous request, which may have taken another path than the one it continues.
  const whole = alignAfter(root, request, { before: null, rules });
  const { keptNodes, match } = alignment;
  return whole.match.steps.length > keptNodes.length + match.steps.length ? whole : alignment;
}

/** Whether all of the previous request was found at its nodes. */
function isContinuation({ keptNodes, match }: RequestAlignment, { nodes }: PriorRequest): boolean {
  const last = nodes.at(-1);
  return keptNodes.length === nodes.length || match.steps.some(({ node }) => node === last);
}

/** Builds its set on first use: it is called only if there are several ways. */
function membershipTest(nodes: readonly LedgerNode[]): (node: LedgerNode) => boolean {
  let known: ReadonlySet<LedgerNode> | null = null;
  return (node) => {
    known ??= new Set(nodes);
    return known.has(node);
  };
}

function alignAfter(
  root: LedgerNode,
  request: WireRequest,
  { before, rules: base }: AlignOptions<Omit<MatchRules, "reasoningKeys">>,
): RequestAlignment {
  const keptMessages = sharedMessageCount(request, before?.request ?? null);
  // It counts from the end because few units are new.
  const keptNodes =
    before?.nodes.slice(0, before.nodes.length - unitCountFrom(before.request, keptMessages)) ?? [];
  const units = clientUnits(request, keptMessages);
  const reasoning = units.filter(({ unit }) => unit.kind === "reasoning").map(({ unit }) => unit.key);
  const rules = { ...base, reasoningKeys: new Set(reasoning) };
  const found = passHidden(matchPath(keptNodes.at(-1) ?? root, units, rules), units);
  const match = passLeaf(found, units, rules);
  return { request, keptNodes, keptMessages, units, rules, match };
}

/** Moves the match past our hidden units at the end of an answer or after results: they belong there. */
function passHidden(match: PathMatch, units: readonly ClientUnit[]): PathMatch {
  const next = units[match.steps.length];
  const isAnswerOver = next?.isFirst === true && next.group.role !== "assistant";
  const isInsideMessage = next?.isFirst === false && next.unit.part !== "result";
  if (isInsideMessage) return { ...match, node: endOfOwnResults(match.node) };
  return isAnswerOver ? { ...match, node: hiddenEnd(match.node) } : match;
}

/** An answer that the ledger has not read still answers everything that was sent, our last units included. */
function passLeaf(match: PathMatch, units: readonly ClientUnit[], rules: MatchRules): PathMatch {
  const { node, steps } = match;
  let at = steps.length;
  if (at === units.length || units[at]?.group.role !== "assistant") return match;
  // Reasoning that is not sent does not open a message either.
  while (units[at]?.isFirst === false && steps[at - 1]?.as === "left-out") at -= 1;
  if (units[at]?.isFirst !== true) return match;
  // After a restart a leaf on the path to another leaf is not marked as one.
  return { ...match, node: leafBelow(node, rules) ?? endOfOwnUnits(node, rules) };
}

/** The alignment of a sent request together with its answer, which ends at a node. */
export function alignAt({
  request,
  nodes,
  end,
  rules,
}: PriorRequest & { readonly end: LedgerNode; readonly rules: MatchRules }): RequestAlignment {
  const match = { node: end, steps: [] };
  return { request, keptNodes: nodes, keptMessages: request.messages.length, units: [], match, rules };
}

/** Whether the ledger has all of the request: the client sends it again. */
export function isFullyMatched({ units, match }: RequestAlignment): boolean {
  return match.steps.length === units.length;
}

/**
 * The units of the answer that the client repeats for the first time. They are sent in the client's form,
 * except reasoning and what precedes it: that stays as the model wrote it, because reasoning is bound to it.
 */
export function repeatedUnits(alignment: RequestAlignment): readonly PlannedUnit[] {
  const { node, steps } = alignment.match;
  const copies = new Map(steps.flatMap((step, at) => (step.as === "copy" ? [[step.node, at] as const] : [])));
  const unsent: LedgerNode[] = [];
  for (let at = node; at.sent === null; at = must(at.parent, "the root was sent")) unsent.push(at);
  const answerNodes = unsent.reverse();
  const lastReasoning = answerNodes.findLastIndex(isReasoning);
  return answerNodes.map((answerNode, index) =>
    repeatedUnit(alignment, answerNode, {
      alignedIndex: copies.get(answerNode) ?? null,
      isBound: index <= lastReasoning,
    }),
  );
}

function repeatedUnit(
  { request, units }: RequestAlignment,
  answerNode: LedgerNode,
  { alignedIndex, isBound }: { readonly alignedIndex: number | null; readonly isBound: boolean },
): PlannedUnit {
  const { origin, opensMessage, facts, numbered } = answerNode;
  const copy = alignedIndex === null ? null : must(units[alignedIndex], "a copy is a unit");
  const group = copy?.group;
  const wrapping = group === undefined ? answerNode.wrapping : wrapperOf(group);
  const extra = copy === null ? answerNode.extra : copy.isFirst ? copy.group.extra : null;
  const position = { origin, opensMessage, wrapping, extra, alignedIndex };
  const common = { ...plannedDefaults, ...position, numbered, answerNode };
  if (copy === null || isBound) {
    const bytes = nodeBytes(answerNode);
    return { ...common, facts, bytes, hash: hashContent(bytes) };
  }
  const bytes = unitBytes(request.bytes, copy.group.range.start, copy.unit);
  // The client renames calls of tools it does not know, and its copy lacks command lines.
  if (protocolOf(request).read.isRenamedCall(bytes) || facts.hasCommands === true) {
    const modelBytes = nodeBytes(answerNode);
    return { ...common, facts, bytes: modelBytes, hash: hashContent(modelBytes) };
  }
  return { ...common, facts: copy.unit, bytes, hash: copy.unit.hash };
}

/** The units that were never sent, without foreign reasoning. */
export function freshUnits({ request, units, match, rules }: RequestAlignment): readonly PlannedUnit[] {
  const fresh: PlannedUnit[] = [];
  const { node } = match;
  let isOpen = isMessageOpen(units, match);
  for (let at = match.steps.length; at < units.length; at += 1) {
    const client = must(units[at], "units have no gaps");
    const { unit, group, isFirst } = client;
    if (isFirst) isOpen = false;
    if (mustDropReasoning(client, rules)) continue;
    fresh.push({
      ...plannedDefaults,
      facts: unit,
      origin: originOf(group.role),
      wrapping: isOpen ? (fresh.at(-1)?.wrapping ?? node.wrapping) : wrapperOf(group),
      opensMessage: !isOpen,
      extra: isFirst || !isOpen ? group.extra : null,
      bytes: unitBytes(request.bytes, group.range.start, unit),
      hash: unit.hash,
      alignedIndex: at,
      isForeignReasoning: unit.kind === "reasoning" && !rules.trustsReasoning,
    });
    isOpen = true;
  }
  return fresh;
}

/** Whether the matched path ends inside the message of the first new unit. */
function isMessageOpen(units: readonly ClientUnit[], { steps }: PathMatch): boolean {
  const group = units[steps.length]?.group;
  return steps.some(({ as }, at) => as !== "left-out" && units[at]?.group === group);
}

/** Maps each node to the client's unit it is, counted over tools, system and messages. */
export function clientIndexByNode(
  request: WireRequest,
  nodes: readonly LedgerNode[],
): ReadonlyMap<LedgerNode, number> {
  const indexes = new Map<LedgerNode, number>();
  let next = request.tools.units.length + request.system.units.length;
  let at = 0;
  for (const group of request.messages) {
    for (let index = 0; index < group.units.length; index += 1) {
      const node = nodes[at + index];
      if (node !== undefined && !indexes.has(node)) indexes.set(node, next);
      next += 1;
    }
    at += unitCount(group);
  }
  return indexes;
}

/** The client index of each unit of an alignment, counted over tools, system and messages. */
function alignedClientIndexes({
  request,
  keptMessages,
  units,
}: RequestAlignment): readonly (number | null)[] {
  const fresh = request.messages.slice(keptMessages).reduce((sum, group) => sum + group.units.length, 0);
  const kept = request.messageKeys.length - fresh;
  let next = request.tools.units.length + request.system.units.length + kept;
  return units.map(({ unit }) => {
    if (!isClientUnit(unit)) return null;
    next += 1;
    return next - 1;
  });
}

/** Units whose node was sent in another form, under another key; each with its block. */
export function aliasedUnits(alignment: RequestAlignment): readonly (UnitAlias & { readonly key: string })[] {
  const { steps } = alignment.match;
  if (steps.length === 0) return [];
  const indexes = alignedClientIndexes(alignment);
  return steps.flatMap(({ node: { facts, numbered }, as }, at) => {
    const [unit, clientIndex] = [alignment.units[at]?.unit, indexes[at] ?? null];
    const isAlias = as === "copy" && unit !== undefined && unit.key !== facts.key;
    return isAlias && clientIndex !== null && numbered !== null
      ? [{ clientIndex, numbered, key: unit.key }]
      : [];
  });
}

/** The client index of each planned unit. Null for units of ours. */
export function clientIndexes(
  alignment: RequestAlignment,
  planned: readonly PlannedUnit[],
): readonly (number | null)[] {
  const aligned = alignedClientIndexes(alignment);
  const known = planned.some(({ rewriteOf }) => rewriteOf !== null)
    ? clientIndexByNode(alignment.request, matchedNodes(alignment))
    : null;
  return planned.map(({ alignedIndex, rewriteOf }) => {
    if (alignedIndex !== null) return aligned[alignedIndex] ?? null;
    return rewriteOf === null ? null : (known?.get(rewriteOf) ?? null);
  });
}

/** One node for each kept or matched unit. A unit that was left out has the node before it. */
export function matchedNodes({ keptNodes, match }: RequestAlignment): readonly LedgerNode[] {
  return [...keptNodes, ...match.steps.map(({ node }) => node)];
}

function originOf(role: string): PlannedUnit["origin"] {
  return role === "assistant" ? "model" : "client";
}
