export { type QueryAnswers, queryTable } from "./answer-query.ts";
export type {
  BlockDetail,
  BlockRow,
  HistoryRow,
  LabelsAnswer,
  PendingRow,
  PreviewsAnswer,
} from "./answers/block-answers.ts";
export type {
  ExpansionAnswer,
  ManifestAnswer,
  RangeRow,
  SelectedRow,
  SelectionAnswer,
  TranscriptAnswer,
  TranscriptRow,
} from "./answers/context-answers.ts";
export type { RequestDiff } from "./answers/diff-answers.ts";
export type {
  BodyAnswer,
  RequestDetail,
  RequestRow,
  RequestsPage,
  RewriteRow,
  SentBodies,
  SentBody,
} from "./answers/request-answers.ts";
export type {
  FailedRequest,
  FramesPage,
  SessionDetail,
  SessionRow,
  SessionsPage,
  StreamMode,
} from "./answers/session-answers.ts";
export type { SegmentRow, StateRow, ZoneRow } from "./answers/state-answers.ts";
export type { StepRow, StepsPage } from "./answers/step-answers.ts";
export { isPendingRewrite } from "./block-levels.ts";
export { chooseStream, streamModeOf } from "./choose-stream.ts";
export { blocksAfterReasoning } from "./expansion.ts";
export { unknownBlocksError } from "./find-block.ts";
export { maskNonce, shortNonce } from "./masked-nonce.ts";
export { type ManifestDeps, nextManifestIn } from "./next-manifest.ts";
export { type DiffQuery, type ExpansionQuery, lastSession, type Query, type QueryDeps } from "./queries.ts";
export { selectionAnswer } from "./selection-answer.ts";
export { sessionName, singleLine } from "./session-name.ts";
export { openSessionState } from "./sessions.ts";
export { fitShare } from "./state-row.ts";
export { listSteps, stepRows, stepsPage } from "./steps.ts";
