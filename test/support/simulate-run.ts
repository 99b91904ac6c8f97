import { acts } from "./simulate-acts.ts";
import { note, openWorld, type World } from "./simulate-world.ts";

export type RunOptions = {
  readonly seed: number;
  readonly steps: number;
  /** Whether a real recorder remembers. */
  readonly isRecorded?: boolean;
};

/** How often what happened. */
export type Tally = ReadonlyMap<string, number>;

export function addTallies(total: Map<string, number>, tally: Tally): void {
  for (const [name, count] of tally) total.set(name, (total.get(name) ?? 0) + count);
}

/** Runs one seed to its end; what goes wrong says where it happened. */
export async function simulate({ seed, steps, isRecorded = false }: RunOptions): Promise<Tally> {
  const world = openWorld(seed, isRecorded);
  for (let step = 1; step <= steps; step += 1) {
    const { name, run } = chooseAct(world);
    world.log.push(`${step} ${name}`);
    try {
      if (await run()) note(world, name);
      else world.log.pop();
    } catch (error) {
      const what =
        error instanceof Error ? (error.name === "Error" ? error.message : error.stack) : String(error);
      const log = world.log.slice(-12).join("\n  ");
      throw new Error(`seed ${seed}, step ${step}, act "${name}": ${what}\nsent:\n  ${log}`, {
        cause: error,
      });
    }
  }
  return world.tally;
}

function chooseAct(world: World): { readonly name: string; readonly run: () => Promise<boolean> } {
  const { random, talks } = world;
  const talk = random.pick(talks);
  let left = random.below(acts.reduce((sum, { weight }) => sum + weight, 0));
  const chosen = acts.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  const { name, act } = chosen ?? { name: "none", act: () => Promise.resolve(false) };
  return { name, run: () => act(world, talk) };
}
