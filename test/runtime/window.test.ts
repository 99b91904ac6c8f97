import { describe, expect, it } from "vitest";
import { createSpace, scriptedProvider } from "../../src/runtime/index.ts";
import { say } from "../../src/testing/index.ts";
import { agentOf, promptText, promptUnits, strictProvider } from "./strict-provider.ts";

/** A conversation of so many turns, each a few lines long. */
async function converse(turns: number, window = { frames: 50, step: 25 }) {
  const line = "We spoke about the harbour, the tide tables and who keeps the keys of the lock. ";
  const provider = strictProvider((_, n) => say(`Answer ${n}. ${line.repeat(3)}`));
  const space = await createSpace({ agents: [agentOf(provider, { window })] });
  const stream = space.stream("talk");
  for (let turn = 0; turn < turns; turn += 1) {
    await stream.say("bob", `Question ${turn}? ${line.repeat(2)}`);
    await stream.activate("ada");
  }
  await space.close();
  return provider;
}

function cachedShare(usages: readonly { input: number; cacheRead: number; cacheWrite: number }[]): number {
  const prompt = usages.reduce(
    (sum, { input, cacheRead, cacheWrite }) => sum + input + cacheRead + cacheWrite,
    0,
  );
  return usages.reduce((sum, { cacheRead }) => sum + cacheRead, 0) / prompt;
}

describe("the rolling window", () => {
  it("within a step every prompt begins with the whole previous prompt, byte for byte", async () => {
    const { exchanges, refusals } = await converse(120);
    expect(refusals).toEqual([]);
    const prompts = exchanges.map(({ request }) => promptUnits(request));
    const breaks = prompts.filter((units, at) => {
      const before = prompts[at - 1] ?? [];
      return before.some((unit, index) => units[index] !== unit);
    });
    // A turn is two frames: a question and an answer. A step of 25 frames comes after every 12 or 13 turns.
    expect(breaks.length).toBeGreaterThan(5);
    expect(breaks.length).toBeLessThanOrEqual(Math.ceil((120 * 2) / 25));
  });

  it("never shows more frames than it holds, and says what it does not show", async () => {
    const { exchanges } = await converse(60);
    for (const { request } of exchanges) {
      const shown = promptText(request).match(/Question \d+\?|Answer \d+\./g) ?? [];
      expect(shown.length).toBeLessThanOrEqual(50);
    }
    expect(promptText(exchanges.at(-1)?.request ?? expect.fail())).toMatch(
      /earlier: everything up to message \d+ #\d+/,
    );
  });

  it("keeps nine tenths of a long conversation in the provider's cache; a sliding window less than six tenths", async () => {
    const { exchanges, refusals } = await converse(500);
    const sliding = await converse(150, { frames: 50, step: 1 });
    expect(refusals).toEqual([]);
    const [stepped, slid] = [exchanges, sliding.exchanges].map((all) =>
      cachedShare(all.map(({ usage }) => usage)),
    );
    console.log(`cached share over 500 turns: stepped ${stepped?.toFixed(3)}, sliding ${slid?.toFixed(3)}`);
    expect(stepped).toBeGreaterThanOrEqual(0.9);
    expect(slid).toBeLessThan(0.6);
  }, 120_000);

  it("keeps to its budget of tokens: old frames leave first, then the last message is shortened", async () => {
    const provider = scriptedProvider(() => "Good.");
    const agent = agentOf(provider, { budgetTokens: 4_000, memory: false });
    const space = await createSpace({ agents: [agent] });
    const stream = space.stream("talk");
    const long = "The tide table of the harbour lists every height of the year. ".repeat(40);
    for (let turn = 0; turn < 12; turn += 1) {
      await stream.say("bob", `Part ${turn}: ${long}`);
      const { totalTokens } = await space.preview("ada", "talk");
      expect(totalTokens).toBeLessThanOrEqual(4_000);
      await stream.activate("ada");
    }
    expect(promptText(provider.requests.at(-1) ?? expect.fail())).toContain("Part 11:");
    expect(promptText(provider.requests.at(-1) ?? expect.fail())).not.toContain("Part 0:");
    await stream.say("bob", `Too much: ${"x1 y2 z3 ".repeat(20_000)}`);
    expect((await space.preview("ada", "talk")).totalTokens).toBeLessThanOrEqual(4_000);
    await stream.activate("ada");
    expect(promptText(provider.requests.at(-1) ?? expect.fail())).toMatch(
      /#\d+ (?:trimmed|summarized|user .*pruned \(there is no room)/,
    );
    await space.close();
  }, 60_000);

  it("sends nothing and adds a notice if even the shortest form does not fit", async () => {
    const provider = scriptedProvider(() => "Good.");
    const system = "Everything about the harbour. ".repeat(2_000);
    const space = await createSpace({ agents: [agentOf(provider, { budgetTokens: 2_000, system })] });
    const notices: string[] = [];
    space.on("notice", ({ text }) => notices.push(text));
    await space.stream("talk").say("bob", "Hello?");
    await space.stream("talk").activate("ada");
    expect(notices).toEqual([
      expect.stringMatching(/ada could not answer: The prompt needs \d+ tokens, but the budget is 2000/),
    ]);
    expect(provider.requests).toEqual([]);
    await space.close();
  }, 60_000);
});
