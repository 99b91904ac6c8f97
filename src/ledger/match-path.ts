import { must } from "../base/index.ts";
import { protocolOf, unitBytes } from "../protocols/index.ts";
import type { ClientUnit } from "./client-units.ts";
import { childrenOf, type LedgerTree, newestBelow, TreeDraft } from "./ledger-tree.ts";
import { isOwn, isReasoning, type LedgerNode, type NodeIndex, nodeBytes, textOfUnit } from "./node.ts";
import { type MergeState, mergeNext, startMerge, textForms } from "./text-merge.ts";
import { isFreeOfNotes, type WithheldContent } from "./withheld.ts";

export type MatchRules = {
  readonly tree: LedgerTree;
  /** The bytes of the request. */
  readonly bytes: Buffer;
  /** Whether units of ours may lie on the path. */
  readonly mayPassOwn: boolean;
  /** Rewritten nodes may lie on the path if they show none of our notes. Null: all of them may. */
  readonly notesToAvoid: { readonly withheld: WithheldContent; readonly nonce: string } | null;
  /** Whether system messages of ours may lie on the path: not every model takes them between the others. */
  readonly mayPassSystem: boolean;
  /** Whether reasoning that was produced after any other path is left out. */
  readonly dropsForeignReasoning: boolean;
  /** Whether new reasoning of the client was produced after exactly the bytes the client sends. */
  readonly trustsReasoning: boolean;
  readonly isOwnLine: (line: string) => boolean;
  /** The model of the request. */
  readonly model: string | null;
  /** The keys of all reasoning in the request: reasoning that the client sends edited is not dropped. */
  readonly reasoningKeys: ReadonlySet<string>;
  /** The path of the previous request, which this one most likely continues. */
  readonly recentNodes: Iterable<NodeIndex>;
};

/** The end of the longest path that matches the client's units, with one step for each matched unit. */
export type PathMatch = { readonly node: LedgerNode; readonly steps: readonly MatchStep[] };

/** The client's copies tell this about nodes: other forms of them, and originals that a restart has lost. */
export type LearnedForms = ReadonlyMap<NodeIndex, LearnedForm>;

type LearnedForm = { readonly hashes: readonly string[]; readonly original: Uint8Array | null };

/**
 * Copy: the unit is this node. Merged: the unit is several nodes, this one the last, or this node is several
 * units. Left out: the unit is not sent, and the path stays at its node or continues to a hidden one there.
 */
export type MatchStep = { readonly node: LedgerNode; readonly as: "copy" | "merged" | "left-out" };

/** Bounds the nodes reached from one node through our units and dropped reasoning. There are never many. */
const reachMax = 256;

/**
 * Walks down the tree as long as it matches the client's units. If there are several ways, as after identical
 * requests, the longest wins; among equals the one of the last request, then one that was sent to this model,
 * because it is cached there, then the newest.
 */
export function matchPath(
  from: LedgerNode,
  units: readonly ClientUnit[],
  rules: MatchRules,
): { readonly match: PathMatch; readonly learned: LearnedForms } {
  const learned = new Map<NodeIndex, LearnedForm>();
  const context = { ...rules, units, found: new Map(), learned, recent: null };
  return { match: walk(context, from, 0), learned };
}

/** A tree whose nodes know the forms in which a client has sent them. */
export function learnForms(tree: LedgerTree, learned: LearnedForms): LedgerTree {
  const draft = new TreeDraft(tree);
  for (const [index, { hashes, original }] of learned) {
    const node = draft.at(index);
    const knownHashes = [...node.knownHashes, ...hashes];
    draft.set({ ...node, knownHashes, original: node.original ?? original });
  }
  return draft.done();
}

type MatchContext = MatchRules & {
  readonly units: readonly ClientUnit[];
  /** The best match below a node from one unit on. Several ways may lead to the same node. */
  readonly found: Map<LedgerNode, Map<number, PathMatch>>;
  readonly learned: Map<NodeIndex, LearnedForm>;
  /** The nodes of the previous request. Built on first use: it is needed only if there are several ways. */
  recent: ReadonlySet<NodeIndex> | null;
};

