import { must } from "../base/index.ts";
import { type AddedBlock, factValue, isPinned, lifecycleOf, notesOf, type Place } from "../engine/index.ts";
import { type Counted, countedAt, largest, speakerOf } from "./counted.ts";
import { spanOf } from "./numbers.ts";

/** Neighbouring blocks that nobody referred to for a while. */
export type Candidate = {
  readonly from: number;
  readonly to: number;
  readonly what: string;
  readonly tokens: number;
  readonly since: number;
};

const candidateTokensMin = 1_000;

/** Neighbours in the window that nobody refers to any more, in the order they came. */
export function unusedRuns(places: readonly Place[]): readonly (readonly Counted[])[] {
  const runs: Counted[][] = [];
  let isOpen = false;
  for (const place of places) {
    const mayBe = isUnused(place);
    // Where no run is open, nothing that is in use can end one. That is most of all blocks.
    if (!mayBe && !isOpen) continue;
    const counted = countedAt(place);
    if (counted === null || counted.zone === "cold") continue;
    const isOne = mayBe && isCandidate(counted);
    if (isOne && isOpen) runs.at(-1)?.push(counted);
    else if (isOne) runs.push([counted]);
    isOpen = isOne;
  }
  return runs;
}

/** What is worth a line, largest first. */
export function candidatesAmong(runs: readonly (readonly Counted[])[]): readonly Candidate[] {
  const sized = runs.map((run) => ({ run, tokens: tokensIn(run) }));
  return largest(sized.filter(({ tokens }) => tokens >= candidateTokensMin)).map(({ run }) =>
    candidateOf(run),
  );
}

/** What a user said is not offered, since only the user may let it go. */
function isUnused(place: Place): boolean {
  return speakerOf(place.block) !== "user" && lifecycleOf(place) === "stale";
}

/** A long run is all recency, so what counts is that nobody refers to a block, not where it stands. */
function isCandidate({ place, zone }: Counted): boolean {
  return zone !== "primacy" && !isPinned(place) && !factValue(place, "selection");
}

function candidateOf(run: readonly Counted[]): Candidate {
  const [main] = largest(run);
  const { place } = must(main, "a run has blocks");
  return {
    ...spanOf(run.map(({ place }) => place.block.id)),
    what: notesOf(place.moment, place.block.id)?.topics[0] ?? usualName(place.block),
    tokens: tokensIn(run),
    since: spanOf(run.map((one) => factValue(one.place, "reference").turn)).to,
  };
}

function usualName(block: AddedBlock): string {
  if (block.kind === "reasoning") return "reasoning";
  return speakerOf(block) === "tool" ? "tool output" : "answers";
}

function tokensIn(counted: readonly Counted[]): number {
  return counted.reduce((sum, { tokens }) => sum + tokens, 0);
}
