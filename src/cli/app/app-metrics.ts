import type { MetricsSnapshot } from "../../control/index.ts";
import type { EngineStatus } from "../../host/index.ts";
import type { RelayMetrics, StatusCounts } from "../../proxy/index.ts";

/** All metrics of the process by their names in `/metrics`. No label contains anything from a request. */
export function appMetrics(relay: RelayMetrics, engine: EngineStatus): MetricsSnapshot {
  return {
    requests_total: relay.requests,
    requests_active: relay.active,
    requests_refused_total: relay.refused,
    requests_aborted_total: relay.aborted,
    upstream_failures_total: relay.failed,
    upstream_truncated_total: relay.truncated,
    upstream_retries_total: relay.retried,
    bytes_up_total: relay.bytesUp,
    bytes_down_total: relay.bytesDown,
    recorder_faults_total: relay.recorderFaults,
    managed_total: relay.managed,
    plain_total: relay.plain,
    desk_faults_total: relay.plannerFaults,
    desk_refusals_total: relay.plannerRefusals,
    desk_retries_total: relay.plannerRetries,
    ...firstByteMetrics(relay),
    ...statusMetrics(relay),
    recorded_requests_total: engine.counts.requests,
    recorded_answers_total: engine.counts.answers,
    recording_gaps_total: engine.counts.gaps,
    recording_unread_total: engine.counts.unread,
    recording_waiting_bytes: engine.waitingBytes,
    storage_ok: engine.storage.storage === "ok" ? 1 : 0,
    storage_waiting_frames: engine.storage.waitingFrames,
  };
}

/** Cumulative, as Prometheus histograms are. */
function firstByteMetrics({ firstByte }: RelayMetrics): MetricsSnapshot {
  let sum = 0;
  const rows = firstByte.bucketsMs.map((bound, at): [string, number] => {
    sum += firstByte.counts[at] ?? 0;
    return [`first_byte_ms_bucket{le="${bound}"}`, sum];
  });
  return { ...Object.fromEntries(rows), 'first_byte_ms_bucket{le="+Inf"}': sum + firstByte.slower };
}

const classes: readonly (readonly [keyof StatusCounts, string])[] = [
  ["success", "2xx"],
  ["redirect", "3xx"],
  ["clientError", "4xx"],
  ["serverError", "5xx"],
];

function statusMetrics({ upstreams }: RelayMetrics): MetricsSnapshot {
  const rows = Object.entries(upstreams).flatMap(([upstream, counts]) =>
    classes.map(([field, status]): [string, number] => [
      `responses_total{upstream="${upstream}",status="${status}"}`,
      counts[field],
    ]),
  );
  return Object.fromEntries(rows);
}
