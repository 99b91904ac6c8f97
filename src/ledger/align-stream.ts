import { isCommandLine } from "../commands/index.ts";
import { isOwnLine } from "../notes/index.ts";
import type { WireRequest } from "../protocols/index.ts";
import { alignRequest, type BaseMatchRules, type RequestAlignment } from "./align-request.ts";
import type { NumberingDeps } from "./answer-nodes.ts";
import { type LedgerStream, withHead } from "./ledger-stream.ts";
import { addRoot, nodeAt } from "./ledger-tree.ts";
import type { LedgerRequest, PlanContext } from "./plan-request.ts";
import {
  headIdOf,
  matchesHead,
  noOwnHead,
  openHead,
  ownHead,
  ownHeadFor,
  type RequestHead,
} from "./request-head.ts";
import type { WithheldContent } from "./withheld.ts";

/** The alignment of a request depends on these and on the stream. */
type AlignInput = {
  readonly wire: WireRequest;
  readonly style: PlanContext["style"];
  readonly withheld: WithheldContent;
};

export function alignInStream(stream: LedgerStream, head: RequestHead, input: AlignInput): RequestAlignment {
  const { wire, style } = input;
  const { current, tree } = stream;
  const isSameModel = current?.request.model === wire.model;
  const isContinued = isSameModel && current.root === head.root && current.style === style;
  const rules = matchRules(stream, head, input);
  return alignRequest(nodeAt(tree, head.root), wire, { before: isContinued ? current : null, rules });
}

export function matchRules(
  { protocol, tree, nonce, isNew }: LedgerStream,
  head: RequestHead,
  { wire, style, withheld }: AlignInput,
): BaseMatchRules {
  const { isBound, hasMidSystem } = protocol.traits.model(wire.model);
  // Reasoning from before our first request has exactly the prefix the client sends, if we add nothing.
  const trustsReasoning = isNew && head.instructions === null;
  return {
    tree,
    bytes: wire.bytes,
    mayPassOwn: style === "managed",
    notesToAvoid: style === "managed" ? null : { withheld, nonce },
    mayPassSystem: hasMidSystem,
    dropsForeignReasoning: isBound && !trustsReasoning,
    trustsReasoning,
    // The client's copy also lacks command lines, but only free-standing ones.
    isOwnLine: (line) => isOwnLine(line, nonce) || isCommandLine(line, nonce),
    model: wire.model,
  };
}

/** The number of units of a request's messages that the ledger has, below any head. */
export function countKnownUnits(stream: LedgerStream, wire: WireRequest): number {
  const known = stream.heads.map((head) => {
    const input = { wire, style: "managed", withheld: new Map() } as const;
    const { keptNodes, steps } = alignInStream(stream, head, input);
    return keptNodes.length + steps.length;
  });
  return Math.max(0, ...known);
}

export type OpenedHead = {
  readonly stream: LedgerStream;
  readonly head: RequestHead;
  /** Whether the stream keeps it. Only a turn keeps a new one: other requests' numbers are given again. */
  readonly isKept: boolean;
};

/** Finds or opens the head of a request. A known head stays as it is, whatever the settings are now. */
export function headFor(
  stream: LedgerStream,
  request: LedgerRequest,
  { withheld, ...numbering }: NumberingDeps & { readonly withheld: WithheldContent },
): OpenedHead {
  const { wire, purpose, context } = request;
  const { style, awareness } = context;
  const known = findHead(stream, { wire, style, withheld });
  if (known !== null) return { stream: withHead(stream, known), head: known, isKept: true };
  const isWithoutOwn = style === "plain" || isJoinedLate(stream, wire);
  const own = ownHead(stream.protocol, stream.nonce, awareness.commands);
  const ours = isWithoutOwn ? noOwnHead : ownHeadFor(wire, own);
  const drafted = openHead({ request: wire, ownHead: ours, ...numbering });
  const { tree, root } = addRoot(stream.tree, headIdOf(drafted));
  const head = { ...drafted, root: root.index };
  const isKept = purpose === "turn";
  return { stream: isKept ? withHead({ ...stream, tree }, head) : { ...stream, tree }, head, isKept };
}

/** Nothing before an answer of the model may change, so late instructions come last instead. */
function isJoinedLate({ heads }: LedgerStream, { messages }: WireRequest): boolean {
  return heads.length === 0 && messages.some(({ role }) => role === "assistant");
}

function findHead(stream: LedgerStream, input: AlignInput): RequestHead | null {
  const { wire, style } = input;
  const { heads, current } = stream;
  const isCurrent = ({ root }: RequestHead): boolean =>
    root === current?.root &&
    wire.tools.units === current.request.tools.units &&
    wire.system.units === current.request.system.units;
  const matching = heads.filter((head) => {
    const isAllowed = style === "managed" || head.instructions === null;
    return isAllowed && (isCurrent(head) || matchesHead(head, wire));
  });
  return matching.length > 1 ? pickBestHead(stream, matching, input) : (matching[0] ?? null);
}

/** Picks the head below which most of a request matches: it may have been sent with and without our units. */
function pickBestHead(
  stream: LedgerStream,
  heads: readonly RequestHead[],
  input: AlignInput,
): RequestHead | null {
  const scored = heads.map((head) => {
    const rules = matchRules(stream, head, input);
    const root = nodeAt(stream.tree, head.root);
    const { steps } = alignRequest(root, input.wire, { before: null, rules });
    const leftOut = steps.filter(({ as }) => as === "left-out").length;
    // The length of the match counts first, then how many of its units are really sent.
    return { head, score: steps.length - leftOut / (steps.length + 1) };
  });
  const most = Math.max(...scored.map(({ score }) => score));
  const best = scored.filter(({ score }) => score === most).map(({ head }) => head);
  // Among equals a head with our instructions wins: a conversation leaves it only for a plain request.
  return best.find(({ instructions }) => instructions !== null) ?? best.at(-1) ?? null;
}
