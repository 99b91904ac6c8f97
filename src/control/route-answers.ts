import type {
  DecideAnswer,
  DeleteAnswer,
  ModeAnswer,
  PermissionsAnswer,
  RenameAnswer,
  ReverseAnswer,
  SelectAnswer,
} from "../execute/index.ts";
import type { Durability } from "../log/index.ts";
import type {
  BlockDetail,
  ExpansionAnswer,
  FramesPage,
  LabelsAnswer,
  ManifestAnswer,
  PreviewsAnswer,
  RequestDiff,
  SelectionAnswer,
  StateRow,
  StepsPage,
  TranscriptAnswer,
} from "../queries/answers/index.ts";
import type { ImportResult } from "../recorder/index.ts";
import type { BackupReport, GcReport, VerifyReport } from "../store/index.ts";
import type { GlanceAnswer } from "./glance.ts";
import type { HealthAnswer, LoginLink, ManageLoginsAnswer, ReadyAnswer } from "./health.ts";
import type { PricedApprovals, PricedCommand } from "./priced-commands.ts";
import type { PricedRequestDetail, PricedRequests } from "./priced-requests.ts";
import type { PricedSessionDetail, PricedSessions } from "./priced-sessions.ts";
import type { ReplayAnswer } from "./replay-answer.ts";

/** The JSON answers of routes, by the name in their `returns`. */
export type RouteAnswers = {
  readonly Alive: { readonly ok: true };
  readonly Ready: ReadyAnswer;
  readonly HealthAnswer: HealthAnswer;
  readonly SessionsPage: PricedSessions;
  readonly SessionDetail: PricedSessionDetail;
  readonly RenameAnswer: RenameAnswer & Durability;
  readonly DeleteAnswer: DeleteAnswer;
  readonly GlanceAnswer: GlanceAnswer;
  readonly StateRow: StateRow;
  readonly BlockDetail: BlockDetail;
  readonly LabelsAnswer: LabelsAnswer;
  readonly PreviewsAnswer: PreviewsAnswer;
  readonly SelectionAnswer: SelectionAnswer;
  readonly SelectAnswer: SelectAnswer & Durability;
  readonly StepsPage: StepsPage;
  readonly TranscriptAnswer: TranscriptAnswer;
  readonly ReverseAnswer: ReverseAnswer & Durability;
  readonly PricedCommand: PricedCommand;
  readonly PricedApprovals: PricedApprovals;
  readonly DecideAnswer: DecideAnswer & Durability;
  readonly ModeAnswer: ModeAnswer & Partial<Durability>;
  readonly PermissionsAnswer: PermissionsAnswer;
  readonly ManifestAnswer: ManifestAnswer;
  readonly ExpansionAnswer: ExpansionAnswer;
  readonly RequestsPage: PricedRequests;
  readonly RequestDetail: PricedRequestDetail;
  readonly RequestDiff: RequestDiff;
  readonly ReplayAnswer: ReplayAnswer;
  readonly FramesPage: FramesPage;
  readonly VerifyReport: VerifyReport;
  readonly GcReport: GcReport;
  readonly BackupReport: BackupReport;
  readonly Imported: ImportResult;
  readonly ManageLoginsAnswer: ManageLoginsAnswer;
  readonly LoginLink: LoginLink;
  readonly LoggedOut: { readonly ok: true };
};
