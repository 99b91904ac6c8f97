import { type AnswerUnit, protocolOf } from "../protocols/index.ts";
import type { TokenCounter } from "../tokens/index.ts";
import type { NumberDraft } from "./block-numbers.ts";
import { answerFacts, type CommandOffer } from "./command-lines.ts";
import { type LedgerTree, TreeDraft } from "./ledger-tree.ts";
import { type LedgerNode, shownWhole } from "./node.ts";

/** Bounds the answers to one request that the client has not repeated: as many as may run in parallel. */
const unsentAnswersMax = 256;

/** Gives blocks their numbers and sizes. */
export type NumberingDeps = { readonly draft: NumberDraft; readonly counter: TokenCounter };

type AnswerOptions = NumberingDeps & { readonly commandOffer: CommandOffer };

/** Adds an answer below the leaf of its request, and numbers its blocks. */
export function addAnswerNodes(
  tree: LedgerTree,
  leaf: LedgerNode,
  { units, ...options }: AnswerOptions & { readonly units: readonly AnswerUnit[] },
): { readonly tree: LedgerTree; readonly nodes: readonly LedgerNode[] } {
  const nodes: LedgerNode[] = [];
  const added = new TreeDraft(tree);
  for (const [at, answerUnit] of units.entries()) {
    const parent = nodes.at(-1) ?? leaf;
    const { hash } = answerUnit.unit;
    const known = added
      .childrenOf(parent)
      .find(({ facts, origin }) => origin === "model" && facts.hash === hash);
    nodes.push(known ?? addAnswerNode(added, parent, { ...options, answerUnit, isFirst: at === 0 }));
  }
  return { tree: added.done(), nodes };
}

type NewAnswerUnit = AnswerOptions & {
  readonly answerUnit: AnswerUnit;
  readonly isFirst: boolean;
};

function addAnswerNode(
  added: TreeDraft,
  parent: LedgerNode,
  { draft, counter, commandOffer, answerUnit: { unit, bytes }, isFirst }: NewAnswerUnit,
): LedgerNode {
  const { key, kind } = unit;
  const tokens = counter.count({ bytes, kind });
  const nth = draft.hasKey(key) ? added.countKeyOnPath(parent, key) : null;
  const node: LedgerNode = {
    ...added.nodeBelow(parent, {
      facts: answerFacts(unit, bytes, commandOffer),
      origin: "model",
      wrapping: protocolOf(unit).write.message("assistant"),
      opensMessage: isFirst,
      extra: isFirst ? "" : null,
      numbered: draft.numberBlock({ key, kind, tokens }, nth ?? 0),
      isRewritten: false,
      isForeignReasoning: false,
      original: null,
      firstForm: null,
      shown: shownWhole,
      isHeader: false,
      keyCount: nth === null ? null : nth + 1,
    }),
    answerBytes: bytes,
  };
  added.add(node);
  forgetOldAnswers(added, parent);
  return node;
}

/** Keeps only the newest answers below a node that were never sent. */
function forgetOldAnswers(added: TreeDraft, parent: LedgerNode): void {
  const unsent = added.childrenOf(parent).filter(({ sent }) => sent === null);
  for (const old of unsent.slice(0, Math.max(0, unsent.length - unsentAnswersMax))) added.drop(old);
}
