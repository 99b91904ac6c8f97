import { knownBetas } from "./betas.ts";
import { demoModelLike, demoModelName } from "./demo/demo-agent.ts";
import { type CoreAnswer, strictCore } from "./strict-core.ts";

/** A request that was recorded: method and path, body, and when it was sent. */
export type CheckedBody = {
  readonly exchange: number;
  readonly target: string;
  readonly time: number | null;
  readonly bytes: Uint8Array;
};

/** `prompt` is null if the answer reports no usage. */
export type CheckVerdict =
  | { readonly accepted: false; readonly status: number; readonly type: string; readonly message: string }
  | {
      readonly accepted: true;
      readonly status: number;
      readonly prompt: {
        readonly tokens: number;
        readonly cacheRead: number;
        readonly cacheWrite: number;
      } | null;
    };

/**
 * Checks recorded bytes in the order they were sent, each at its time, so that later ones find a cache to
 * read from and a conversation that reasoning is bound to. The verdict is null for any API but the Messages
 * API. It has neither socket nor key, so nothing can be sent.
 */
export function strictChecker(): (body: CheckedBody) => Promise<CheckVerdict | null> {
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
  return async ({ exchange, target, time, bytes }) => {
    const path = pathOf(target);
    if (path === null) return null;
    nowMs = time ?? nowMs;
    const request = core.read({ method: "POST", target: path, rawHeaders, body: bytes });
    const answer = await core.answer(request, exchange);
    answer.onStart();
    return verdictOf(answer);
  };
}

/** Headers are not recorded, so everything that a beta could allow is allowed. */
const rawHeaders: readonly string[] = [
  ...["x-api-key", "none"],
  ...["anthropic-version", "2023-06-01"],
  ...["anthropic-beta", [...knownBetas].join(",")],
];

/** An upstream may have the API below a path of its own. Null for any other API. */
function pathOf(target: string): string | null {
  return /^POST [^?]*(\/v1\/messages(?:\/count_tokens)?)(?:\?.*)?$/.exec(target)?.[1] ?? null;
}

function verdictOf({ status, problem: refused, usage }: CoreAnswer): CheckVerdict {
  if (refused !== null) return { accepted: false, status, type: refused.type, message: refused.message };
  if (usage === null) return { accepted: true, status, prompt: null };
  const [cacheRead, cacheWrite] = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
  const tokens = usage.input_tokens + cacheRead + cacheWrite;
  return { accepted: true, status, prompt: { tokens, cacheRead, cacheWrite } };
}
