// One managed turn through relay, planner and recorder as they are, in one thread, with the copies between
// them as the threads send them. V8 counts the calls.
import { afterAll, beforeAll, expect, test } from "vitest";
import { sessionId } from "../../src/base/index.ts";
import { joinedCopy, type RecorderPort } from "../../src/exchange/index.ts";
import { SessionPlanner } from "../../src/host/index.ts";
import { BodyReceiver, BodySender } from "../../src/host/threads/body-patch.ts";
import { SessionRecorder } from "../../src/recorder/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { countCalls } from "../support/count-calls.ts";
import { plannerDeps } from "../support/planner-kit.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { TestClient } from "../support/test-client.ts";
import { startRelay, type TestRelay, until } from "./harness.ts";

const clock = steppedClock(1_000_000);
const windowOf = () => 200_000;

/** Hands copies to a recorder in this thread, each body as a patch of the one before. */
function portOf(recorder: SessionRecorder): RecorderPort {
  const [sender, receiver] = [new BodySender(), new BodyReceiver()];
  return {
    recordRequest: ({ read = null, ...copy }, overlap) => {
      const [body] = copy.body ?? [];
      if (body === undefined || overlap === null) throw new Error("a planned request has its body");
      const patch = sender.patchFor({ request: copy.id, body, read }, overlap);
      void recorder.recordRequest({ ...copy, body: null }, () => receiver.restore(copy.id, patch));
    },
    recordResend: (id, sent) => void recorder.recordResend(id, sent),
    recordResponse: (copy) => void recorder.recordResponse(joinedCopy(copy)),
  };
}

function plannerOver(recorder: () => SessionRecorder): SessionPlanner {
  const deps = plannerDeps({
    clock,
    lookUpStream: async (lookup) => {
      const record = await recorder().streamRecord(lookup);
      return record.ok ? record.value : null;
    },
    deadlineMs: 60_000,
  });
  return new SessionPlanner(deps);
}

let upstream: StrictUpstream;
let relay: TestRelay;
let recorder: SessionRecorder;
let sessions = 0;
beforeAll(async () => {
  upstream = await startStrictUpstream({
    model: () => ({ content: [{ type: "text", text: "All of it is read." }] }),
  });
  const planner = plannerOver(() => recorder);
  recorder = new SessionRecorder({
    store: openMemoryStore(),
    clock,
    newSession: () => {
      sessions += 1;
      return sessionId(`session-${sessions}`);
    },
    onEvent: () => undefined,
    onWishes: (wishes) => planner.updateWishes(wishes),
    windowOf,
  });
  relay = await startRelay(new URL(upstream.url), { planner, recorder: portOf(recorder) });
});
afterAll(async () => {
  await relay.proxy.close();
  await upstream.close();
});

/** Sends a turn and waits until it is recorded. */
async function turn(client: TestClient, text: string): Promise<void> {
  const answers = recorder.counts().answers;
  expect((await client.turn(`http://127.0.0.1:${relay.proxy.port}`, text)).status).toBe(200);
  await until(() => recorder.counts().answers > answers);
  await recorder.idle();
}

test.each([
  ["streamed", true],
  ["whole", false],
])("a managed turn is identified once, and its body and its %s answer are read once", async (_, stream) => {
  const client = new TestClient({ bulk: 80_000, more: { stream } });
  for (const text of ["begin", "go on", "and on"]) await turn(client, text);
  const before = relay.proxy.metrics();
  const calls = await countCalls(() => turn(client, "once more"));
  const { requests, managed } = relay.proxy.metrics();
  expect([requests - before.requests, managed - before.managed]).toEqual([1, 1]);
  expect(calls("/anthropic/read-request.ts", "readRequest")).toBe(1);
  expect(calls("/anthropic/intercept.ts", "interceptAnswer")).toBe(1);
  // Events are read as they pass; a whole answer is read at its end.
  expect(calls("/anthropic/answer.ts", "readWireAnswer")).toBe(stream ? 0 : 1);
  expect(calls("/exchange/identify.ts", "identify")).toBe(1);
  expect(calls("/exchange/purpose.ts", "purposeOf")).toBe(1);
  expect(calls("/ledger/plan.ts", "plan")).toBe(1);
});
