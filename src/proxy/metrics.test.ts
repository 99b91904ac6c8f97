import { expect, test } from "vitest";
import { createMeter, firstByteBucketsMs } from "./metrics.ts";

test("the meter counts events, status classes and first-byte times", () => {
  const meter = createMeter();
  meter.add("requests", 1);
  meter.add("bytesUp", 10);
  meter.add("bytesUp", 5);
  for (const status of [200, 204, 302, 404, 429, 529, 999]) meter.countResponse("openai", status);
  for (const ms of [0, 50, 51, 30_000, 30_001]) meter.countFirstByte(ms);
  const metrics = meter.read();
  expect(metrics).toMatchObject({ requests: 1, bytesUp: 15, aborted: 0 });
  expect(metrics.upstreams.openai).toEqual({
    informational: 0,
    success: 2,
    redirect: 1,
    clientError: 2,
    serverError: 2,
  });
  expect(metrics.upstreams.named.success).toBe(0);
  expect(metrics.firstByte.counts).toEqual([2, 1, ...firstByteBucketsMs.slice(3).map(() => 0), 1]);
  expect(metrics.firstByte.slower).toBe(1);
});

test("metrics that were read do not change afterwards", () => {
  const meter = createMeter();
  const before = meter.read();
  meter.add("requests", 1);
  meter.countResponse("named", 200);
  meter.countFirstByte(1);
  expect(before).toEqual(createMeter().read());
});
