import type { State } from "../../src/engine/index.ts";
import { type StatePages, stateToPagesInSlices } from "../../src/engine/snapshot.ts";

/** All pages of a state at once. */
export function stateToPages(state: State, known: ReadonlySet<string>): StatePages {
  const slices = stateToPagesInSlices(state, known);
  for (let slice = slices.next(); ; slice = slices.next()) if (slice.done) return slice.value;
}
