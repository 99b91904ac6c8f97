import { readRanges } from "../notes/index.ts";
import { type ContextEdit, protocolOf, type ToolUse } from "../protocols/index.ts";
import { type LedgerTree, sentPathTo } from "./ledger-tree.ts";
import { type LevelWishes, pendingWish } from "./level-wishes.ts";
import {
  clearedTokens,
  type LedgerNode,
  type NodeIndex,
  nodeBytes,
  type ShownForm,
  type UnitFacts,
} from "./node.ts";
import { headerTextOf } from "./numbering.ts";
import type { PlannedUnit } from "./planned-units.ts";

/** The nodes of a request that were sent before, and the units after them. */
type EditPath = { readonly path: readonly LedgerNode[]; readonly units: readonly PlannedUnit[] };

/** A unit with the parts that a context edit depends on. */
type EditUnit = {
  readonly facts: UnitFacts;
  readonly opensMessage: boolean;
  readonly shown: ShownForm;
  readonly bytes: () => Uint8Array;
  /** Its node, if it has one: the tool name is read once per node. */
  readonly node: LedgerNode | null;
};

type ClearedTest = (result: Pick<EditUnit, "node" | "shown">) => boolean;

const isShownCleared: ClearedTest = ({ shown }) => shown.isCleared === true;

/** The edit that leaves out exactly the cleared results of a path. Null if no edit can do that. */
function contextEditFor(
  { path, units }: EditPath,
  isCleared: ClearedTest = isShownCleared,
): ContextEdit | null {
  const uses = toolUses([...path.map(editUnitOfNode), ...units.map(editUnitOfPlanned)], isCleared);
  const [first] = [...path, ...units];
  return first === undefined ? null : protocolOf(first.facts).write.contextEdit(uses);
}

/** Whether the path to a node or the units after it contain results that the provider must leave out. */
export function needsContextEdit(end: LedgerNode, units: readonly PlannedUnit[]): boolean {
  return end.hasClearedResults || units.some(({ shown }) => shown.isCleared === true);
}

/** The edit for a request with this path. Null if it needs none, or no edit can do it. */
export function contextEditAfter(
  tree: LedgerTree,
  end: LedgerNode,
  units: readonly PlannedUnit[],
): ContextEdit | null {
  if (!needsContextEdit(end, units)) return null;
  return contextEditFor({ path: sentPathTo(tree, end), units });
}

function editUnitOfNode(node: LedgerNode): EditUnit {
  const { facts, opensMessage, shown } = node;
  return { facts, opensMessage, shown, node, bytes: () => nodeBytes(node) };
}

function editUnitOfPlanned(unit: PlannedUnit): EditUnit {
  const { facts, opensMessage, shown, bytes, rewriteOf, answerNode } = unit;
  return { facts, opensMessage, shown, node: rewriteOf ?? answerNode, bytes: () => bytes };
}

/** The tool uses of a request, oldest first. */
function toolUses(units: readonly EditUnit[], isCleared: ClearedTest): readonly ToolUse[] {
  const results = units.filter(({ facts }) => facts.part === "result");
  const cleared = new Set(results.filter(isCleared).map(({ facts }) => facts.callId));
  let message = 0;
  return units.flatMap((unit) => {
    const { kind, part, callId } = unit.facts;
    if (unit.opensMessage) message += 1;
    if (kind !== "tool-call") return [];
    return [{ name: toolNameOf(unit), isClients: part === "call", message, isCleared: cleared.has(callId) }];
  });
}

const toolNames = new WeakMap<LedgerNode, string>();

function toolNameOf({ facts, node, bytes }: EditUnit): string {
  const known = node === null ? undefined : toolNames.get(node);
  if (known !== undefined) return known;
  const part = protocolOf(facts).read.part(bytes());
  const name = part.type === "call" ? part.name : "";
  if (node !== null) toolNames.set(node, name);
  return name;
}

