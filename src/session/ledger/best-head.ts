import type { WireRequest } from "../../protocols/index.ts";
import type { Head } from "./head.ts";
import { type GivenRules, traceRequest } from "./trace.ts";

/** Sent both with and without anything of ours: a request goes on where most of it is known. */
export function bestHead(
  heads: readonly Head[],
  request: WireRequest,
  rulesFor: (head: Head) => GivenRules,
): Head | null {
  const known = heads.map((head) => {
    const { steps } = traceRequest(head.root, request, { before: null, rules: rulesFor(head) }).followed;
    const leftOut = steps.filter(({ as }) => as === "left-out").length;
    // How far it leads counts first, then how much of it is really there.
    return { head, units: steps.length - leftOut / (steps.length + 1) };
  });
  const most = Math.max(...known.map(({ units }) => units));
  const best = known.filter(({ units }) => units === most).map(({ head }) => head);
  // Among equals the one with our instructions in front, which a talk leaves only when it is sent without.
  return best.find(({ instructions }) => instructions !== null) ?? best.at(-1) ?? null;
}
