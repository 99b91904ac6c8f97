export {
  type AnswerCommands,
  type AnswerPosition,
  type AnswerResult,
  addAnswer,
  commandsOf,
  type StreamAnswer,
} from "./add-answer.ts";
export { countKnownUnits } from "./align-stream.ts";
export { type AllWishes, noWishes, updateWishes } from "./all-wishes.ts";
export type { ArrivalPolicy } from "./arrivals.ts";
export { type Awareness, defaultAwareness } from "./awareness-settings.ts";
export { laterNumbers, type SessionNumbers, sessionNumbers } from "./block-numbers.ts";
export { clientUnits } from "./client-units.ts";
export { callKey } from "./command-calls.ts";
export {
  followLog,
  forgetObserved,
  isCurrentRequest,
  type LedgerStream,
  memoryBytes,
  nameBlocks,
  notePassed,
  openStream,
  renumber,
  resetStream,
  restartStream,
  type StreamOptions,
  withoutRefused,
  withSession,
} from "./ledger-stream.ts";
export { type NodeIndex, textOfUnit } from "./node.ts";
export { plainBody } from "./plain-body.ts";
export { type PlanResult, plan } from "./plan.ts";
export type { LedgerRequest, Plan, PlanContext, SentPath } from "./plan-request.ts";
export { planRound } from "./plan-round.ts";
export { restoreTurns } from "./restore-turn.ts";
export { mergeNext, startMerge, textForms } from "./text-merge.ts";
export { isTaintingUnit } from "./turn-taint.ts";
export { isSameWithheld, type WithheldContent } from "./withheld.ts";
