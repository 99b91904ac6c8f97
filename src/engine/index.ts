export {
  type AddedBlock,
  type Block,
  type BlockKind,
  type BlockNotes,
  blockKinds,
  type Level,
  levels,
  type Rendition,
  type Scope,
  type Shown,
  type Taint,
  type Tokens,
  type Ttl,
} from "./block.ts";
export {
  alone,
  archive,
  type Change,
  focus,
  mayChange,
  type Proposal,
  pin,
  propose,
  type Rule,
  reference,
  restore,
  type Skipped,
  select,
  supersede,
  type Targets,
  unpin,
  wantLevel,
  withhold,
  withPairs,
} from "./change.ts";
export {
  contentsOf,
  type Delta,
  type DeltaType,
  deltaTypes,
  type FactDelta,
  type Fork,
  type Origin,
  type RewriteReason,
  type ShownBlock,
  type TurnOutcome,
  type Unit,
  type ViewFork,
} from "./delta.ts";
export { describe } from "./describe.ts";
export {
  type Exchange,
  type ExchangeEnd,
  type ExchangeOutcome,
  type ExchangeRelation,
  type ExchangeRole,
  exchangeOutcomes,
  exchangeRelations,
  exchangeRoles,
  type Identity,
  type RecordedExchange,
  type Rendering,
  renderings,
} from "./exchange.ts";
export { expire } from "./expire.ts";
export {
  type Actor,
  type Archive,
  type Fact,
  type FactName,
  type Facts,
  type FactValues,
  factNames,
  initialFact,
  type Pin,
} from "./facts.ts";
export {
  type Cause,
  checkSeal,
  type Frame,
  type FrameDraft,
  frameOfText,
  sealedText,
  sealFrame,
} from "./frame.ts";
export {
  isFocused,
  isPinned,
  isWithheld,
  type Lifecycle,
  lifecycleOf,
  lowered,
  pendingOf,
  wantedOf,
  type Zone,
  zoneOf,
} from "./lifecycle.ts";
export {
  blockOf,
  blocksOf,
  epochNow,
  exchangeOf,
  exchangesOf,
  factOf,
  factsOf,
  factValue,
  factVersion,
  lastAnswer,
  lastSent,
  type Moment,
  messageBlocks,
  notesOf,
  now,
  type Place,
  pairOf,
  pathOf,
  placeOf,
  runNow,
  shownOf,
  stateAt,
  streamOf,
  turnNow,
  viewOf,
} from "./moment.ts";
export { reduce, replay } from "./reduce.ts";
export { nextStep } from "./reduce-step.ts";
export { areFree } from "./reduce-stream.ts";
export { checkDraft, parseFrame } from "./shape.ts";
export { fromPages, type StatePages, snapshotFormat, toPages, toPagesInSlices } from "./snapshot.ts";
export { emptyState, type SentTurn, type State, type Step, type Stream, type View } from "./state.ts";
export { inverted, mayReverse, reverse } from "./undo.ts";
export type { Usage } from "./usage.ts";
