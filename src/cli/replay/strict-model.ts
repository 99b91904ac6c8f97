import { fail, ok, type Result } from "../../base/index.ts";
import type { Replayed } from "../../control/index.ts";
import type { SentBodies, SentBody } from "../../session/index.ts";
import {
  type CoreAnswer,
  demoModelLike,
  demoModelName,
  knownBetas,
  strictCore,
} from "../../testing/index.ts";

export type ReplayWork = Pick<SentBodies, "sent" | "before">;

/**
 * Says what the strict model of the tests and the demo has to say to recorded bytes. It is a function: there
 * is no socket and no key, so nothing can be sent. The request before goes ahead, at the time it was sent:
 * then there is a cache to read from, and a conversation that reasoning is bound to.
 */
export async function replayStrictly({ sent, before }: ReplayWork): Promise<Result<Replayed>> {
  if (pathOf(sent) === null) return fail("AP_REPLAY_IMPOSSIBLE", { exchange: sent.exchange, problem });
  let nowMs = 0;
  const core = strictCore({
    model: () => ({ content: [] }),
    clock: { now: () => nowMs },
    secret: "replay",
    // Real signatures cannot be checked. They are believed, and bound to what they first stand behind.
    foreignSignatures: "accept",
    aliases: { [demoModelName]: demoModelLike },
  });
  const answerTo = async (body: SentBody): Promise<CoreAnswer> => {
    nowMs = body.time ?? nowMs;
    const reading = core.read({ method: "POST", target: pathOf(body) ?? "/", rawHeaders, body: body.bytes });
    const answer = await core.answer(reading, body.exchange);
    answer.started();
    return answer;
  };
  const earlier = before === null || pathOf(before) === null ? null : await answerTo(before);
  const behind =
    before === null || earlier === null
      ? null
      : { exchange: before.exchange, accepted: earlier.problem === null };
  return ok({ verdict: verdictOf(await answerTo(sent)), behind });
}

const problem = "it is none of the Messages API, the one that the strict model inside Aperture speaks";

/** Headers are not recorded: whatever a beta would have allowed is allowed. */
const rawHeaders: readonly string[] = [
  ...["x-api-key", "none"],
  ...["anthropic-version", "2023-06-01"],
  ...["anthropic-beta", [...knownBetas].join(",")],
];

/** Upstreams may have it below a path of their own. Null: it is another API. */
function pathOf({ target }: SentBody): string | null {
  return /^POST [^?]*(\/v1\/messages(?:\/count_tokens)?)(?:\?.*)?$/.exec(target)?.[1] ?? null;
}

function verdictOf({ status, problem: refused, usage }: CoreAnswer): Replayed["verdict"] {
  if (refused !== null) return { accepted: false, status, type: refused.type, message: refused.message };
  if (usage === null) return { accepted: true, status, prompt: null };
  const [cacheRead, cacheWrite] = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
  const tokens = usage.input_tokens + cacheRead + cacheWrite;
  return { accepted: true, status, prompt: { tokens, cacheRead, cacheWrite } };
}
