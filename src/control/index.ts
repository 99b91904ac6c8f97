export { apiPrefix, type ErrorAnswer, type ExportFormat, type ExportRequest } from "./contract.ts";
export { type Control, createControl } from "./control-server.ts";
export type { GlanceAnswer } from "./glance.ts";
export type {
  ControlHealth,
  HealthAnswer,
  LoginConsent,
  LoginLink,
  ManageLoginsAnswer,
  ReadyAnswer,
} from "./health.ts";
export type { MetricsSnapshot } from "./metrics-text.ts";
export { readPanel } from "./panel-files.ts";
export type { CutBill, PricedApproval, PricedApprovals, PricedCommand } from "./priced-commands.ts";
export type { PricedRequest, PricedRequestDetail, PricedRequests, PricedRewrite } from "./priced-requests.ts";
export type { PricedSession, PricedSessionDetail } from "./priced-sessions.ts";
export type { ReplayAnswer, ReplayResult } from "./replay-answer.ts";
export type { RouteAnswers } from "./route-answers.ts";
export type { ViewerEvent } from "./viewer.ts";
