import { fail, ok, type Result } from "../../base/index.ts";
import type { ReplayResult } from "../../control/index.ts";
import type { SentBodies } from "../../queries/answers/index.ts";
import { strictChecker } from "../../testing/index.ts";

export type StrictReplayInput = Pick<SentBodies, "sent" | "before">;

/**
 * Checks recorded bytes with the strict model of the tests and the demo. It is a function without socket and
 * key, so nothing can be sent. The previous request goes first, at the time it was sent, so that there is a
 * cache to read from and a conversation that reasoning is bound to.
 */
export async function replayStrictly({ sent, before }: StrictReplayInput): Promise<Result<ReplayResult>> {
  const check = strictChecker();
  const earlier = before === null ? null : await check(before);
  const verdict = await check(sent);
  if (verdict === null) return fail("AP_REPLAY_IMPOSSIBLE", { exchange: sent.exchange, problem });
  const behind =
    before === null || earlier === null ? null : { exchange: before.exchange, accepted: earlier.accepted };
  return ok({ verdict, behind });
}

const problem = "it does not use the Messages API, the only one that the built-in strict model knows";
