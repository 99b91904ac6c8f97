export type { CommandedLine, CommandLog } from "./command/command-log.ts";
export { type CommanderPlace, type Commanding, carryOut, carryOutCalls } from "./command/commander.ts";
export { approvedCommand } from "./command/decide-asking.ts";
export { approvalRow } from "./command/decide-list.ts";
export { Doings } from "./command/doings.ts";
export type { Answering, AnswerNumbers, Asking, Briefing, Desk, Rendering, Sending } from "./desk-port.ts";
export type { DiffReason } from "./diff/reason.ts";
export type { ChangeRow, DiffRow, DiffText, DiffTotals, RequestDiff, SameRow } from "./diff/rows.ts";
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
export type { Imported } from "./imported/imported.ts";
export { Importer, type ImportPlace } from "./imported/importer.ts";
export { tokensManaged } from "./ledger/admission.ts";
export { type Handling, usualHandling } from "./ledger/arrivals.ts";
export { type Awareness, usualAwareness } from "./ledger/awareness.ts";
export { type DeskPlace, SessionDesk } from "./ledger/desk.ts";
export { Withholding } from "./ledger/withholding.ts";
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
  type PermissionRow,
  type PermissionsAnswer,
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
  type CommandWhen,
  commandWhens,
  type DecideAct,
  type DiffQuestion,
  type ExpansionQuestion,
  type LedgerQuestion,
  type Library,
  type Look,
  lastSession,
  type ManifestQuestion,
  type MessageRange,
  type PermitAct,
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
  DeletedAnswer,
  FailedRequest,
  FramesPage,
  HistoryRow,
  LabelsAnswer,
  Mode,
  NamedAnswer,
  PreviewsAnswer,
  RequestDetail,
  RequestRow,
  RequestsPage,
  SegmentRow,
  SentBodies,
  SentBody,
  SessionDetail,
  SessionRow,
  SessionsPage,
  StateRow,
  StreamRow,
  StripMarks,
  WindowRow,
  ZoneRow,
} from "./read/rows.ts";
export { stepsPage } from "./read/steps.ts";
export { storedWords } from "./read/stored-words.ts";
export type {
  ExpandedRow,
  ExpansionAnswer,
  ManifestAnswer,
  ManifestDetail,
  RangeRow,
  SelectAnswer,
  SelectedRow,
  SelectionAnswer,
  SkippedRow,
} from "./read/told-rows.ts";
export type { TranscriptAnswer, TranscriptRow } from "./read/transcript-rows.ts";
export { BodyMemory } from "./record/body-memory.ts";
export { decodeBody } from "./record/decode.ts";
export type { Durable } from "./record/durable.ts";
export { IdPool } from "./record/id-pool.ts";
export { readWithheld, withheldFile } from "./record/kept-withheld.ts";
export { type LevelWords, levelWords, wordedKinds } from "./record/level-words.ts";
export {
  type RecorderPlace,
  SessionRecorder,
} from "./record/recorder.ts";
export type { RecorderCounts } from "./record/recorder-counts.ts";
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
export { ttlOf } from "./ttl.ts";
export { unitTokens } from "./unit-tokens.ts";
