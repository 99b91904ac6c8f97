/** Metric values by name with labels, as `/metrics` prints them, without the prefix. */
export type MetricValues = ReadonlyMap<string, number>;

export function readMetrics(text: string): MetricValues {
  const found = [...text.matchAll(/^aperture_(\S+) (-?[\d.e+-]+)$/gm)];
  return new Map(found.map(([, name = "", value]) => [name, Number(value)]));
}

/** Counts of responses by upstream, such as `40 2xx`. Counts of 0 are left out. */
export function responsesByUpstream(metrics: MetricValues): ReadonlyMap<string, readonly string[]> {
  const responses = new Map<string, string[]>();
  for (const [name, count] of metrics) {
    const [, upstream, status] = /^responses_total\{upstream="([^"]+)",status="([^"]+)"\}$/.exec(name) ?? [];
    if (upstream === undefined || count === 0) continue;
    responses.set(upstream, [...(responses.get(upstream) ?? []), `${count} ${status}`]);
  }
  return responses;
}
