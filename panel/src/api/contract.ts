/** What the server answers, by its own types: the panel knows nothing else of it. */
export type {
  ErrorAnswer,
  HealthAnswer,
  PricedApproval,
  PricedApprovals,
  PricedCommand,
  PricedDetail,
  PricedPage,
  PricedRow,
  PricedSession,
  Returned,
  ViewerEvent,
} from "../../../src/control/index.ts";

import type { Returned } from "../../../src/control/index.ts";

export type StateRow = Returned["StateRow"];
export type BlockRow = StateRow["blocks"][number];
export type SegmentRow = StateRow["strip"][number];
export type StreamRow = StateRow["streams"][number];
export type StreamDetail = Returned["SessionDetail"]["streams"][number];
export type WindowRow = StateRow["window"];
export type Zone = BlockRow["zone"];
export type BlockDetail = Returned["BlockDetail"];
export type SelectionAnswer = Returned["SelectionAnswer"];
export type StepRow = Returned["StepsPage"]["rows"][number];
export type Mode = NonNullable<Returned["ModeAnswer"]["mode"]>;
