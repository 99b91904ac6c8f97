export type { PricedDetail, PricedPage, PricedRewrite, PricedRow } from "./bills.ts";
export type { CutBill, PricedApproval, PricedApprovals, PricedCommand } from "./command-bills.ts";
export {
  apiPrefix,
  type ErrorAnswer,
  type ExportFormat,
  type ExportWish,
  type Health,
  type HealthAnswer,
  type LoginLink,
  type Needs,
  type ReadyAnswer,
  type RecordingHealth,
  type ResyncEvent,
  type Returned,
  type Route,
  type RouteName,
  routes,
  type ViewerEvent,
} from "./contract.ts";
export type { GlanceAnswer } from "./glance.ts";
export { type Control, type ControlOptions, createControl } from "./http.ts";
export type { MetricsSnapshot } from "./metrics.ts";
export { type Panel, readPanel } from "./panel.ts";
export type { ReplayAnswer, Replayed } from "./replayed.ts";
export type { PricedSession, PricedSessionDetail, PricedSessions } from "./spend.ts";
