import type { ParsedRequest } from "../parsed-request.ts";
import { firstProblem, type RequestProblem } from "../request-problem.ts";
import { cacheMarkProblems } from "./cache-rules.ts";
import { editProblems } from "./edit-rules.ts";
import { featureProblems } from "./feature-rules.ts";
import { blankTextProblems, messageOrderProblems, versionProblems } from "./message-rules.ts";
import { pairProblems } from "./pair-rules.ts";
import { midSystemProblems } from "./system-rules.ts";
import { thinkingConfigProblems, thinkingPositionProblems } from "./thinking-rules.ts";
import { toolChoiceProblems, toolProblems } from "./tool-rules.ts";

/** Cheap and general rules come first: their problems explain more than those that follow from them. */
const rules: readonly ((request: ParsedRequest) => Iterable<RequestProblem>)[] = [
  featureProblems,
  editProblems,
  thinkingConfigProblems,
  toolProblems,
  toolChoiceProblems,
  messageOrderProblems,
  midSystemProblems,
  blankTextProblems,
  pairProblems,
  thinkingPositionProblems,
  cacheMarkProblems,
  versionProblems,
];

export function firstBrokenRule(request: ParsedRequest): RequestProblem | null {
  for (const rule of rules) {
    const problem = firstProblem(rule(request));
    if (problem !== null) return problem;
  }
  return null;
}
