import { isTainting } from "../commands/index.ts";
import type { UnitOrigin } from "../engine/frames/index.ts";
import type { AnswerUnit } from "../protocols/index.ts";
import { type LedgerTree, parentOf } from "./ledger-tree.ts";
import { isOwn, type LedgerNode, nodeBytes } from "./node.ts";

/** A unit that the model read before it commanded. */
export type ReadUnit = { readonly kind: string; readonly origin: UnitOrigin; readonly bytes: Uint8Array };

/**
 * The units the model read in this turn: everything after its last answer to the client, in whichever request
 * it came first, and results of the provider's tools inside the answer. Commands and our results do not end a
 * turn, nor does an answer that the model was asked to continue.
 */
export function unitsReadInTurn(
  tree: LedgerTree,
  leaf: LedgerNode,
  units: readonly AnswerUnit[],
): readonly ReadUnit[] {
  const read: ReadUnit[] = units.map(({ unit, bytes }) => ({ kind: unit.kind, origin: "client", bytes }));
  let hasClientUnit = false;
  for (let at: LedgerNode | null = leaf; at !== null; at = parentOf(tree, at)) {
    const isAnswer = at.wrapping.role === "assistant";
    if (isAnswer && hasClientUnit) break;
    hasClientUnit ||= !isAnswer && !isOwn(at);
    if (at.sent !== null) read.push({ kind: at.facts.kind, origin: at.origin, bytes: nodeBytes(at) });
  }
  return read;
}

/** Whether content from outside looks like commands. */
export function isTaintedBy(read: readonly ReadUnit[], nonce: string): boolean {
  return read.some((unit) => isUntrusted(unit) && isTaintingUnit(unit, nonce));
}

/** Whether a unit from outside looks like commands. */
export function isTaintingUnit(unit: Pick<ReadUnit, "origin" | "bytes">, nonce: string): boolean {
  return isTainting(contentOf(unit, nonce), nonce);
}

function isUntrusted({ kind }: ReadUnit): boolean {
  return kind === "tool-result" || kind === "media";
}

/** The text of a unit. In a result of ours, lines with the nonce are our notes; content never has it. */
function contentOf({ bytes, origin }: Pick<ReadUnit, "origin" | "bytes">, nonce: string): string {
  const text = textsIn(parseBytes(bytes)).join("\n");
  if (origin !== "aperture") return text;
  return text
    .split("\n")
    .filter((line) => !line.includes(nonce))
    .join("\n");
}

/** Every text in a value, at any depth: the model reads documents and search results like other text. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function parseBytes(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