function walk(context: MatchContext, from: LedgerNode, start: number): PathMatch {
  const { units } = context;
  const steps: MatchStep[] = [];
  let node = from;
  for (let at = start; at < units.length; at = start + steps.length) {
    const [way, ...others] = waysFrom(node, at, context);
    if (way === undefined) break;
    if (others.length > 0) {
      const rest = longestMatch(context, [way, ...others], at);
      return { node: rest.node, steps: [...steps, ...rest.steps] };
    }
    steps.push(...way);
    node = endOf(way);
  }
  return { node, steps };
}

/** One step for each of the next units: several steps if one node stands for several units. */
type MatchSteps = readonly MatchStep[];

function endOf(way: MatchSteps): LedgerNode {
  return must(way.at(-1), "a way has a step").node;
}

function longestMatch(context: MatchContext, ways: readonly MatchSteps[], at: number): PathMatch {
  let best: PathMatch | null = null;
  for (const first of ways) {
    const rest = walkOnce(context, endOf(first), at + first.length);
    const match = { node: rest.node, steps: [...first, ...rest.steps] };
    if (best === null || isBetter(match, best, context)) best = match;
  }
  return must(best, "there is a way");
}

function isBetter(match: PathMatch, best: PathMatch, context: MatchContext): boolean {
  const extraSteps = match.steps.length - best.steps.length;
  if (extraSteps !== 0) return extraSteps > 0;
  const { model } = context;
  context.recent ??= new Set(context.recentNodes);
  const { recent } = context;
  const [isMatchRecent, isBestRecent] = [recent.has(match.node.index), recent.has(best.node.index)];
  // Reasoning that comes back keeps its node, although the last request left it out.
  const isLeftOut = match.steps[0]?.as === "left-out";
  if (isMatchRecent !== isBestRecent && !isLeftOut) return isMatchRecent;
  return match.node.model === model && best.node.model !== model;
}

function walkOnce(context: MatchContext, from: LedgerNode, start: number): PathMatch {
  const below = context.found.get(from) ?? new Map<number, PathMatch>();
  context.found.set(from, below);
  const match = below.get(start) ?? walk(context, from, start);
  below.set(start, match);
  return match;
}

function waysFrom(node: LedgerNode, at: number, context: MatchContext): readonly MatchSteps[] {
  const unit = must(context.units[at], "there is one to be found");
  const below = candidatesBelow(node, unit, context);
  const copies = copiesOf(below, unit, context);
  const found = copies.map((child): MatchSteps => [{ node: child, as: "copy" }]);
  const mustDrop = found.length === 0 && mustDropReasoning(unit, context);
  const isUnitReasoning = unit.unit.kind === "reasoning";
  if (mustDrop || (isUnitReasoning && continuesWithoutReasoning(node, at, context))) {
    return [...found, [{ node, as: "left-out" }]];
  }
  const hidden = found.length === 0 && isNoAnswer(unit, context) ? lastHidden(node, context) : undefined;
  if (hidden !== undefined) return [[{ node: hidden, as: "left-out" }]];
  // Another path may have the unit in parts, or may have the parts as one unit.
  const isOtherForm = copies.some(({ facts }) => facts.hash !== unit.unit.hash);
  const others =
    isOtherForm && hasOwnLines(unit, context) ? below : below.filter((child) => !copies.includes(child));
  const split = others.flatMap((child) => splitWay(child, at, context));
  return [...found, ...mergedWays(others, unit, context), ...split];
}

function mergedWays(
  below: readonly LedgerNode[],
  unit: ClientUnit,
  rules: MatchRules,
): readonly MatchSteps[] {
  return below
    .flatMap((child) => mergedFrom(child, unit, rules))
    .map((child) => [{ node: child, as: "merged" }]);
}

/** Without its lines of ours such a text may be one text of the model; with them, that text and the next. */
function hasOwnLines({ unit, group }: ClientUnit, { bytes, isOwnLine }: MatchRules): boolean {
  if (unit.part !== "text" || group.role !== "assistant") return false;
  const text = textOfUnit(unit, unitBytes(bytes, group.range.start, unit));
  return text?.split("\n").some(isOwnLine) === true;
}

