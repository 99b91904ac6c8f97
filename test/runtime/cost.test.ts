import { describe, expect, it } from "vitest";
import { createSpace, type Space, scriptedProvider } from "../../src/runtime/index.ts";
import { agentOf } from "./strict-provider.ts";

/** A window that holds everything, so that there is something to render. */
const whole = { frames: 100_000, step: 1_000 };

async function spaceWith(frames: number): Promise<Space> {
  const space = await createSpace();
  const stream = space.stream("talk");
  for (let frame = 0; frame < frames; frame += 1) {
    await stream.say("bob", `Line ${frame}: the harbour, the tide and the keys of the lock.`);
  }
  return space;
}

/** CPU milliseconds of this process: other programs do not count. */
async function cpuMs(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The fastest of several attempts: slower ones were disturbed. */
async function best(times: number, act: (time: number) => Promise<number>): Promise<number> {
  const all: number[] = [];
  for (let time = 0; time < times; time += 1) all.push(await act(time));
  return Math.min(...all);
}

type PreviewCosts = { readonly first: number; readonly second: number };

let agents = 0;

/** The cost of a first and a second preview, each by an agent that has never been in the stream. */
async function previewCosts(space: Space, budgetTokens: number): Promise<PreviewCosts> {
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
    const cost = await cpuMs(() => space.preview(name, "talk"));
    second = Math.min(second, await cpuMs(() => space.preview(name, "talk")));
    return cost;
  });
  return { first, second };
}

const growthMax = 6;
const roundsMax = 5;

/**
 * Other tests in the same process are counted too, so while the growth seems too large, it is measured again.
 */
async function previewCostsAt(small: Space, large: Space): Promise<readonly [PreviewCosts, PreviewCosts]> {
  const least = (a: PreviewCosts, b: PreviewCosts): PreviewCosts => ({
    first: Math.min(a.first, b.first),
    second: Math.min(a.second, b.second),
  });
  let [few, many] = [await previewCosts(small, 10_000_000), await previewCosts(large, 10_000_000)];
  for (let round = 1; round < roundsMax && many.first / few.first > growthMax; round += 1) {
    few = least(few, await previewCosts(small, 10_000_000));
    many = least(many, await previewCosts(large, 10_000_000));
  }
  return [few, many];
}

/** The cost of ten turnCosts in each space, measured alternately, so that disturbances hit both. */
async function turnCosts(spaces: readonly [Space, Space]): Promise<readonly [number, number]> {
  for (const space of spaces) {
    space.add(agentOf(scriptedProvider(() => "Yes.")));
    for (let warm = 0; warm < 5; warm += 1) await space.stream("talk").activate("ada");
  }
  const costs: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let time = 0; time < 8; time += 1) {
    for (const at of [0, 1] as const)
      costs[at] = Math.min(costs[at], await cpuMs(() => tenTurns(spaces[at])));
  }
  return costs;
}

async function tenTurns(space: Space): Promise<void> {
  const stream = space.stream("talk");
  for (let count = 0; count < 10; count += 1) {
    await stream.say("bob", `Turn ${count}?`);
    await stream.activate("ada");
  }
}

describe("the cost of rendering", () => {
  it("grows no faster than the prompt; a second preview is cheap; a turn does not depend on the history", async () => {
    const [small, large] = [await spaceWith(1_000), await spaceWith(5_000)];
    await previewCosts(await spaceWith(200), 10_000_000);
    const [few, many] = await previewCostsAt(small, large);
    const [early, late] = await turnCosts([small, large]);
    console.log(
      `first look at 5,000 frames / at 1,000: ${(many.first / few.first).toFixed(2)}; ` +
        `second / first: ${(many.second / many.first).toFixed(3)}; ` +
        `ten turnCosts after 5,000 frames / after 1,000: ${(late / early).toFixed(2)}`,
    );
    expect(many.first / few.first).toBeLessThanOrEqual(growthMax);
    expect(many.second / many.first).toBeLessThanOrEqual(0.2);
    expect(late / early).toBeLessThanOrEqual(1.5);
    await Promise.all([small, large].map((space) => space.close()));
  }, 120_000);
});
