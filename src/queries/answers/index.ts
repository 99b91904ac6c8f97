export type {
  BlockDetail,
  BlockRow,
  HistoryRow,
  LabelsAnswer,
  PendingRow,
  PreviewsAnswer,
} from "./block-answers.ts";
export type {
  ExpansionAnswer,
  ManifestAnswer,
  RangeRow,
  SelectedRow,
  SelectionAnswer,
  TranscriptAnswer,
  TranscriptRow,
} from "./context-answers.ts";
export type { RequestDiff } from "./diff-answers.ts";
export type {
  BodyAnswer,
  RequestDetail,
  RequestRow,
  RequestsPage,
  RewriteRow,
  SentBodies,
  SentBody,
} from "./request-answers.ts";
export type {
  FailedRequest,
  FramesPage,
  SessionDetail,
  SessionRow,
  SessionsPage,
  StreamMode,
} from "./session-answers.ts";
export type { SegmentRow, StateRow, ZoneRow } from "./state-answers.ts";
export type { StepRow, StepsPage } from "./step-answers.ts";
