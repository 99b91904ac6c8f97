import { describe, expect, it } from "vitest";
import { createSpace, type Space, scriptedProvider } from "../../src/runtime/index.ts";
import { agentOf } from "../support/runtime.ts";

/** A window that holds everything, so that there is something to render. */
const whole = { frames: 100_000, step: 1_000 };

async function spaceWith(frames: number): Promise<Space> {
  const space = await createSpace();
  const talk = space.stream("talk");
  for (let frame = 0; frame < frames; frame += 1) {
    await talk.say("bob", `Line ${frame}: the harbour, the tide and the keys of the lock.`);
  }
  return space;
}

/** Milliseconds of work, by the processor's clock: other programs do not count. */
async function worked(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The best of a few: what is slower was disturbed. */
async function best(times: number, act: (time: number) => Promise<number>): Promise<number> {
  const all: number[] = [];
  for (let time = 0; time < times; time += 1) all.push(await act(time));
  return Math.min(...all);
}

type Looks = { readonly first: number; readonly second: number };

let agents = 0;

/** What a first look and a second one cost, each time by an agent that has never looked. */
async function looks(space: Space, budgetTokens: number): Promise<Looks> {
  let second = Number.POSITIVE_INFINITY;
  const first = await best(6, async () => {
    agents += 1;
    const name = `agent-${agents}`;
    space.add(
      agentOf(
        scriptedProvider(() => "Yes."),
        { name, window: whole, budgetTokens },
      ),
    );
    const cost = await worked(() => space.preview(name, "talk"));
    second = Math.min(second, await worked(() => space.preview(name, "talk")));
    return cost;
  });
  return { first, second };
}

const growthMax = 6;
const roundsMax = 5;

/** Other tests work in the same process and are counted too: while it seems too much, more is tried. */
async function looksAt(small: Space, large: Space): Promise<readonly [Looks, Looks]> {
  const least = (a: Looks, b: Looks): Looks => ({
    first: Math.min(a.first, b.first),
    second: Math.min(a.second, b.second),
  });
  let [few, many] = [await looks(small, 10_000_000), await looks(large, 10_000_000)];
  for (let round = 1; round < roundsMax && many.first / few.first > growthMax; round += 1) {
    few = least(few, await looks(small, 10_000_000));
    many = least(many, await looks(large, 10_000_000));
  }
  return [few, many];
}

/** What ten turns cost in each space, measured by turns: what disturbs one disturbs the other. */
async function turns(spaces: readonly [Space, Space]): Promise<readonly [number, number]> {
  for (const space of spaces) {
    space.add(agentOf(scriptedProvider(() => "Yes.")));
    for (let warm = 0; warm < 5; warm += 1) await space.stream("talk").activate("ada");
  }
  const costs: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let time = 0; time < 8; time += 1) {
    for (const at of [0, 1] as const)
      costs[at] = Math.min(costs[at], await worked(() => tenTurns(spaces[at])));
  }
  return costs;
}

async function tenTurns(space: Space): Promise<void> {
  const talk = space.stream("talk");
  for (let count = 0; count < 10; count += 1) {
    await talk.say("bob", `Turn ${count}?`);
    await talk.activate("ada");
  }
}

describe("what rendering costs", () => {
  it("grows with what is shown and no faster; the second look is cheap; the next turn does not feel the history", async () => {
    const [small, large] = [await spaceWith(1_000), await spaceWith(5_000)];
    await looks(await spaceWith(200), 10_000_000);
    const [few, many] = await looksAt(small, large);
    const [early, late] = await turns([small, large]);
    console.log(
      `first look at 5,000 frames / at 1,000: ${(many.first / few.first).toFixed(2)}; ` +
        `second / first: ${(many.second / many.first).toFixed(3)}; ` +
        `ten turns after 5,000 frames / after 1,000: ${(late / early).toFixed(2)}`,
    );
    expect(many.first / few.first).toBeLessThanOrEqual(growthMax);
    expect(many.second / many.first).toBeLessThanOrEqual(0.2);
    expect(late / early).toBeLessThanOrEqual(1.5);
    await Promise.all([small, large].map((space) => space.close()));
  }, 120_000);
});