/**
 * Matches a node whose text the client had joined, without the reasoning in between, to units that now come
 * in parts: the form that was sent first stays.
 */
function splitWay(child: LedgerNode, at: number, context: MatchContext): readonly MatchSteps[] {
  const { units, bytes } = context;
  const first = units[at];
  const isSentText = child.sent !== null && child.facts.part === "text";
  const whole = isSentText ? textOfUnit(child.facts, knownBytes(child, context)) : null;
  if (whole === null || first === undefined || child.wrapping.role !== "assistant") return [];
  const way: MatchStep[] = [];
  let state: ReturnType<typeof mergeNext> = startMerge(whole);
  for (const { unit, group } of units.slice(at)) {
    if (typeof state === "string" || group !== first.group) break;
    const isLeftOut = unit.kind === "reasoning" && way.length > 0;
    way.push({ node: child, as: isLeftOut ? "left-out" : "merged" });
    const text = isLeftOut ? null : textOfUnit(unit, unitBytes(bytes, group.range.start, unit));
    if (!isLeftOut) state = text === null ? "other" : mergeNext(state, text);
  }
  return state === "merged" ? [way] : [];
}

/** Whether this is the text a client gets when the model did nothing but call our tools. */
function isNoAnswer({ unit, group }: ClientUnit, { bytes }: MatchRules): boolean {
  if (unit.part !== "text" || group.role !== "assistant") return false;
  const { noAnswerText } = protocolOf(unit).traits;
  return textOfUnit(unit, unitBytes(bytes, group.range.start, unit)) === noAnswerText;
}

function lastHidden(node: LedgerNode, rules: MatchRules): LedgerNode | undefined {
  return reach(node, rules, droppedBy(rules)).findLast(({ facts }) => facts.isHidden === true);
}

/** The nodes that the client's next unit may be, the newest first. */
function candidatesBelow(node: LedgerNode, { unit }: ClientUnit, rules: MatchRules): readonly LedgerNode[] {
  const below = reach(node, rules, droppedBy(rules)).flatMap((reached) => newestBelow(rules.tree, reached));
  // A call of our tools that leaked to the client comes back from it.
  const isLeaked = ({ facts }: LedgerNode): boolean =>
    facts.isHidden === true && facts.callId !== null && facts.callId === unit.callId;
  return below.filter(
    (child) => (!isOwn(child) || isLeaked(child)) && !isUnbound(child, rules) && isPassable(child, rules),
  );
}

/** Whether a path may lead through this node, if it is rewritten. */
function isPassable(node: LedgerNode, { notesToAvoid }: MatchRules): boolean {
  return !node.isRewritten || notesToAvoid === null || isFreeOfNotes(node, notesToAvoid);
}

/** Finds reasoning that the client does not send any more. */
function droppedBy(rules: MatchRules): (child: LedgerNode) => boolean {
  return (child) =>
    isReasoning(child) && !isUnbound(child, rules) && !rules.reasoningKeys.has(child.facts.key);
}

/** Whether this is foreign reasoning that another model accepted here. */
function isUnbound({ isForeignReasoning }: LedgerNode, { dropsForeignReasoning }: MatchRules): boolean {
  return isForeignReasoning && dropsForeignReasoning;
}

function copiesOf(
  below: readonly LedgerNode[],
  unit: ClientUnit,
  context: MatchContext,
): readonly LedgerNode[] {
  const sameKey = below.filter((child) => child.facts.key === unit.unit.key && isCopy(child, unit, context));
  // A unit that was edited and put back is what it was, whatever else would be tolerated. An answer that was
  // never sent may have been sent in another form.
  const isEqual = ({ facts, sent }: LedgerNode): boolean => facts.hash === unit.unit.hash && sent !== null;
  const equal = sameKey.filter((child) => child.isRewritten || isEqual(child));
  if (equal.length > 0) {
    // A client that changes the form may mean any node with the same content.
    const isOtherForm = (child: LedgerNode): boolean =>
      isLooseCopy(child, unit, context) && hasSameContent(child, unit, context);
    return below.filter((child) => equal.includes(child) || isOtherForm(child));
  }
  return sameKey.length > 0 ? sameKey : below.filter((child) => isLooseCopy(child, unit, context));
}

