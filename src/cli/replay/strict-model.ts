import { fail, ok, type Result } from "../../base/index.ts";
import type { ReplayResult } from "../../control/index.ts";
import type { SentBodies, SentBody } from "../../queries/answers/index.ts";
import {
  type CoreAnswer,
  demoModelLike,
  demoModelName,
  knownBetas,
  strictCore,
} from "../../testing/index.ts";

export type StrictReplayInput = Pick<SentBodies, "sent" | "before">;

/**
 * Checks recorded bytes with the strict model of the tests and the demo. It is a function without socket and
 * key, so nothing can be sent. The previous request goes first, at the time it was sent, so that there is a
 * cache to read from and a conversation that reasoning is bound to.
 */
export async function replayStrictly({ sent, before }: StrictReplayInput): Promise<Result<ReplayResult>> {
  if (pathOf(sent) === null) return fail("AP_REPLAY_IMPOSSIBLE", { exchange: sent.exchange, problem });
  let nowMs = 0;
  const core = strictCore({
    model: () => ({ content: [] }),
    clock: { now: () => nowMs },
    secret: "replay",
    // Real signatures cannot be verified. They are accepted, and bound to the prefix they are first seen
    // behind.
    foreignSignatures: "accept",
    aliases: { [demoModelName]: demoModelLike },
  });
  const answerTo = async (body: SentBody): Promise<CoreAnswer> => {
    nowMs = body.time ?? nowMs;
    const reading = core.read({ method: "POST", target: pathOf(body) ?? "/", rawHeaders, body: body.bytes });
    const answer = await core.answer(reading, body.exchange);
    answer.onStart();
    return answer;
  };
  const earlier = before === null || pathOf(before) === null ? null : await answerTo(before);
  const behind =
    before === null || earlier === null
      ? null
      : { exchange: before.exchange, accepted: earlier.problem === null };
  return ok({ verdict: verdictOf(await answerTo(sent)), behind });
}

const problem = "it does not use the Messages API, the only one that the built-in strict model knows";

/** Headers are not recorded, so everything that a beta could allow is allowed. */
const rawHeaders: readonly string[] = [
  ...["x-api-key", "none"],
  ...["anthropic-version", "2023-06-01"],
  ...["anthropic-beta", [...knownBetas].join(",")],
];

/** An upstream may have the API below a path of its own. Null for any other API. */
function pathOf({ target }: SentBody): string | null {
  return /^POST [^?]*(\/v1\/messages(?:\/count_tokens)?)(?:\?.*)?$/.exec(target)?.[1] ?? null;
}

function verdictOf({ status, problem: refused, usage }: CoreAnswer): ReplayResult["verdict"] {
  if (refused !== null) return { accepted: false, status, type: refused.type, message: refused.message };
  if (usage === null) return { accepted: true, status, prompt: null };
  const [cacheRead, cacheWrite] = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
  const tokens = usage.input_tokens + cacheRead + cacheWrite;
  return { accepted: true, status, prompt: { tokens, cacheRead, cacheWrite } };
}
