import { must } from "../base/index.ts";
import type { AddedBlock } from "../engine/frames/index.ts";
import { attributesOf, type BlockView, factValue, isPinned, lifecycleOf } from "../engine/moment/index.ts";
import { type CountedBlock, countBlock, largest, speakerOf } from "./counted-block.ts";
import { spanOf } from "./id-ranges.ts";

/** Neighbouring blocks that nothing has referred to for a while. */
export type ArchiveCandidate = {
  readonly from: number;
  readonly to: number;
  readonly what: string;
  readonly tokens: number;
  readonly since: number;
};

const candidateTokensMin = 1_000;

/** Runs of neighbouring blocks in the window that nothing refers to, in order. */
export function unusedRuns(places: readonly BlockView[]): readonly (readonly CountedBlock[])[] {
  const runs: CountedBlock[][] = [];
  let isOpen = false;
  for (const place of places) {
    const mayBe = isUnused(place);
    // Without an open run a block in use changes nothing; most blocks are in use.
    if (!mayBe && !isOpen) continue;
    const counted = countBlock(place);
    if (counted === null || counted.zone === "cold") continue;
    const isOne = mayBe && isCandidate(counted);
    if (isOne && isOpen) runs.at(-1)?.push(counted);
    else if (isOne) runs.push([counted]);
    isOpen = isOne;
  }
  return runs;
}

/** The runs that are large enough for a line, largest first. */
export function candidatesAmong(runs: readonly (readonly CountedBlock[])[]): readonly ArchiveCandidate[] {
  const sized = runs.map((run) => ({ run, tokens: tokensIn(run) }));
  return largest(sized.filter(({ tokens }) => tokens >= candidateTokensMin)).map(({ run }) =>
    candidateOf(run),
  );
}

/** Blocks of the user are not offered, since only the user may archive them. */
function isUnused(place: BlockView): boolean {
  return speakerOf(place.block) !== "user" && lifecycleOf(place) === "stale";
}

/** A long run is all recency, so the zone does not decide; that nothing refers to the block does. */
function isCandidate({ blockView: place, zone }: CountedBlock): boolean {
  return zone !== "primacy" && !isPinned(place) && !factValue(place, "selection");
}

function candidateOf(run: readonly CountedBlock[]): ArchiveCandidate {
  const [main] = largest(run);
  const { blockView: place } = must(main, "a run has blocks");
  return {
    ...spanOf(run.map(({ blockView: place }) => place.block.id)),
    what: attributesOf(place.moment, place.block.id)?.topics[0] ?? usualName(place.block),
    tokens: tokensIn(run),
    since: spanOf(run.map((one) => factValue(one.blockView, "reference").turn)).to,
  };
}

function usualName(block: AddedBlock): string {
  if (block.kind === "reasoning") return "reasoning";
  return speakerOf(block) === "tool" ? "tool output" : "answers";
}

function tokensIn(counted: readonly CountedBlock[]): number {
  return counted.reduce((sum, { tokens }) => sum + tokens, 0);
}
