import { firstOf, type Problem } from "./problem.ts";
import type { ParsedRequest } from "./request.ts";
import { cacheMarkProblems } from "./rules-cache.ts";
import { editProblems } from "./rules-edits.ts";
import { featureProblems } from "./rules-features.ts";
import { blankTextProblems, messageOrderProblems, versionProblems } from "./rules-messages.ts";
import { pairProblems } from "./rules-pairs.ts";
import { midSystemProblems } from "./rules-system.ts";
import { thinkingConfigProblems, thinkingPlaceProblems } from "./rules-thinking.ts";
import { toolChoiceProblems, toolProblems } from "./rules-tools.ts";

/** Cheap and general rules first: they explain more than what follows from them. */
const rules: readonly ((request: ParsedRequest) => Iterable<Problem>)[] = [
  featureProblems,
  editProblems,
  thinkingConfigProblems,
  toolProblems,
  toolChoiceProblems,
  messageOrderProblems,
  midSystemProblems,
  blankTextProblems,
  pairProblems,
  thinkingPlaceProblems,
  cacheMarkProblems,
  versionProblems,
];

export function ruleBroken(request: ParsedRequest): Problem | null {
  for (const rule of rules) {
    const problem = firstOf(rule(request));
    if (problem !== null) return problem;
  }
  return null;
}
