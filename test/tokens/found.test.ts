// What we expect the prompt cache to find, against a cache of another making that works as the provider's.
import fc from "fast-check";
import { expect, test } from "vitest";
import { must, steppedClock } from "../../src/base/index.ts";
import { pricesOf } from "../../src/config/index.ts";
import { type CacheEntry, entriesAfter, foundBefore } from "../../src/render/index.ts";
import { ask, jsonOf, rawRequest, say, strictCore } from "../../src/testing/index.ts";

const model = "claude-opus-4-8";
const prices = pricesOf(model);
const minuteMs = 60_000;

/** One request more: what is appended, what is edited first, where the marks are, how long it waited. */
const step = fc.record({
  appended: fc.constantFrom(0, 1, 3, 12, 25),
  edited: fc.option(fc.nat(100), { nil: null, freq: 3 }),
  marks: fc.array(fc.nat(100), { maxLength: 3 }),
  waitMs: fc.constantFrom(10_000, minuteMs, 2 * minuteMs, 4 * minuteMs, 6 * minuteMs),
  isLong: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Of every block. */
const tokensEach = 500;

test("what is found is what an independent cache reports as read", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const talk = start();
      for (const one of steps) {
        const { read, expected } = await talk(one);
        expect(read).toBe(expected);
        if (read > 0) found += 1;
      }
    }),
    { numRuns: 100 },
  );
  expect(found).toBeGreaterThan(50);
});

/** A session of one long user message whose blocks are the positions. */
function start() {
  const clock = steppedClock(0);
  const core = strictCore({ model: () => say("ok"), clock, secret: "s" });
  let texts: string[] = [];
  let entries: readonly CacheEntry[] = [];
  let named = 0;
  const fresh = () => `${++named} `.padEnd(4 * tokensEach, "x");
  return async (one: Step) => {
    clock.advance(one.waitMs);
    const before = texts;
    texts = edited(before, one, fresh);
    const samePosition = before.findIndex((text, at) => text !== texts[at]);
    const marks = marksOf(one, texts);
    const nowMs = clock.now();
    const same = samePosition === -1 ? before.length - 1 : samePosition - 1;
    const still = entries.filter(({ position }) => position <= same);
    const expected = Math.max(0, ...marks.map((mark) => foundBefore({ ...mark, nowMs }, still, prices)));
    entries = entriesAfter(entries, { samePosition: same, marks, nowMs }, prices);
    const content = texts.map((text, at) =>
      block(
        text,
        one.isLong ? "1h" : "5m",
        marks.some(({ position }) => position === at),
      ),
    );
    const body = { model, max_tokens: 10, messages: [{ role: "user", content }] };
    const { usage } = jsonOf(await ask(core, rawRequest(body))) as { readonly usage: Usage };
    return { read: blocksRead(usage, texts.length), expected: expected / tokensEach };
  };
}

type Usage = {
  readonly [name in "input" | "cache_read_input" | "cache_creation_input" as `${name}_tokens`]: number;
};

/** All blocks are equally long, so it does not matter how the other cache counts their tokens. */
function blocksRead(usage: Usage, blocks: number): number {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  return Math.round((read / (input + read + written)) * blocks);
}

function edited(before: readonly string[], { edited: at, appended }: Step, fresh: () => string): string[] {
  const kept = at === null || before.length === 0 ? before : before.with(at % before.length, fresh());
  const length = before.length === 0 ? Math.max(1, appended) : appended;
  return [...kept, ...Array.from({ length }, fresh)];
}

/** The end always bears one, as with every client. */
function marksOf({ marks, isLong }: Step, texts: readonly string[]) {
  const positions = [...new Set([...marks.map((mark) => mark % texts.length), texts.length - 1])];
  const lifetimeMs = isLong
    ? must(prices.longCache, "it has a longer one").lifetimeMs
    : prices.cache.lifetimeMs;
  return positions.map((position) => ({ position, tokens: (position + 1) * tokensEach, lifetimeMs }));
}

function block(text: string, ttl: string, isMarked: boolean) {
  return { type: "text", text, ...(isMarked ? { cache_control: { type: "ephemeral", ttl } } : {}) };
}
