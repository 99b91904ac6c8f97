import { TokenCounter } from "../tokens/index.ts";
import { alignAt, repeatedUnits } from "./align-request.ts";
import { matchRules } from "./align-stream.ts";
import type { AllWishes } from "./all-wishes.ts";
import { NumberDraft } from "./block-numbers.ts";
import { openCalls, resultUnits } from "./command-calls.ts";
import { lineResults, lineResultsMessage } from "./command-lines.ts";
import { headOfRoot, type LedgerStream } from "./ledger-stream.ts";
import type { NodeIndex } from "./node.ts";
import { numberUnits } from "./numbering.ts";
import { lastSentOf, type PlanResult, sendPlan } from "./plan.ts";
import type { LedgerRequest, SentPath } from "./plan-request.ts";
import { contextEditAfter, needsContextEdit } from "./provider-clearing.ts";
import { withFields } from "./request-head.ts";

/** A request that continues an answer: the path of the request that was answered, and the answer's end. */
export type RoundRequest = LedgerRequest & {
  readonly path: SentPath;
  /** The last node of the answer. */
  readonly end: NodeIndex;
};

/**
 * Continues an answer that called only our tools: sends the answer as it came, and the results. Null if that
 * is not possible any more.
 */
export function planRound(
  stream: LedgerStream,
  { path, end: endIndex, ...request }: RoundRequest,
  { latest, withheld }: AllWishes,
): PlanResult | null {
  const { wire, context } = request;
  const { tree, nonce, notes } = stream;
  const known = headOfRoot(stream, path.root);
  const end = tree.nodes.get(endIndex);
  if (known === null || end === undefined) return null;
  const head = withFields(known, wire);
  const rules = matchRules(stream, head, { wire, style: context.style, withheld });
  const alignment = alignAt(end, { request: wire, nodes: path.nodes }, rules);
  const repeated = repeatedUnits(alignment);
  const calls = resultUnits(openCalls(tree, end, context.results));
  const lineText = lineResults(end, { tree, head, nonce, results: context.results });
  const lines = lineText === null ? [] : [lineResultsMessage(stream.protocol, lineText)];
  const draft = new NumberDraft(stream.numbers, stream.turn + 1);
  const counter = new TokenCounter(wire.model, latest?.tokenRate ?? 1);
  const units = [...repeated, ...numberUnits([...calls, ...lines], { draft, tree, end, counter })];
  const from = lastSentOf(stream, repeated) ?? end;
  if (needsContextEdit(from, units) && contextEditAfter(tree, from, units) === null) return null;
  const plan = { request, nonce, head, alignment, from, units, droppedTail: null };
  return sendPlan(stream, plan, { rewrite: null, numbers: draft.done(), notes, shown: [] });
}
