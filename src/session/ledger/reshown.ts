import type { ManifestFacts, PrunedRange, ZoneFacts } from "../../render/index.ts";
import type { Rewritten } from "./rewrite.ts";
import type { Reshown, SizedBlock } from "./saying.ts";
import { placeWords, type Withheld } from "./withheld.ts";

type Leaving = {
  /** Whether reasoning goes that is bound to the old words. */
  readonly leavesReasoning: boolean;
  readonly withheld: Withheld;
};

/** What a rewrite shows otherwise. Of what is withheld nothing is told: it cannot be asked for. */
export function reshownBy(
  rewritten: Rewritten | null,
  { leavesReasoning, withheld }: Leaving,
): readonly Reshown[] {
  const items = rewritten?.items ?? [];
  return items.flatMap(({ numbered, from, showing }) => {
    if (numbered === null || from === null || placeWords(withheld, from) !== undefined) return [];
    const isLeft = leavesReasoning && numbered.kind === "reasoning";
    const [as, was] = [isLeft ? ("absent" as const) : showing.as, from.showing.as];
    return as === was ? [] : [{ ...numbered, as, was }];
  });
}

/** A request that does not go on with what was sent last. */
export type OtherPath = {
  /** All that it shows. */
  readonly shown: readonly SizedBlock[];
  readonly reshown: readonly Reshown[];
  readonly reasonOf: (block: number) => string;
};

type CarriedOver = Pick<ManifestFacts, "cold" | "expiring" | "ranges">;

/** What the log has told that holds on another path too, with what is pruned on the way to it. */
export function carriedOver(facts: ManifestFacts, path: OtherPath): CarriedOver {
  const blocks = new Set(path.shown.map(({ block }) => block));
  return {
    cold: { ...facts.cold, ...coldBy(facts.cold, path.reshown) },
    expiring: facts.expiring.filter(({ block }) => blocks.has(block)),
    ranges: rangesBy(facts.ranges, path),
  };
}

function coldBy({ blocks, tokens, exact }: ZoneFacts, reshown: readonly Reshown[]): ZoneFacts {
  let [count, sum] = [blocks, tokens];
  for (const one of reshown) {
    const by = Number(one.as === "placeholder") - Number(one.was === "placeholder");
    count += by;
    sum += by * one.tokens;
  }
  return { blocks: Math.max(0, count), tokens: Math.max(0, sum), exact: exact && sum === tokens };
}

type Span = Pick<PrunedRange, "from" | "to">;

/** Messages of which nothing is shown any more join those the log knows of. */
function rangesBy(known: readonly PrunedRange[], path: OtherPath): readonly PrunedRange[] {
  const shown = new Set(path.shown.map(({ message }) => message));
  const isShownIn = ({ from, to }: Span): boolean => {
    for (let message = from; message <= to; message += 1) if (shown.has(message)) return true;
    return false;
  };
  const pruned = [...known, ...prunedMessages(path)].filter((range) => !isShownIn(range));
  const ranges: PrunedRange[] = [];
  for (const range of pruned.sort((a, b) => a.from - b.from)) {
    const last = ranges.at(-1);
    if (last === undefined || isShownIn({ from: last.to, to: range.from })) ranges.push(range);
    else ranges.splice(-1, 1, joined(last, range));
  }
  return ranges;
}

function prunedMessages({ reshown, reasonOf }: OtherPath): readonly PrunedRange[] {
  const messages = new Map<number, PrunedRange>();
  for (const { block, message, as, kind } of reshown) {
    const reasons = as === "placeholder" ? [reasonOf(block)] : [];
    const signatures = as === "absent" && kind === "reasoning" ? 1 : 0;
    const one = { from: message, to: message, reasons, signatures };
    const before = messages.get(message);
    messages.set(message, before === undefined ? one : joined(before, one));
  }
  return [...messages.values()].filter(({ reasons }) => reasons.length > 0);
}

function joined(a: PrunedRange, b: PrunedRange): PrunedRange {
  return {
    from: a.from,
    to: Math.max(a.to, b.to),
    reasons: [...new Set([...a.reasons, ...b.reasons])],
    signatures: a.signatures + b.signatures,
  };
}
