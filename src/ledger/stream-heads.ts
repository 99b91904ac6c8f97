import type { WireRequest } from "../protocols/index.ts";
import { alignRequest, type BaseMatchRules } from "./align-request.ts";
import type { NumberingDeps } from "./answer-nodes.ts";
import { type LedgerNode, sentPosition } from "./node.ts";
import {
  matchesHead,
  noOwnHead,
  type OwnHead,
  openHead,
  ownHeadFor,
  type RequestHead,
} from "./request-head.ts";
import type { RenderInput } from "./request-plan.ts";

/** A client may return to an earlier head, and several agents may share a stream. */
const headsMax = 16;

export type HeadDeps = {
  /** Our part of a head that is opened for a managed request. */
  readonly ownHead: OwnHead;
  /** The last request and its head. */
  readonly current: { readonly request: WireRequest; readonly head: RequestHead } | null;
  readonly rulesFor: (head: RequestHead) => BaseMatchRules;
};

/** The heads of a stream, the last used one at the end. */
export class StreamHeads {
  #heads: readonly RequestHead[] = [];

  get all(): readonly RequestHead[] {
    return this.#heads;
  }

  findById(id: string): RequestHead | null {
    return this.#heads.find(({ root }) => sentPosition(root).id === id) ?? null;
  }

  findByRoot(root: LedgerNode): RequestHead | null {
    return this.#heads.find((head) => head.root === root) ?? null;
  }

  markUsed(head: RequestHead): void {
    const others = this.#heads.filter((other) => other !== head);
    this.#heads = [...others.slice(1 - headsMax), head];
  }

  /** Finds or opens the head of a request. A known head stays as it is, whatever the settings are now. */
  headFor(input: RenderInput, deps: HeadDeps, numbering: NumberingDeps): RequestHead {
    const known = this.#findMatching(input, deps);
    if (known !== null) {
      this.markUsed(known);
      return known;
    }
    const { request, style } = input;
    const isWithoutOwn = style === "plain" || this.#isJoinedLate(request);
    const ownHead = isWithoutOwn ? noOwnHead : ownHeadFor(request, deps.ownHead);
    const head = openHead({ request, ownHead, ...numbering });
    // Only a turn keeps its head: the numbers of any other request are given to other blocks.
    if (input.purpose === "turn") this.markUsed(head);
    return head;
  }

  /** Nothing before an answer of the model may change, so late instructions come last instead. */
  #isJoinedLate({ messages }: WireRequest): boolean {
    return this.#heads.length === 0 && messages.some(({ role }) => role === "assistant");
  }

  #findMatching({ request, style }: RenderInput, { current, rulesFor }: HeadDeps): RequestHead | null {
    const isAllowed = ({ instructions }: RequestHead): boolean =>
      style === "managed" || instructions === null;
    const hasSameUnits = ({ tools, system }: WireRequest): boolean =>
      request.tools.units === tools.units && request.system.units === system.units;
    const matching = this.#heads.filter((head) => {
      const isCurrent = head === current?.head && hasSameUnits(current.request);
      return isAllowed(head) && (isCurrent || matchesHead(head, request));
    });
    return matching.length > 1 ? pickBestHead(matching, request, rulesFor) : (matching[0] ?? null);
  }
}

/** Picks the head below which most of a request matches: it may have been sent with and without our units. */
function pickBestHead(
  heads: readonly RequestHead[],
  request: WireRequest,
  rulesFor: (head: RequestHead) => BaseMatchRules,
): RequestHead | null {
  const scored = heads.map((head) => {
    const { steps } = alignRequest(head.root, request, { before: null, rules: rulesFor(head) }).match;
    const leftOut = steps.filter(({ as }) => as === "left-out").length;
    // The length of the match counts first, then how many of its units are really sent.
    return { head, score: steps.length - leftOut / (steps.length + 1) };
  });
  const most = Math.max(...scored.map(({ score }) => score));
  const best = scored.filter(({ score }) => score === most).map(({ head }) => head);
  // Among equals a head with our instructions wins: a conversation leaves it only for a plain request.
  return best.find(({ instructions }) => instructions !== null) ?? best.at(-1) ?? null;
}
