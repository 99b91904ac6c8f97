import { type AnswerUnit, protocolOf } from "../protocols/index.ts";
import type { TokenCounter } from "../tokens/index.ts";
import type { NumberDraft } from "./block-numbers.ts";
import { answerFacts, type CommandOffer } from "./command-lines.ts";
import { countKeyOnPath, forgetOldAnswers, type LedgerNode, newNode, shownWhole } from "./node.ts";

/** Bounds the answers to one request that the client has not repeated: as many as may run in parallel. */
const unsentAnswersMax = 256;

/** Gives blocks their numbers and sizes. */
export type NumberingDeps = { readonly draft: NumberDraft; readonly counter: TokenCounter };

type AnswerOptions = NumberingDeps & { readonly commandOffer: CommandOffer };

/** Adds an answer below the leaf of its request, and numbers its blocks. */
export function addAnswerNodes(
  leaf: LedgerNode,
  units: readonly AnswerUnit[],
  options: AnswerOptions,
): readonly LedgerNode[] {
  const nodes: LedgerNode[] = [];
  for (const [at, answerUnit] of units.entries()) {
    const parent = nodes.at(-1) ?? leaf;
    const { hash } = answerUnit.unit;
    const known = parent.children.find(({ facts, origin }) => origin === "model" && facts.hash === hash);
    nodes.push(known ?? addAnswerNode(parent, answerUnit, { ...options, opensMessage: at === 0 }));
  }
  options.draft.commit();
  return nodes;
}

function addAnswerNode(
  parent: LedgerNode,
  { unit, bytes }: AnswerUnit,
  { draft, counter, commandOffer, opensMessage }: AnswerOptions & { readonly opensMessage: boolean },
): LedgerNode {
  const { key, kind } = unit;
  const tokens = counter.count({ bytes, kind });
  const numbered = draft.numberBlock({ key, kind, tokens }, () => countKeyOnPath(parent, key));
  const node = newNode(parent, {
    facts: answerFacts(unit, bytes, commandOffer),
    origin: "model",
    wrapping: protocolOf(unit).write.message("assistant"),
    opensMessage,
    extra: opensMessage ? "" : null,
    numbered,
    isRewritten: false,
    isForeignReasoning: false,
    original: null,
    firstForm: null,
    shown: shownWhole,
    isHeader: false,
  });
  node.answerBytes = bytes;
  parent.children.push(node);
  forgetOldAnswers(parent, unsentAnswersMax);
  return node;
}
