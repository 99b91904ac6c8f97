export { type Change, type ChangeWord, changeWords } from "./change.ts";
export { FactsTally } from "./facts-tally.ts";
export { type IdRange, idRanges, spanOf } from "./id-ranges.ts";
export {
  detailTokensMin,
  type FactsInput,
  type ManifestFacts,
  manifestFacts,
  type NamedBlock,
  type NeededName,
  type SelectedBlock,
  type ZoneCounts,
  type ZoneFacts,
} from "./manifest-facts.ts";
export { headerNamesMax, type ManifestSpent, manifestNamesMax, NameRank, summaryShare } from "./name-rank.ts";
export { type PrunedRange, prunedRanges } from "./pruned-ranges.ts";
export { namesIn, nameTokens } from "./text-names.ts";
export { changesIn, relevantFrames } from "./view-changes.ts";
