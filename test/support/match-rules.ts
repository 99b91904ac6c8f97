import type { BaseMatchRules } from "../../src/ledger/align-request.ts";
import type { LedgerTree } from "../../src/ledger/ledger-tree.ts";
import type { WireRequest } from "../../src/protocols/index.ts";

/** Rules for a request in whose stream Aperture has written no line of its own. */
export function plainMatchRules(tree: LedgerTree, request: WireRequest): BaseMatchRules {
  return {
    tree,
    bytes: request.bytes,
    mayPassOwn: true,
    notesToAvoid: null,
    mayPassSystem: true,
    dropsForeignReasoning: false,
    trustsReasoning: false,
    isOwnLine: () => false,
    model: null,
  };
}
