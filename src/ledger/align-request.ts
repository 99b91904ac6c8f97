import { hashContent, must } from "../base/index.ts";
import type { UnitAlias } from "../exchange/index.ts";
import { protocolOf, sharedMessageCount, unitBytes, type WireRequest } from "../protocols/index.ts";
import { AppendList } from "./append-list.ts";
import {
  type ClientUnit,
  clientUnits,
  isClientUnit,
  unitCount,
  unitCountFrom,
  wrapperOf,
} from "./client-units.ts";
import { endOfOwnResults, hiddenEnd } from "./command-calls.ts";
import { type LedgerTree, nodeAt, parentOf } from "./ledger-tree.ts";
import {
  endOfOwnUnits,
  type LearnedForms,
  leafBelow,
  learnForms,
  type MatchRules,
  type MatchStep,
  matchPath,
  mustDropReasoning,
  type PathMatch,
} from "./match-path.ts";
import { isReasoning, type LedgerNode, type NodeIndex, nodeBytes } from "./node.ts";
import { type PlannedUnit, plannedDefaults } from "./planned-units.ts";

/** The units of a request that the ledger has, and those it does not have. */
export type RequestAlignment = {
  readonly request: WireRequest;
  /** The tree with what the request tells about its nodes. */
  readonly tree: LedgerTree;
  /** The nodes of the units that are taken over from the previous request. */
  readonly keptNodes: AppendList<NodeIndex>;
  /** The number of messages that those units make up. */
  readonly keptMessages: number;
  /** The units after the kept ones. */
  readonly units: readonly ClientUnit[];
  /** The end of the path that those units match. */
  readonly end: LedgerNode;
  /** One step for each matched unit. */
  readonly steps: readonly AlignedStep[];
  readonly rules: MatchRules;
};

type AlignedStep = { readonly node: NodeIndex; readonly as: MatchStep["as"] };

/** A request that was aligned before: the next alignment starts where the two requests part. */
export type PriorRequest = { readonly request: WireRequest; readonly nodes: AppendList<NodeIndex> };

export type BaseMatchRules = Omit<MatchRules, "reasoningKeys" | "recentNodes">;

const noNodes = AppendList.of<NodeIndex>([]);

type AlignOptions<Rules> = { readonly before: PriorRequest | null; readonly rules: Rules };

export function alignRequest(
  root: LedgerNode,
  request: WireRequest,
  { before, rules: base }: AlignOptions<BaseMatchRules>,
): RequestAlignment {
  const rules = { ...base, recentNodes: before?.nodes ?? noNodes };
  const alignment = alignAfter(root, request, { before, rules });
  if (before === null || isContinuation(alignment, before)) return alignment;
  // It forks from the previous request, which may have taken another path than the one it continues.
  const whole = alignAfter(root, request, { before: null, rules });
  const { keptNodes, steps } = alignment;
  return whole.steps.length > keptNodes.length + steps.length ? whole : alignment;
}

/** Whether all of the previous request was found at its nodes. */
function isContinuation({ keptNodes, steps }: RequestAlignment, { nodes }: PriorRequest): boolean {
  return keptNodes.length === nodes.length || steps.some(({ node }) => node === nodes.last);
}

function alignAfter(
  root: LedgerNode,
  request: WireRequest,
  { before, rules: base }: AlignOptions<Omit<MatchRules, "reasoningKeys">>,
): RequestAlignment {
  const keptMessages = sharedMessageCount(request, before?.request ?? null);
  // It counts from the end because few units are new.
  const keptNodes =
    before?.nodes.first(before.nodes.length - unitCountFrom(before.request, keptMessages)) ?? noNodes;
  const units = clientUnits(request, keptMessages);
  const reasoning = units.filter(({ unit }) => unit.kind === "reasoning").map(({ unit }) => unit.key);
  const rules = { ...base, reasoningKeys: new Set(reasoning) };
  const from = keptNodes.last === undefined ? root : nodeAt(rules.tree, keptNodes.last);
  const { match, learned } = matchPath(from, units, rules);
  const passed = passLeaf(passHidden(match, units, rules), units, rules);
  return { request, keptNodes, keptMessages, units, ...withLearned(passed, learned, rules) };
}

/** The match in a tree that knows what was learned from the client's copies. */
function withLearned(
  { node, steps }: PathMatch,
  learned: LearnedForms,
  rules: MatchRules,
): Pick<RequestAlignment, "tree" | "rules" | "end" | "steps"> {
  const tree = learnForms(rules.tree, learned);
  const indexed = steps.map((step) => ({ node: step.node.index, as: step.as }));
  return { tree, rules: { ...rules, tree }, end: nodeAt(tree, node.index), steps: indexed };
}

