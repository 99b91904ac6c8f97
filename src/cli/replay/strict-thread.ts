import { limits, ownBuffers, type Result } from "../../base/index.ts";
import type { Replayed } from "../../control/index.ts";
import { entryOf, inTurn } from "../own-thread.ts";
import type { ReplayWork } from "./strict-model.ts";

/** A conversation that fills the largest window is read in a few seconds. */
const msMax = 60_000;

/** Replays one request after the other. */
export function replayOnThread(): (work: ReplayWork) => Promise<Result<Replayed>> {
  const replayed = inTurn<Result<Replayed>>({
    entry: entryOf("replay/strict-worker.js"),
    question: "replay",
    msMax,
    heapBytesMax: limits.replayHeapBytesMax,
  });
  return async ({ sent, before }) => {
    const made = await replayed(
      { sent, before } satisfies ReplayWork,
      ownBuffers([sent.bytes, before?.bytes]),
    );
    return made.ok ? made.value : made;
  };
}
