import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fail, ok, type Result, seededRandom } from "../../base/index.ts";
import type { Asking, ModelAnswer, ModelRequest, Provider } from "../provider.ts";
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

/** Gives these answers in turn; says a word each time. */
function provider(answers: readonly Result<ModelAnswer>[]): Provider & { readonly asked: () => number } {
  let asked = 0;
  return {
    name: "p",
    asked: () => asked,
    ask: (_, { heard }) => {
      heard(`word ${asked}`);
      asked += 1;
      return Promise.resolve(answers[asked - 1] ?? answer);
    },
  };
}

function asking(): Asking & { readonly abort: () => void; readonly heardNow: string[] } {
  const controller = new AbortController();
  const heardNow: string[] = [];
  return {
    signal: controller.signal,
    heard: (text) => heardNow.push(text),
    anew: () => heardNow.splice(0),
    abort: () => controller.abort(),
    heardNow,
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
    asking(),
  );
  return { waits, result, asked: inner.asked() };
}

describe("asking again", () => {
  it("waits twice as long each time, up to a limit, and gives up in the end", async () => {
    const { waits, result, asked } = await waitsOf(Array(9).fill(failing(true)), { attempts: 8 });
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(asked).toBe(8);
    expect(result).toEqual(failing(true));
  });

  it("asks four times unless told otherwise", async () => {
    expect((await waitsOf(Array(9).fill(failing(true)))).asked).toBe(4);
  });

  it("is for what may pass, and ends with the first answer", async () => {
    expect(await waitsOf([failing(false), answer])).toMatchObject({ asked: 1, result: failing(false) });
    expect(await waitsOf([failing(true), answer])).toMatchObject({ asked: 2, result: answer });
    expect(await waitsOf([failing(true), failing(false)])).toMatchObject({
      asked: 2,
      result: failing(false),
    });
  });

  it("waits as long as it is told to, and not shorter than it would by itself", async () => {
    expect((await waitsOf([failing(true, 45_000), failing(true, 1)])).waits).toEqual([45_000, 2_000]);
  });

  it("takes a refusal for an answer if it would have to wait too long", async () => {
    const long = failing(true, 3_600_000);
    expect(await waitsOf([long])).toMatchObject({ asked: 1, waits: [], result: long });
  });

  it("waits between half of its time and all of it", async () => {
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

  it("forgets what was heard of an answer that broke off", async () => {
    const ear = asking();
    await withRetries(provider([failing(true), failing(true)]), { firstDelayMs: 1 }).ask(request, ear);
    expect(ear.heardNow).toEqual(["word 2"]);
  });

  it("stops in the middle of a wait", async () => {
    const ear = asking();
    const inner = provider([failing(true)]);
    const asked = withRetries(inner, { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 }).ask(request, ear);
    setTimeout(() => ear.abort(), 5);
    expect(await asked).toMatchObject({ ok: false, error: { code: "AP_PROVIDER_CANCELLED" } });
    expect(inner.asked()).toBe(1);
  });
});