/** Moves the match past our hidden units at the end of an answer or after results: they belong there. */
function passHidden(match: PathMatch, units: readonly ClientUnit[], { tree }: MatchRules): PathMatch {
  const next = units[match.steps.length];
  const isAnswerOver = next?.isFirst === true && next.group.role !== "assistant";
  const isInsideMessage = next?.isFirst === false && next.unit.part !== "result";
  if (isInsideMessage) return { ...match, node: endOfOwnResults(tree, match.node) };
  return isAnswerOver ? { ...match, node: hiddenEnd(tree, match.node) } : match;
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
export function alignAt(
  end: LedgerNode,
  { request, nodes }: PriorRequest,
  base: BaseMatchRules,
): RequestAlignment {
  const rules = { ...base, reasoningKeys: new Set<string>(), recentNodes: noNodes };
  const matched = { tree: base.tree, keptNodes: nodes, keptMessages: request.messages.length, end };
  return { request, ...matched, units: [], steps: [], rules };
}

/** Whether the ledger has all of the request: the client sends it again. */
export function isFullyMatched({ units, steps }: RequestAlignment): boolean {
  return steps.length === units.length;
}

/**
 * The units of the answer that the client repeats for the first time. They are sent in the client's form,
 * except reasoning and what precedes it: that stays as the model wrote it, because reasoning is bound to it.
 */
export function repeatedUnits(alignment: RequestAlignment): readonly PlannedUnit[] {
  const { tree, end, steps } = alignment;
  const copies = new Map(steps.flatMap((step, at) => (step.as === "copy" ? [[step.node, at] as const] : [])));
  const unsent: LedgerNode[] = [];
  for (let at = end; at.sent === null; at = must(parentOf(tree, at), "the root was sent")) unsent.push(at);
  const answerNodes = unsent.reverse();
  const lastReasoning = answerNodes.findLastIndex(isReasoning);
  return answerNodes.map((answerNode, index) =>
    repeatedUnit(alignment, answerNode, {
      alignedIndex: copies.get(answerNode.index) ?? null,
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
export function freshUnits(alignment: RequestAlignment): readonly PlannedUnit[] {
  const { request, units, end, steps, rules } = alignment;
  const fresh: PlannedUnit[] = [];
  let isOpen = isMessageOpen(alignment);
  for (let at = steps.length; at < units.length; at += 1) {
    const client = must(units[at], "units have no gaps");
    const { unit, group, isFirst } = client;
    if (isFirst) isOpen = false;
    if (mustDropReasoning(client, rules)) continue;
    fresh.push({
      ...plannedDefaults,
      facts: unit,
      origin: originOf(group.role),
      wrapping: isOpen ? (fresh.at(-1)?.wrapping ?? end.wrapping) : wrapperOf(group),
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
function isMessageOpen({ units, steps }: RequestAlignment): boolean {
  const group = units[steps.length]?.group;
  return steps.some(({ as }, at) => as !== "left-out" && units[at]?.group === group);
}

/** Maps each node to the client's unit it is, counted over tools, system and messages. */
export function clientIndexByNode(
  request: WireRequest,
  nodes: AppendList<NodeIndex>,
): ReadonlyMap<NodeIndex, number> {
  const indexes = new Map<NodeIndex, number>();
  let next = request.tools.units.length + request.system.units.length;
  let at = 0;
  for (const group of request.messages) {
    for (let index = 0; index < group.units.length; index += 1) {
      const node = nodes.at(at + index);
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
  const { tree, steps } = alignment;
  if (steps.length === 0) return [];
  const indexes = alignedClientIndexes(alignment);
  return steps.flatMap(({ node, as }, at) => {
    const { facts, numbered } = nodeAt(tree, node);
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
    return rewriteOf === null ? null : (known?.get(rewriteOf.index) ?? null);
  });
}

const noMoves: ReadonlyMap<NodeIndex, NodeIndex> = new Map();

/**
 * One node for each kept or matched unit. A unit that was left out has the node before it. `moved` maps nodes
 * to those that took their place.
 */
export function matchedNodes(
  { keptNodes, steps }: RequestAlignment,
  moved: ReadonlyMap<NodeIndex, NodeIndex> = noMoves,
): AppendList<NodeIndex> {
  const nodes = keptNodes.append(steps.map(({ node }) => node));
  return moved.size === 0 ? nodes : AppendList.of([...nodes].map((node) => moved.get(node) ?? node));
}

function originOf(role: string): PlannedUnit["origin"] {
  return role === "assistant" ? "model" : "client";
}
