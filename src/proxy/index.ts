export type { RelayMetrics, StatusCounts } from "./metrics.ts";
export type { RelayLimits, RunningProxy } from "./options.ts";
export { startProxy } from "./server.ts";
