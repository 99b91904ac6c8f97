import type { ManifestFacts, PrunedRange, ZoneFacts } from "../awareness/index.ts";
import type { BlockKind, Shown } from "../engine/frames/index.ts";
import type { NumberedBlock } from "../exchange/index.ts";
import { pressureReason } from "../policy/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import { type LedgerTree, pathTo } from "./ledger-tree.ts";
import type { LevelWishes } from "./level-wishes.ts";
import { isBlock, type LedgerNode, nodeBytes } from "./node.ts";
import type { PlannedUnit } from "./planned-units.ts";
import type { RequestHead } from "./request-head.ts";
import type { PathRewrite } from "./rewrite-path.ts";
import { type WithheldContent, withheldFormOf } from "./withheld.ts";

/** A block as a manifest counts it. */
export type SizedBlock = Pick<NumberedBlock, "kind" | "tokens"> &
  Partial<Pick<NumberedBlock, "block" | "message">>;

/** A block that a rewrite shows otherwise than before. */
export type ReshownBlock = Pick<NumberedBlock, "block" | "message" | "kind" | "tokens"> & {
  readonly as: Shown;
  readonly was: Shown;
};

export type BlockCount = { readonly blocks: number; readonly tokens: number };

/** Counts of the blocks in the head, and of all others. */
export type BlockSum = { readonly front: BlockCount; readonly rest: BlockCount };

/** The part of a request before its new units: a node with everything before it, and units after it. */
export type PathBefore = {
  readonly tree: LedgerTree;
  readonly head: RequestHead;
  readonly end: LedgerNode;
  readonly units: readonly PlannedUnit[];
};

/** All blocks up to a node and in the units after it, without units of ours. */
export function sizedPath({ tree, head, end, units }: PathBefore): readonly SizedBlock[] {
  return [
    ...(head.isReported ? sizedHead(head) : []),
    ...pathTo(tree, end)
      .filter(isCounted)
      .map((node) => shownSize(node, nodeBytes(node).length)),
    ...sizedUnits(units),
  ];
}

export function sizedHead({ units }: RequestHead): readonly SizedBlock[] {
  const client = units.filter(({ origin }) => origin !== "aperture");
  return client.map(({ numbered, bytes }) => sizedBlock(numbered, "system", bytes.length));
}

/** The size of the whole head. Our own units take room in the window too. */
export function headTokens(head: RequestHead): number {
  const own = [...head.ownTools, ...(head.instructions === null ? [] : [head.instructions])];
  const bytes = own.reduce((sum, { length }) => sum + length, 0);
  return sizedHead(head).reduce((sum, { tokens }) => sum + tokens, 0) + estimateTokens(bytes, null).count;
}

export function sizedUnits(units: readonly PlannedUnit[]): readonly SizedBlock[] {
  return units.filter(isCounted).map((unit) => shownSize(unit, unit.bytes.length));
}

/** A block shown as its placeholder counts as cold, not as part of the path. */
function isCounted(unit: Pick<LedgerNode, "origin" | "facts" | "shown">): boolean {
  return isBlock(unit) && unit.facts.part !== "empty" && unit.shown.as !== "placeholder";
}

/** The size of a block as it is shown: less than the whole block if it is lowered. */
function shownSize(
  { numbered, facts, shown }: Pick<LedgerNode, "numbered" | "facts" | "shown">,
  length: number,
): SizedBlock {
  const block = sizedBlock(numbered, facts.kind, length);
  return shown.tokens === null ? block : { ...block, tokens: shown.tokens };
}

/** A block without a number yet counts too. */
function sizedBlock(numbered: NumberedBlock | null, kind: BlockKind, length: number): SizedBlock {
  return numbered ?? { kind, tokens: estimateTokens(length, null).count };
}

export type ReshowInput = {
  readonly rewrite: PathRewrite | null;
  /** Whether the rewrite leaves out reasoning, because it is bound to the old prefix. */
  readonly losesReasoning: boolean;
  readonly withheld: WithheldContent;
};

