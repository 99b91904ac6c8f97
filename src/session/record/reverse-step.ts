import { type ApertureError, fail, ok, type Result, type StepId } from "../../base/index.ts";
import type { ReverseVerb } from "../read/act-rows.ts";
import type { SessionLog } from "../session-log.ts";
import type { LiveSession } from "./live-session.ts";

export type ReversePlace = {
  readonly log: SessionLog;
  readonly live: Pick<LiveSession, "note">;
  /** Its frame was accepted and could not be stored after all. */
  readonly lost: (error: ApertureError) => void;
};

/** The user takes back a step that is done, or takes up one that was taken back. */
export async function reverseStep(
  { log, live, lost }: ReversePlace,
  verb: ReverseVerb,
  step: StepId,
): Promise<Result<object>> {
  const isDone = log.state().steps.get(step)?.log.value.done;
  if (isDone !== (verb === "undo")) return fail("AP_UNDO_NOTHING", { verb, step });
  const reversed = await log.reverseStep(step, "user");
  if (!reversed.ok) return reversed;
  const { frame, durable } = reversed.value;
  void durable.then((stored) => {
    if (!stored.ok) lost(stored.error);
  });
  live.note(frame);
  return ok({});
}
