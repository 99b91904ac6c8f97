import { limits, type Result, transferableBuffers } from "../../base/index.ts";
import type { ReplayResult } from "../../control/index.ts";
import { createJobQueue, workerEntry } from "../job-queue.ts";
import type { StrictReplayInput } from "./strict-model.ts";

/** Even a conversation that fills the largest window takes only a few seconds. */
const msMax = 60_000;

export function replayOnThread(): (work: StrictReplayInput) => Promise<Result<ReplayResult>> {
  const run = createJobQueue<Result<ReplayResult>>({
    entry: workerEntry("replay/strict-worker.js"),
    question: "replay",
    msMax,
    heapBytesMax: limits.replayHeapBytesMax,
  });
  return async ({ sent, before }) => {
    const result = await run(
      { sent, before } satisfies StrictReplayInput,
      transferableBuffers([sent.bytes, before?.bytes]),
    );
    return result.ok ? result.value : result;
  };
}
