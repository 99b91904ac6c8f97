import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fail, ok, type Result, seededRandom } from "../../base/index.ts";
import type { ModelAnswer, ModelRequest, Provider, ProviderAskOptions } from "../provider.ts";
import { type RetryOptions, withRetries } from "./retries.ts";

const request: ModelRequest = {
  model: "m",
  system: [],
  messages: [],
  tools: [],
  toolChoice: "auto",
  maxTokens: 1,
  stopSequences: [],
  marks: [],
};
const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1 };
const answer = ok<ModelAnswer>({ content: [], stop: "end_turn", usage });

function failing(retryable: boolean, retryAfterMs: number | null = null): Result<ModelAnswer> {
  return fail("AP_PROVIDER_REFUSED", { provider: "p", status: 0, problem: "no", retryable, retryAfterMs });
}

/** Gives these answers in turn, each with one piece of text. */
function provider(answers: readonly Result<ModelAnswer>[]): Provider & { readonly attempts: () => number } {
  let attempts = 0;
  return {
    name: "p",
    attempts: () => attempts,
    ask: (_, { onText }) => {
      onText(`word ${attempts}`);
      attempts += 1;
      return Promise.resolve(answers[attempts - 1] ?? answer);
    },
  };
}

function listener(): ProviderAskOptions & { readonly abort: () => void; readonly pieces: string[] } {
  const controller = new AbortController();
  const pieces: string[] = [];
  return {
    signal: controller.signal,
    onText: (text) => pieces.push(text),
    onRestart: () => pieces.splice(0),
    abort: () => controller.abort(),
    pieces,
  };
}

async function waitsOf(answers: readonly Result<ModelAnswer>[], options: RetryOptions = {}) {
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  const inner = provider(answers);
  const result = await withRetries(inner, { sleep, random: { float: () => 1 }, ...options }).ask(
    request,
    listener(),
  );
  return { waits, result, attempts: inner.attempts() };
}

describe("a provider with retries", () => {
  it("waits twice as long each time, up to a limit, and gives up in the end", async () => {
    const { waits, result, attempts } = await waitsOf(Array(9).fill(failing(true)), { attempts: 8 });
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(attempts).toBe(8);
    expect(result).toEqual(failing(true));
  });

  it("asks four times by default", async () => {
    expect((await waitsOf(Array(9).fill(failing(true)))).attempts).toBe(4);
  });

  it("retries only failures that may pass, and stops at the first answer", async () => {
    expect(await waitsOf([failing(false), answer])).toMatchObject({ attempts: 1, result: failing(false) });
    expect(await waitsOf([failing(true), answer])).toMatchObject({ attempts: 2, result: answer });
    expect(await waitsOf([failing(true), failing(false)])).toMatchObject({
      attempts: 2,
      result: failing(false),
    });
  });

  it("waits as long as retry-after says, and never shorter than by default", async () => {
    expect((await waitsOf([failing(true, 45_000), failing(true, 1)])).waits).toEqual([45_000, 2_000]);
  });

  it("returns the refusal if it would have to wait too long", async () => {
    const long = failing(true, 3_600_000);
    expect(await waitsOf([long])).toMatchObject({ attempts: 1, waits: [], result: long });
  });

  it("waits between half of the full time and all of it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 6 }), async (seed, failures) => {
        const options = { random: seededRandom(seed), attempts: 7 };
        const { waits } = await waitsOf(Array(failures).fill(failing(true)), options);
        for (const [at, ms] of waits.entries()) {
          const fullMs = Math.min(30_000, 1_000 * 2 ** at);
          expect(ms).toBeGreaterThanOrEqual(fullMs / 2);
          expect(ms).toBeLessThanOrEqual(fullMs);
        }
        expect(waits).toHaveLength(failures);
      }),
    );
  });

  it("reports the text of an answer that broke off as void", async () => {
    const texts = listener();
    await withRetries(provider([failing(true), failing(true)]), { firstDelayMs: 1 }).ask(request, texts);
    expect(texts.pieces).toEqual(["word 2"]);
  });

  it("stops in the middle of a wait", async () => {
    const texts = listener();
    const inner = provider([failing(true)]);
    const answering = withRetries(inner, { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 }).ask(
      request,
      texts,
    );
    setTimeout(() => texts.abort(), 5);
    expect(await answering).toMatchObject({ ok: false, error: { code: "AP_PROVIDER_CANCELLED" } });
    expect(inner.attempts()).toBe(1);
  });
});