/** Whether a sent node and a unit differ in their JSON form only. */
function hasSameContent(child: LedgerNode, { unit, group }: ClientUnit, context: MatchContext): boolean {
  if (child.sent === null) return false;
  const { bytes, isOwnLine } = context;
  const copy = unitBytes(bytes, group.range.start, unit);
  // The role "user" tolerates differences of form and no others.
  return protocolOf(unit).read.isSame(knownBytes(child, context), copy, { role: "user", isOwnLine });
}

/** The client's bytes. If they are forgotten, the sent bytes may hold the same content in another form. */
function knownBytes(node: LedgerNode, { learned }: Pick<MatchContext, "learned">): Uint8Array {
  const original = node.original ?? learned.get(node.index)?.original ?? null;
  return (node.isRewritten ? original : null) ?? nodeBytes(node);
}

/** Whether an earlier request left out this reasoning and all that directly follows it. */
function continuesWithoutReasoning(node: LedgerNode, at: number, context: MatchContext): boolean {
  const { units, tree } = context;
  let after = at;
  while (units[after]?.unit.kind === "reasoning") after += 1;
  const next = units[after];
  if (next === undefined) return false;
  const below = reach(node, context, () => false).flatMap((reached) => childrenOf(tree, reached));
  const visible = below.filter((child) => !isOwn(child));
  return (
    copiesOf(visible, next, context).length > 0 ||
    visible.some((child) => mergedFrom(child, next, context).length > 0) ||
    visible.some((child) => splitWay(child, after, context).length > 0)
  );
}

/** The node itself, and nodes below it that the client does not know or has dropped, the newest first. */
function reach(
  node: LedgerNode,
  rules: MatchRules,
  isDropped: (child: LedgerNode) => boolean,
): readonly LedgerNode[] {
  const reached = [node];
  for (let at = 0; at < reached.length && reached.length < reachMax; at += 1) {
    for (const child of newestBelow(rules.tree, must(reached[at], "it was reached"))) {
      if (isOwn(child) ? mayPassThrough(child, rules) : isDropped(child)) reached.push(child);
    }
  }
  return reached;
}

/** Whether a path may lead through this unit of ours. */
function mayPassThrough({ wrapping }: LedgerNode, { mayPassOwn, mayPassSystem }: MatchRules): boolean {
  return mayPassOwn && (mayPassSystem || wrapping.role !== "system");
}

/** The leaf of the newest request that ended with the client's unit at this node. */
export function leafBelow(node: LedgerNode, rules: MatchRules): LedgerNode | null {
  for (const child of newestBelow(rules.tree, node)) {
    const leaf = isOwn(child) && mayPassThrough(child, rules) ? leafBelow(child, rules) : null;
    if (leaf !== null) return leaf;
  }
  return node.isLeaf && node.sent !== null ? node : null;
}

/** The last of our units that were sent directly after the client's last unit; the newest way. */
export function endOfOwnUnits(node: LedgerNode, rules: MatchRules): LedgerNode {
  const isAppended = (child: LedgerNode): boolean =>
    isOwn(child) && mayPassThrough(child, rules) && (!child.opensMessage || child.wrapping.role === "system");
  const own = childrenOf(rules.tree, node).findLast(isAppended);
  return own === undefined ? node : endOfOwnUnits(own, rules);
}

/** Whether this is reasoning that no path here produced: a provider that binds reasoning would refuse it. */
export function mustDropReasoning({ unit }: ClientUnit, { dropsForeignReasoning }: MatchRules): boolean {
  return unit.kind === "reasoning" && dropsForeignReasoning;
}

