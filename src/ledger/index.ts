export type { Carrier, NoteContext, TailInput } from "./add-notes.ts";
export type { ArrivalPolicy } from "./arrivals.ts";
export { SessionNumbers, StreamNumbers } from "./block-numbers.ts";
export {
  type ChoiceFacts,
  chooseRewrite,
  isRunStart,
  type PromptCount,
  promptCountOf,
} from "./choose-rewrite.ts";
export { clientUnits } from "./client-units.ts";
export { callKey, ownCallsIn } from "./command-calls.ts";
export { lineCommands } from "./command-lines.ts";
export { type LedgerNode, rootNode, textOfUnit } from "./node.ts";
export {
  type BlockCount,
  type BlockSum,
  carryFactsOver,
  type ReshownBlock,
  type SizedBlock,
} from "./path-blocks.ts";
export { plainBody } from "./plain-body.ts";
export type { CommandForm } from "./request-head.ts";
export type { RenderInput, RenderPurpose, RenderResult, SentPath } from "./request-plan.ts";
export type { OriginalLookup, TurnToRestore } from "./restore-turn.ts";
export { StreamLedger } from "./stream-ledger.ts";
export { mergeNext, startMerge, textForms } from "./text-merge.ts";
export { isTaintedBy, unitsReadInTurn } from "./turn-taint.ts";
export { isSameWithheld, type WithheldContent } from "./withheld.ts";
