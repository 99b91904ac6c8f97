export { type AnsweredLine, answersText } from "./answers.ts";
export { boundedTokens } from "./bound.ts";
export type { Candidate } from "./candidates.ts";
export { changeNote, changeNoteTokensMax } from "./change-note.ts";
export {
  type Cut,
  type CutAsked,
  chooseCut,
  type PathPiece,
  type Room,
  removedTokensMin,
  tokensToFree,
} from "./cut.ts";
export {
  type Change,
  type ChangesShown,
  type ChangeWord,
  changesIn,
  changesText,
  changeWords,
  tellingFrames,
} from "./diff.ts";
export {
  type Expiring,
  type ManifestAsked,
  type ManifestFacts,
  manifestFacts,
  type NamedBlock,
  type NeededName,
  type Pending,
  type ZoneCounts,
  type ZoneFacts,
} from "./facts.ts";
export {
  compactHeader,
  detailTokensMin,
  type HeaderBlock,
  type HeaderMark,
  type HeaderMessage,
  type HeaderMode,
  messageHeader,
  partHeader,
  type TurnHeader,
} from "./header.ts";
export { type Offer, offerLine } from "./hints.ts";
export { type Acting, instructionPoints, instructions, tellsTextCommands } from "./instructions.ts";
export { isLower, type Lowered, levelLine } from "./level-line.ts";
export {
  type ManifestOptions,
  manifestText,
  manifestTokensMax,
  type WrittenManifest,
  writeManifest,
} from "./manifest.ts";
export { memoryLine, memoryMark, memoryWords, type ShownMemory } from "./memory-line.ts";
export { namesIn, nameTokens } from "./names.ts";
export { idsText } from "./numbers.ts";
export { continuesOwnLine, isOwnLine, opensOwnLines } from "./own-line.ts";
export { hintOf, hintTokensMax, type Pruned, placeholder } from "./placeholder.ts";
export {
  breakEven,
  type CacheLife,
  type CacheRule,
  type CutSize,
  type LongPrompt,
  type ModelPrices,
  type Money,
  moneyOf,
  type PriceField,
  type PromptTokens,
  promptPrice,
  withLongCache,
} from "./price.ts";
export {
  type BillError,
  billError,
  measuredBill,
  measuredInput,
  type ReportedUsage,
} from "./price-bill.ts";
export {
  type BestCut,
  bestCut,
  type CutChoice,
  type RewriteAsked,
  type RewriteBill,
  requestsExpected,
  rewriteBill,
} from "./price-rewrite.ts";
export { type PrunedRange, prunedRanges, rangeText } from "./range.ts";
export { headerNamesMax, NameRank } from "./rank.ts";
export { reasoningText, type StoredReasoning } from "./reasoning.ts";
export { safeText, shortened, withoutNonce } from "./safe-text.ts";
export { type Selected, selectionLine, selectionText } from "./selection.ts";
export { FactsTally } from "./tally.ts";
export type { ManifestVariant } from "./variants.ts";
