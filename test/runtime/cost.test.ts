import { describe, expect, it } from "vitest";
import { createSpace, type Space, scriptedProvider } from "../../src/runtime/index.ts";
import { countReads } from "../support/count-reads.ts";
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

type PreviewReads = { readonly first: number; readonly second: number };

/** The reads of a first and a second preview by an agent that has never been in the stream. */
async function previewReads(space: Space): Promise<PreviewReads> {
  const options = { name: "looker", window: whole, budgetTokens: 10_000_000 };
  space.add(
    agentOf(
      scriptedProvider(() => "Yes."),
      options,
    ),
  );
  const preview = () => space.preview("looker", "talk");
  return { first: await countReads(preview), second: await countReads(preview) };
}

/** The reads of ten turns, after the agent has been in the stream for some. */
async function turnReads(space: Space): Promise<number> {
  space.add(agentOf(scriptedProvider(() => "Yes.")));
  for (let warm = 0; warm < 5; warm += 1) await space.stream("talk").activate("ada");
  return await countReads(() => tenTurns(space));
}

async function tenTurns(space: Space): Promise<void> {
  const stream = space.stream("talk");
  for (let count = 0; count < 10; count += 1) {
    await stream.say("bob", `Turn ${count}?`);
    await stream.activate("ada");
  }
}

describe("the work of rendering", () => {
  it("grows no faster than the prompt; a second preview is cheap; a turn does not depend on the history", async () => {
    const [small, large] = [await spaceWith(400), await spaceWith(2_000)];
    const [few, many] = [await previewReads(small), await previewReads(large)];
    const [early, late] = [await turnReads(small), await turnReads(large)];
    console.log(`reads: ${JSON.stringify({ few, many, early, late })}`);
    expect(few.first).toBeGreaterThan(400);
    expect(many.first / few.first).toBeLessThanOrEqual(6);
    expect(many.second / many.first).toBeLessThanOrEqual(0.2);
    expect(late / early).toBeLessThanOrEqual(1.5);
    await Promise.all([small, large].map((space) => space.close()));
  });
});
