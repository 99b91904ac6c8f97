export type { Answering, AnswerNumbers, Asking, Briefing, Desk, Rendering, Sending } from "./desk-port.ts";
export {
  alone,
  type Caller,
  joinedCopy,
  type Likeness,
  type Pieces,
  type Protocol,
  protocols,
  type Recorder,
  type RelayOutcome,
  type RequestCopy,
  type ResponseCopy,
  type SentEpoch,
  type SentReport,
  type SentUnit,
} from "./exchange.ts";
export { admittedTokens } from "./ledger/admission.ts";
export { type Handling, usualHandling } from "./ledger/arrivals.ts";
export { type Awareness, usualAwareness } from "./ledger/awareness.ts";
export { type DeskPlace, SessionDesk } from "./ledger/desk.ts";
export type { SessionPlace } from "./load.ts";
export type { Attached } from "./outbox.ts";
export { placeId } from "./place-id.ts";
export type {
  LevelRow,
  PendingRow,
  ReverseAnswer,
  ReverseVerb,
  RewriteRow,
  StepRow,
  StepsPage,
  WaitsFor,
} from "./read/act-rows.ts";
export { answerQuestion } from "./read/answer.ts";
export {
  type ApprovalRow,
  type ApprovalsPage,
  type CommandAnswer,
  type ConflictRow,
  type CutRow,
  type DecideAnswer,
  type DecisionScope,
  decisionScopes,
  type ModeAnswer,
} from "./read/command-rows.ts";
export {
  type DegradedEvent,
  type EngineEvent,
  type FrameEvent,
  frameEvent,
  type NoticeEvent,
  type RequestEvent,
} from "./read/events.ts";
export {
  type Act,
  type AnswerOf,
  type Answers,
  type Ask,
  type BlockQuestion,
  type CommandQuestion,
  type DecideAct,
  type ExpansionQuestion,
  type LedgerQuestion,
  type Library,
  type Look,
  lastSession,
  type ManifestQuestion,
  type MessageRange,
  type Question,
  type QuestionType,
  type ReverseAct,
  type SelectAct,
  type SetModeAct,
} from "./read/questions.ts";
export type {
  AttemptRow,
  BlockDetail,
  BlockOrigin,
  BlockRow,
  BodyAnswer,
  BodySummary,
  ContentPiece,
  ExpandedRow,
  ExpansionAnswer,
  FramesPage,
  HistoryRow,
  ManifestAnswer,
  ManifestDetail,
  Mode,
  RangeRow,
  RequestDetail,
  RequestRow,
  RequestsPage,
  SegmentRow,
  SelectAnswer,
  SelectedRow,
  SelectionAnswer,
  SessionDetail,
  SessionRow,
  SessionsPage,
  SkippedRow,
  StateRow,
  StreamRow,
  WindowRow,
  ZoneRow,
} from "./read/rows.ts";
export { BodyMemory } from "./record/body-memory.ts";
export { decodeBody } from "./record/decode.ts";
export {
  type RecorderCounts,
  type RecorderPlace,
  SessionRecorder,
} from "./record/recorder.ts";
export {
  type Entry,
  openSession,
  type Recorded,
  type SessionLog,
  snapshotEveryFrames,
} from "./session-log.ts";
export { type Engine, type EngineStatus, startEngine } from "./thread/engine.ts";
export type { EngineOptions } from "./thread/messages.ts";
export { type WindowTable, windowIn } from "./thread/windows.ts";
export { unitTokens } from "./unit-tokens.ts";
