import { setTimeout as pause } from "node:timers/promises";
import { assert, type Random, type Result } from "../../base/index.ts";
import { isRetryable, type ModelAnswer, type Provider, type ProviderAskOptions } from "../provider.ts";
import { cancelled } from "./failure.ts";

export type RetryOptions = {
  /** Maximum number of attempts in all. */
  readonly attempts?: number;
  /** The wait before the second attempt; each later wait is twice as long, up to `maxDelayMs`. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** The longest `retry-after` that is waited for; if a provider wants more, its refusal is returned. */
  readonly retryAfterMaxMs?: number;
  readonly random?: Pick<Random, "float">;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

const defaults = {
  attempts: 4,
  firstDelayMs: 1_000,
  maxDelayMs: 30_000,
  retryAfterMaxMs: 120_000,
  random: { float: () => Math.random() },
  sleep: (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }),
};

/**
 * Retries failures that may pass, with growing random waits, so that clients do not retry at the same time.
 */
export function withRetries(provider: Provider, options: RetryOptions = {}): Provider {
  const settings = { ...defaults, ...options };
  assert(settings.attempts >= 1, "a question is put once at least");
  return {
    ...provider,
    ask: async (request, askOptions) => {
      const tracked = trackText(askOptions);
      for (let attempt = 1; ; attempt += 1) {
        const answer = await provider.ask(request, tracked);
        const waitMs = attempt < settings.attempts ? waitMsAfter(answer, attempt, settings) : null;
        if (waitMs === null) return answer;
        // A sleep throws only when the signal cuts it short.
        await settings.sleep(waitMs, askOptions.signal).catch(() => undefined);
        if (askOptions.signal.aborted) return cancelled(provider.name);
        tracked.discardText();
      }
    },
  };
}

/** The wait before the next attempt. Null if another attempt is of no use. */
function waitMsAfter(
  answer: Result<ModelAnswer>,
  attempt: number,
  settings: Required<RetryOptions>,
): number | null {
  if (answer.ok || !isRetryable(answer.error)) return null;
  const fullMs = Math.min(settings.maxDelayMs, settings.firstDelayMs * 2 ** (attempt - 1));
  // At least half of the full wait: a client that returns at once is refused at once.
  const ownMs = Math.ceil((fullMs / 2) * (1 + settings.random.float()));
  const { retryAfterMs } = answer.error.details;
  if (typeof retryAfterMs !== "number") return ownMs;
  return retryAfterMs > settings.retryAfterMaxMs ? null : Math.max(ownMs, retryAfterMs);
}

/** Text of an answer that broke off is not part of the next one: `discardText` reports it as void. */
function trackText(options: ProviderAskOptions): ProviderAskOptions & { readonly discardText: () => void } {
  let hasText = false;
  return {
    ...options,
    onText: (text) => {
      hasText = true;
      options.onText(text);
    },
    discardText: () => {
      if (hasText) options.onRestart?.();
      hasText = false;
    },
  };
}