function isCopy(child: LedgerNode, { unit, group, isFirst }: ClientUnit, context: MatchContext): boolean {
  const { facts, wrapping } = child;
  const { bytes, isOwnLine, learned } = context;
  if (wrapping.role !== group.role || facts.wireType !== unit.wireType) return false;
  // An answer that was never sent takes the wrapping the client gives it.
  if (child.sent !== null && (child.extra ?? "") !== (isFirst ? group.extra : "")) return false;
  const known = learned.get(child.index) ?? { hashes: [], original: null };
  const isForgotten = child.isRewritten && (child.original ?? known.original) === null;
  if (facts.hash === unit.hash) {
    // After a restart only the client still has the original bytes.
    const original = isForgotten ? Uint8Array.from(unitBytes(bytes, group.range.start, unit)) : null;
    if (original !== null) learned.set(child.index, { ...known, original });
    return true;
  }
  const hashes = [...child.knownHashes, ...known.hashes];
  if (hashes.includes(unit.hash)) return true;
  // Forgotten bytes cannot be compared, but a key that was made from them is as good.
  if (isForgotten && facts.key === unit.key && !/^(?:call|sign):/.test(unit.key)) return true;
  const copy = unitBytes(bytes, group.range.start, unit);
  const sent = knownBytes(child, context);
  const isSame = protocolOf(unit).read.isSame(sent, copy, { role: group.role, isOwnLine });
  if (isSame && hashes.length < knownHashesMax)
    learned.set(child.index, { ...known, hashes: [...known.hashes, unit.hash] });
  return isSame;
}

const knownHashesMax = 8;

/** Matches a unit with another key: a result in another form, or a text that was stripped of our lines. */
function isLooseCopy(child: LedgerNode, client: ClientUnit, context: MatchContext): boolean {
  const { facts } = child;
  if (facts.wireType !== client.unit.wireType || facts.callId !== client.unit.callId) return false;
  return isCopy(child, client, context);
}

/** The last nodes of texts of one message that the client sent as one text. */
function mergedFrom(
  first: LedgerNode,
  { unit, group, isFirst }: ClientUnit,
  rules: MatchRules,
): readonly LedgerNode[] {
  if (unit.part !== "text" || first.facts.part !== "text" || first.wrapping.role !== group.role) return [];
  if ((first.extra ?? "") !== (isFirst ? group.extra : "")) return [];
  const whole = textOfUnit(unit, unitBytes(rules.bytes, group.range.start, unit));
  // Only the model's texts may have reached the client without some of their lines.
  const isOwnLine = group.role === "assistant" ? rules.isOwnLine : () => false;
  return whole === null ? [] : mergedIn(first, startMerge(whole), { ...rules, isOwnLine });
}

/** Follows every way: one of the texts may have been edited before they were joined. */
function mergedIn(first: LedgerNode, start: MergeState, rules: MatchRules): readonly LedgerNode[] {
  const found: LedgerNode[] = [];
  const open = [{ node: first, state: start }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const text = textOfUnit(next.node.facts, nodeBytes(next.node));
    for (const form of text === null ? [] : textForms(text, rules.isOwnLine)) {
      const state = mergeNext(next.state, form);
      if (state === "merged") found.push(next.node);
      else if (state !== "other") {
        open.push(...nextTexts(next.node, rules).map((node) => ({ node, state })));
      }
    }
  }
  return [...new Set(found)];
}

/** After calls that are hidden from the client the same answer continues, even in a message of its own. */
function nextTexts(node: LedgerNode, rules: MatchRules): readonly LedgerNode[] {
  const isText = ({ facts }: LedgerNode): boolean => facts.part === "text";
  const children = childrenOf(rules.tree, node);
  const direct = children.filter((child) => isText(child) && child.extra === null && !isOwn(child));
  const hidden = hiddenBelow(node, rules).flatMap((between) => childrenOf(rules.tree, between));
  return [...direct, ...hidden.filter((child) => isText(child) && !isOwn(child))];
}

/** The hidden nodes below a node, and reasoning there that the client has dropped. */
function hiddenBelow(node: LedgerNode, rules: MatchRules): readonly LedgerNode[] {
  const isHidden = (child: LedgerNode): boolean =>
    isOwn(child) && child.facts.callId !== null && mayPassThrough(child, rules);
  const isDropped = droppedBy(rules);
  const isBetween = (child: LedgerNode): boolean => isHidden(child) || isDropped(child);
  const found = childrenOf(rules.tree, node).filter(isBetween);
  for (let at = 0; at < found.length && found.length < reachMax; at += 1)
    found.push(...childrenOf(rules.tree, must(found[at], "it was found")).filter(isBetween));
  return found;
}
