import { type Action, clientActions, withhold } from "./actions.ts";
import { agedActs } from "./aging-actions.ts";
import { point, tell } from "./user-actions.ts";
import { note, openWorld, type World } from "./world.ts";

export type RunOptions = {
  readonly seed: number;
  readonly steps: number;
  /** Whether a real recorder remembers. */
  readonly isRecorded?: boolean;
  /** Whether nobody switches what the model is told, and it repeats nothing of ours. */
  readonly isPlain?: boolean;
  /** Whether things grow old. */
  readonly isAged?: boolean;
  /** Whether windows are full within a few turns, too. */
  readonly isCrowded?: boolean;
  /** Whether the model calls our tools. */
  readonly hasHands?: boolean;
};

/** How often what happened. */
export type Tally = ReadonlyMap<string, number>;

export function addTallies(total: Map<string, number>, tally: Tally): void {
  for (const [name, count] of tally) total.set(name, (total.get(name) ?? 0) + count);
}

type WeightedAct = { readonly name: string; readonly weight: number; readonly act: Action };

const userActions: readonly WeightedAct[] = [
  { name: "tell", weight: 10, act: tell },
  { name: "point", weight: 8, act: point },
];
export const actionNames: readonly string[] = [...clientActions, ...userActions].map(({ name }) => name);

/** Runs one seed to its end; what goes wrong says where it happened. */
export async function simulate(options: RunOptions): Promise<Tally> {
  const { seed, steps, isRecorded = false, isPlain = false, isAged = false, hasHands = false } = options;
  const { isCrowded = false } = options;
  const world = openWorld(seed, { isRecorded, isPlain, isAged, isCrowded, hasHands });
  // What is withheld here is told to the planner alone: whoever looks it up in the log would still find it.
  const usual = hasHands ? clientActions.filter(({ act }) => act !== withhold) : clientActions;
  const choices = isPlain ? clientActions : [...usual, ...userActions, ...(isAged ? agedActs : [])];
  for (let step = 1; step <= steps; step += 1) {
    const { name, run } = chooseAct(world, choices);
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

type Chosen = { readonly name: string; readonly run: () => Promise<boolean> };

function chooseAct(world: World, choices: readonly WeightedAct[]): Chosen {
  const { random, conversations } = world;
  const conversation = random.pick(conversations);
  let left = random.below(choices.reduce((sum, { weight }) => sum + weight, 0));
  const chosen = choices.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  const { name, act } = chosen ?? { name: "none", act: () => Promise.resolve(false) };
  return { name, run: () => act(world, conversation) };
}
