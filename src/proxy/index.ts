export {
  firstByteBucketsMs,
  type RelayMetrics,
  type StatusCounts,
  type UpstreamLabel,
  upstreamLabels,
} from "./metrics.ts";
export {
  type ProxyOptions,
  type RelayLimits,
  type RunningProxy,
  relayLimits,
  type Upstreams,
} from "./options.ts";
export { startProxy } from "./server.ts";
