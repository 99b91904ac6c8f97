import type {
  BlockDetail,
  DecideAnswer,
  DeletedAnswer,
  Durable,
  ExpansionAnswer,
  FramesPage,
  Imported,
  LabelsAnswer,
  ManifestAnswer,
  ModeAnswer,
  NamedAnswer,
  PermissionsAnswer,
  PreviewsAnswer,
  RequestDiff,
  ReverseAnswer,
  SelectAnswer,
  SelectionAnswer,
  StateRow,
  StepsPage,
  TranscriptAnswer,
} from "../session/index.ts";
import type { BackupReport, GcReport, VerifyReport } from "../store/index.ts";
import type { PricedDetail, PricedPage } from "./bills.ts";
import type { PricedApprovals, PricedCommand } from "./command-bills.ts";
import type { GlanceAnswer } from "./glance.ts";
import type { HealthAnswer, LoginLink, ReadyAnswer } from "./health.ts";
import type { ReplayAnswer } from "./replayed.ts";
import type { PricedSessionDetail, PricedSessions } from "./spend.ts";

/** What the routes that return JSON return, by the name in their row. */
export type Returned = {
  readonly Alive: { readonly ok: true };
  readonly Ready: ReadyAnswer;
  readonly HealthAnswer: HealthAnswer;
  readonly SessionsPage: PricedSessions;
  readonly SessionDetail: PricedSessionDetail;
  readonly NamedAnswer: NamedAnswer & Durable;
  readonly DeletedAnswer: DeletedAnswer;
  readonly GlanceAnswer: GlanceAnswer;
  readonly StateRow: StateRow;
  readonly BlockDetail: BlockDetail;
  readonly LabelsAnswer: LabelsAnswer;
  readonly PreviewsAnswer: PreviewsAnswer;
  readonly SelectionAnswer: SelectionAnswer;
  readonly SelectAnswer: SelectAnswer & Durable;
  readonly StepsPage: StepsPage;
  readonly TranscriptAnswer: TranscriptAnswer;
  readonly ReverseAnswer: ReverseAnswer & Durable;
  readonly PricedCommand: PricedCommand;
  readonly PricedApprovals: PricedApprovals;
  readonly DecideAnswer: DecideAnswer & Durable;
  readonly ModeAnswer: ModeAnswer & Partial<Durable>;
  readonly PermissionsAnswer: PermissionsAnswer;
  readonly ManifestAnswer: ManifestAnswer;
  readonly ExpansionAnswer: ExpansionAnswer;
  readonly RequestsPage: PricedPage;
  readonly RequestDetail: PricedDetail;
  readonly RequestDiff: RequestDiff;
  readonly ReplayAnswer: ReplayAnswer;
  readonly FramesPage: FramesPage;
  readonly VerifyReport: VerifyReport;
  readonly GcReport: GcReport;
  readonly BackupReport: BackupReport;
  readonly Imported: Imported;
  readonly LoginLink: LoginLink;
  readonly LoggedOut: { readonly ok: true };
};
