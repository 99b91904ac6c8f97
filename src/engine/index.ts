export { changes, ruleChanges } from "./actor-changes.ts";
export { type BlockSpan, type Mode, modes, type Permission, permissionRules } from "./approval.ts";
export {
  type AddedBlock,
  type Block,
  type BlockAttributes,
  type BlockKind,
  blockKinds,
  type Level,
  levels,
  type Rendition,
  type Shown,
  type Taint,
  type Tokens,
  type Ttl,
} from "./block.ts";
export type { ChangeContext, Proposal } from "./change-facts.ts";
export {
  type Delta,
  deltaContents,
  type FactDelta,
  type PredictedBill,
  type RewriteReason,
  type TurnOutcome,
  type Unit,
  type UnitOrigin,
} from "./delta.ts";
export type {
  BodyForm,
  Exchange,
  ExchangeEnd,
  RecordedExchange,
  SessionIdentity,
  Usage,
} from "./exchange.ts";
export { type Actor, actors, type FactName, type FactValues, factNames } from "./facts.ts";
export {
  type Cause,
  checkSeal,
  type Frame,
  type FrameDraft,
  frameFromText,
  sealedText,
  sealFrame,
} from "./frame.ts";
export { checkDraft, parseFrame } from "./frame-shape.ts";
export {
  isFocused,
  isPinned,
  isWithheld,
  type Lifecycle,
  lifecycleOf,
  pendingChange,
  staleTurns,
  wantedOf,
  type Zone,
  zoneOf,
} from "./lifecycle.ts";
export {
  type ApprovalState,
  approvalOf,
  asOf,
  attributesOf,
  type BlockView,
  blockOf,
  blockViewOf,
  descendsFrom,
  epochNow,
  exchangeOf,
  exchangesOf,
  factOf,
  factValue,
  factVersion,
  lastSentTurn,
  lastTurnAnswer,
  type Moment,
  messageBlocks,
  modeOf,
  momentAt,
  nameOf,
  now,
  pairOf,
  permissionsOf,
  runNow,
  sentPath,
  shownOf,
  streamOf,
  turnNow,
  viewBlocks,
  viewOf,
} from "./moment.ts";
export { reduce, replayFrames } from "./reduce.ts";
export { nextStepId } from "./reduce-step.ts";
export { areIdsFree } from "./reduce-stream.ts";
export { stateFromPages, stateToPagesInSlices } from "./snapshot.ts";
export {
  emptyState,
  type NextIds,
  type ReservedRange,
  type SentTurn,
  type SentUnit,
  type State,
  type Step,
  type Stream,
  type View,
} from "./state.ts";
export { mayReverse, reverse } from "./undo.ts";
