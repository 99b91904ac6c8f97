import { setTimeout as pause } from "node:timers/promises";
import { assert, type Random, type Result } from "../../base/index.ts";
import { type Asking, isRetryable, type ModelAnswer, type Provider } from "../provider.ts";
import { cancelled } from "./failure.ts";

export type RetryOptions = {
  /** How often a question is put in all. */
  readonly attempts?: number;
  /** The wait before the second attempt; each later one is twice as long, up to the longest. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** How long a provider may ask us to wait; if it asks for more, its refusal stands. */
  readonly askedMaxMs?: number;
  readonly random?: Pick<Random, "float">;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

const defaults = {
  attempts: 4,
  firstDelayMs: 1_000,
  maxDelayMs: 30_000,
  askedMaxMs: 120_000,
  random: { float: () => Math.random() },
  sleep: (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }),
};

/** Asks again where that may help, a little later each time, and not when everybody else does. */
export function withRetries(provider: Provider, options: RetryOptions = {}): Provider {
  const settings = { ...defaults, ...options };
  assert(settings.attempts >= 1, "a question is put once at least");
  return {
    ...provider,
    ask: async (request, asking) => {
      const listener = listening(asking);
      for (let attempt = 1; ; attempt += 1) {
        const answer = await provider.ask(request, listener);
        const waitMs = attempt < settings.attempts ? waitMsAfter(answer, attempt, settings) : null;
        if (waitMs === null) return answer;
        // A sleep that is cut short throws, and so does nothing else.
        await settings.sleep(waitMs, asking.signal).catch(() => undefined);
        if (asking.signal.aborted) return cancelled(provider.name);
        listener.forget();
      }
    },
  };
}

/** Null where asking again is of no use. */
function waitMsAfter(
  answer: Result<ModelAnswer>,
  attempt: number,
  settings: Required<RetryOptions>,
): number | null {
  if (answer.ok || !isRetryable(answer.error)) return null;
  const fullMs = Math.min(settings.maxDelayMs, settings.firstDelayMs * 2 ** (attempt - 1));
  // At least half of it: whoever comes back at once is refused at once.
  const ownMs = Math.ceil((fullMs / 2) * (1 + settings.random.float()));
  const { retryAfterMs } = answer.error.details;
  if (typeof retryAfterMs !== "number") return ownMs;
  return retryAfterMs > settings.askedMaxMs ? null : Math.max(ownMs, retryAfterMs);
}

/** What was heard of an answer that broke off is not part of the next one. */
function listening(asking: Asking): Asking & { readonly forget: () => void } {
  let heardSome = false;
  return {
    ...asking,
    heard: (text) => {
      heardSome = true;
      asking.heard(text);
    },
    forget: () => {
      if (heardSome) asking.anew?.();
      heardSome = false;
    },
  };
}
