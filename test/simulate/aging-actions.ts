import { type Action, goOn } from "./actions.ts";
import { RecorderRecords } from "./recorder-records.ts";
import { note } from "./world.ts";

/** Several turns one after the other: what is not used meanwhile grows stale. */
const runOn: Action = async (world, conversation) => {
  let turns = 0;
  for (let left = 3 + world.random.below(8); left > 0; left -= 1)
    if (await goOn(world, conversation)) turns += 1;
  return turns > 0;
};

/** The conversation rests until nothing of it is cached any more, and goes on. */
const restLong: Action = async (world, conversation) => {
  world.clock.advance(2 * 60 * 60_000);
  return await goOn(world, conversation);
};

/** The user takes back something that policy has done. */
const undo: Action = async (world, conversation) => {
  if (conversation.line === null || conversation.isDirect || !(world.records instanceof RecorderRecords))
    return false;
  if (!(await world.records.undo(conversation.line, world.random))) return false;
  if (world.random.below(2) === 0) world.clock.advance(2 * 60 * 60_000);
  note(world, "undone");
  return await goOn(world, conversation);
};

export const agedActs: readonly { readonly name: string; readonly weight: number; readonly act: Action }[] = [
  { name: "run on", weight: 40, act: runOn },
  { name: "rest long", weight: 12, act: restLong },
  { name: "undo", weight: 12, act: undo },
];
