/** The server's own types of its responses. The panel imports nothing else from `src`. */
export type {
  ErrorAnswer,
  HealthAnswer,
  PricedApproval,
  PricedApprovals,
  PricedCommand,
  PricedRequest,
  PricedRequestDetail,
  PricedRequests,
  PricedSession,
  RouteAnswers,
  ViewerEvent,
} from "../../../src/control/index.ts";

import type { RouteAnswers } from "../../../src/control/index.ts";

export type StateRow = RouteAnswers["StateRow"];
export type BlockRow = StateRow["blocks"][number];
export type SegmentRow = StateRow["strip"][number];
export type StreamRow = StateRow["streams"][number];
export type StreamDetail = RouteAnswers["SessionDetail"]["streams"][number];
export type WindowRow = StateRow["window"];
export type Zone = BlockRow["zone"];
export type BlockDetail = RouteAnswers["BlockDetail"];
export type SelectionAnswer = RouteAnswers["SelectionAnswer"];
export type StepRow = RouteAnswers["StepsPage"]["rows"][number];
export type Mode = NonNullable<RouteAnswers["ModeAnswer"]["mode"]>;