type ClearingInput = {
  readonly path: readonly LedgerNode[];
  /** The units after the path. */
  readonly units: readonly PlannedUnit[];
  readonly wishes: LevelWishes;
  /** Blocks that must not be shown shorter. */
  readonly heldBlocks: ReadonlySet<number>;
  /** Whether the model works on a node now. */
  readonly isInProgress: (at: number) => boolean;
  /** Tokens to free. At 0 only the wishes are applied. */
  readonly excessTokens: number;
};

/**
 * The results that the provider must leave out in place of a rewrite of ours, those it already leaves out
 * included. Null if no edit can do that: the provider clears whole results, the oldest first.
 */
export function clearableResults(input: ClearingInput): ReadonlySet<NodeIndex> | null {
  const { path, units, excessTokens } = input;
  const cleared = excessTokens > 0 ? oldestResults(input) : wishedResults(input);
  if (cleared === null) return null;
  const clearedNodes = path.filter(({ index }) => cleared.has(index));
  const clearedBlocks = new Set(clearedNodes.map(({ numbered }) => numbered?.block));
  // A unit that borrows lines from a cleared result would have to repeat them: no edit can do that.
  const losesLender = ({ shown }: Pick<LedgerNode, "shown">): boolean =>
    shown.borrows.some((block) => clearedBlocks.has(block));
  if (path.some((node) => !cleared.has(node.index) && losesLender(node)) || units.some(losesLender))
    return null;
  const edit = contextEditFor({ path, units }, ({ node }) => node !== null && cleared.has(node.index));
  return edit === null ? null : cleared;
}

/** The wished results. Null if any pending wish is something other than the placeholder of a result. */
function wishedResults(input: ClearingInput): ReadonlySet<NodeIndex> | null {
  const mayClear = clearTest(input);
  const cleared = new Set<NodeIndex>();
  for (const [at, node] of input.path.entries()) {
    const wish = pendingWish(node, input.wishes);
    if (wish !== null && (wish.as !== "placeholder" || !mayClear(node, at))) return null;
    if (wish !== null || node.shown.isCleared === true) cleared.add(node.index);
  }
  return cleared;
}

/** As many of the oldest results as free enough tokens, those of one message together. */
function oldestResults(input: ClearingInput): ReadonlySet<NodeIndex> | null {
  const mayClear = clearTest(input);
  const cleared = new Set<NodeIndex>();
  let left = input.excessTokens;
  for (const [at, node] of input.path.entries()) {
    if (node.opensMessage && left <= 0) break;
    if (node.facts.part !== "result") continue;
    if (input.isInProgress(at)) break;
    if (node.shown.isCleared !== true && !mayClear(node, at)) continue;
    cleared.add(node.index);
    left -= (node.shown.tokens ?? node.numbered?.tokens ?? 0) - clearedTokens;
  }
  return left <= 0 ? cleared : null;
}

/** Tests whether a result is not held, and the model knows its number, so that it can ask for it. */
function clearTest({
  path,
  heldBlocks,
  isInProgress,
}: ClearingInput): (node: LedgerNode, at: number) => boolean {
  const named = blocksInHeaders(path);
  return ({ facts, numbered, isHeader }, at) => {
    if (facts.part !== "result" || numbered === null || heldBlocks.has(numbered.block)) return false;
    // A header inside a result would be cleared with it.
    return named.has(numbered.block) && !isHeader && !isInProgress(at);
  };
}

/**
 * The blocks whose numbers stand in a header on this path. A header after a block is not enough: the block
 * may have been numbered since.
 */
function blocksInHeaders(path: readonly LedgerNode[]): ReadonlySet<number> {
  const named = new Set<number>();
  for (const node of path) {
    // Manifests do not count: a number in a manifest is gone with the manifest.
    for (const { from, to } of readRanges(headerTextOf(node) ?? "")) {
      for (let block = from; block <= Math.min(to, from + rangeMax); block += 1) named.add(block);
    }
  }
  return named;
}

/** No session has more blocks between two headers. */
const rangeMax = 10_000;
