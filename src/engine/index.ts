export { changes, ruleChanges } from "./actor-changes.ts";
export type { ChangeContext, Proposal } from "./change-facts.ts";
export { reduce, replayFrames } from "./reduce.ts";
export { nextStepId } from "./reduce-step.ts";
export { areIdsFree } from "./reduce-stream.ts";
export { stateFromPages, stateToPagesInSlices } from "./snapshot.ts";
export {
  emptyState,
  type ReservedRange,
  type SentTurn,
  type SentUnit,
  type State,
  type Step,
  type Stream,
  type View,
} from "./state.ts";
export { mayReverse, reverse } from "./undo.ts";
