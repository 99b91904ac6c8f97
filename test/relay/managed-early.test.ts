// A client that reacts to the last event of an answer before the body has ended.
import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { fakePlanner, managedPlan } from "./fake-planner.ts";
import { postJson, startRelay, startUpstream, type TestRelay, type TestUpstream, until } from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const body = Buffer.from("{}");
const messageStop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

test.each([
  ["has had its last event", messageStop, 1],
  ["has not", "event: ping\ndata: {}\n\n", 0],
])(
  "whether an answer that %s is reported to the planner before the next request",
  async (_name, text, reports) => {
    const held: ServerResponse[] = [];
    let onPlan = (): unknown => null;
    const planner = fakePlanner({
      plan: (meta) => {
        onPlan();
        return managedPlan(meta, ["{}"]);
      },
    });
    upstream = await startUpstream((_seen, response) => {
      held.push(response);
      if (held.length === 1) response.writeHead(200).write(text);
      else response.end("second");
    });
    relay = await startRelay(upstream.url, { planner });
    const first = postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => relay.proxy.metrics().bytesDown > 0 || held.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const finishedBefore: number[] = [];
    onPlan = () => finishedBefore.push(planner.finished.length);
    await postJson(relay.proxy.port, "/v1/messages", body);
    expect(finishedBefore).toEqual([reports]);
    held[0]?.end();
    await first;
    await until(() => planner.finished.length === 2);
  },
);