/** The blocks that a rewrite shows otherwise, without withheld ones: the model cannot ask for those. */
export function reshownBlocks({ rewrite, losesReasoning, withheld }: ReshowInput): readonly ReshownBlock[] {
  const units = rewrite?.units ?? [];
  return units.flatMap(({ numbered, rewriteOf, shown }) => {
    if (numbered === null || rewriteOf === null || withheldFormOf(withheld, rewriteOf) !== undefined)
      return [];
    const isLost = losesReasoning && numbered.kind === "reasoning";
    const [as, was] = [isLost ? ("absent" as const) : shown.as, rewriteOf.shown.as];
    return as === was ? [] : [{ ...numbered, as, was }];
  });
}

/** The path of a request that does not continue the last one. */
type ForkedPath = {
  /** All blocks on it. */
  readonly shown: readonly SizedBlock[];
  readonly reshown: readonly ReshownBlock[];
  /** The wishes say why a block is shown as its placeholder. */
  readonly levels: LevelWishes;
};

/** The log's facts that hold on another path too, with the blocks that are pruned on that path. */
export function carryFactsOver(
  facts: ManifestFacts,
  path: ForkedPath,
): Pick<ManifestFacts, "cold" | "expiring" | "ranges"> {
  const blocks = new Set(path.shown.map(({ block }) => block));
  return {
    cold: { ...facts.cold, ...coldAfter(facts.cold, path.reshown) },
    expiring: facts.expiring.filter(({ block }) => blocks.has(block)),
    ranges: rangesAfter(facts.ranges, path),
  };
}

function coldAfter({ blocks, tokens, exact }: ZoneFacts, reshown: readonly ReshownBlock[]): ZoneFacts {
  let [count, sum] = [blocks, tokens];
  for (const block of reshown) {
    const change = Number(block.as === "placeholder") - Number(block.was === "placeholder");
    count += change;
    sum += change * block.tokens;
  }
  return { blocks: Math.max(0, count), tokens: Math.max(0, sum), exact: exact && sum === tokens };
}

type PrunedSpan = Pick<PrunedRange, "from" | "to">;

/** Adds messages that are not shown any more to the log's ranges, and joins neighbours. */
function rangesAfter(known: readonly PrunedRange[], path: ForkedPath): readonly PrunedRange[] {
  const shown = new Set(path.shown.map(({ message }) => message));
  const isShownIn = ({ from, to }: PrunedSpan): boolean => {
    for (let message = from; message <= to; message += 1) if (shown.has(message)) return true;
    return false;
  };
  const pruned = [...known, ...prunedMessages(path)].filter((range) => !isShownIn(range));
  const ranges: PrunedRange[] = [];
  for (const range of pruned.sort((a, b) => a.from - b.from)) {
    const last = ranges.at(-1);
    if (last === undefined || isShownIn({ from: last.to, to: range.from })) ranges.push(range);
    else ranges.splice(-1, 1, joinRanges(last, range));
  }
  return ranges;
}

function prunedMessages({ reshown, levels }: ForkedPath): readonly PrunedRange[] {
  const messages = new Map<number, PrunedRange>();
  for (const { block, message, as, kind } of reshown) {
    const reasons = as === "placeholder" ? [levels.get(block)?.reason || pressureReason] : [];
    const signatures = as === "absent" && kind === "reasoning" ? 1 : 0;
    const range = { from: message, to: message, reasons, signatures };
    const known = messages.get(message);
    messages.set(message, known === undefined ? range : joinRanges(known, range));
  }
  return [...messages.values()].filter(({ reasons }) => reasons.length > 0);
}

function joinRanges(a: PrunedRange, b: PrunedRange): PrunedRange {
  return {
    from: a.from,
    to: Math.max(a.to, b.to),
    reasons: [...new Set([...a.reasons, ...b.reasons])],
    signatures: a.signatures + b.signatures,
  };
}
