import { must } from "../base/index.ts";
import type { SentRequest, SentRequestUnit } from "../exchange/index.ts";
import type { WireRequest } from "../protocols/index.ts";
import type { NoteContext } from "./add-notes.ts";
import { type aliasedUnits, matchedNodes, type RequestAlignment } from "./align-request.ts";
import type { ArrivalMode } from "./arrivals.ts";
import type { RewriteCandidate } from "./choose-rewrite.ts";
import type { ResultLookup } from "./command-calls.ts";
import type { LevelWishes } from "./level-wishes.ts";
import type { LedgerNode } from "./node.ts";
import type { PlannedUnit } from "./planned-units.ts";
import type { RequestHead } from "./request-head.ts";
import type { PathRewrite, RewriteChoice } from "./rewrite-path.ts";

/** The purpose of a request. Only a turn changes the ledger; a count is written like the next turn. */
export type RenderPurpose = "turn" | "count" | "aside";

export type RenderInput = {
  readonly request: WireRequest;
  readonly purpose: RenderPurpose;
  /** Managed: with our units. Plain: without them, and without reasoning that was produced after them. */
  readonly style: "managed" | "plain";
  /** Whether self-clearing messages may be used. */
  readonly mayClear: boolean;
  /** Whether the provider may be asked to leave results out. */
  readonly mayEdit: boolean;
  /** Whether nothing of the prefix is cached any more, so that it may change at no cost. */
  readonly isCold: boolean;
  /** Whether all units on the path are reported, because the log may have lost earlier reports. */
  readonly isFullReport: boolean;
  readonly noteContext: NoteContext;
  /** The levels that blocks are to have from the next rewrite on. */
  readonly wishes: LevelWishes;
  /** Decides whether this request is a rewrite. Null if not. */
  readonly chooseRewrite: (candidate: RewriteCandidate) => RewriteChoice | null;
  /** How new tool results are shown. */
  readonly arrival: ArrivalMode;
  /** Finds the results of calls of our tools. */
  readonly findResult: ResultLookup;
  /** A limit for the answer below the client's own. */
  readonly answerTokensMax?: number;
};

/** The head of a sent request, and one node for each unit of the client's messages. */
export type SentPath = { readonly head: RequestHead; readonly nodes: readonly LedgerNode[] };

export type RenderResult = {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
  readonly hasSelfClearing: boolean;
  /** The number of results the provider is asked to leave out. Null if it is not asked. */
  readonly clearedResults: number | null;
  readonly report: Omit<
    SentRequest,
    "rendering" | "streamKey" | "generatedName" | "wishesSeq" | "body" | "length" | "isRound"
  >;
  /** Whether the new units contain a header. */
  readonly hasHeader: boolean;
  /** The estimated number of tokens that a rewrite removed from the prompt. */
  readonly freedTokens: number;
  /** The node below which the answer will be added. */
  readonly leaf: LedgerNode;
  readonly path: SentPath;
};

/** A planned request before it is written. */
export type RequestPlan = {
  readonly input: RenderInput;
  readonly head: RequestHead;
  readonly alignment: RequestAlignment;
  /** The last node that was sent before. */
  readonly from: LedgerNode;
  /** The units to be sent after it. */
  readonly units: readonly PlannedUnit[];
  readonly droppedTail: string | null;
};

/** The path of an answered request, and the last node of its answer. */
export type AnswerEnd = { readonly path: SentPath; readonly end: LedgerNode };

/** A request that the client sends again, with the leaf at which it ended before. */
export type RepeatedRequest = {
  readonly head: RequestHead;
  readonly alignment: RequestAlignment;
  readonly leaf: LedgerNode;
};

/** A plan after it was written. */
export type SentPlan = {
  readonly leaf: LedgerNode;
  readonly nodes: readonly LedgerNode[];
  readonly fresh: readonly SentRequestUnit[];
  readonly epoch: SentRequest["epoch"];
  readonly aliases: ReturnType<typeof aliasedUnits>;
};

/** A request before the decision about a rewrite. */
export type RenderDraft = Pick<NotePosition, "head" | "repeated"> & {
  readonly alignment: RequestAlignment;
  /** The new units. Null if the client sends the request again. */
  readonly fresh: readonly PlannedUnit[] | null;
  /** All units after those that were sent before. */
  readonly units: readonly PlannedUnit[];
};

/** The position of our notes in a request. */
export type NotePosition = {
  readonly head: RequestHead;
  /** The last node that the request matches. */
  readonly node: LedgerNode;
  /** The units of the answer that the client repeats for the first time. */
  readonly repeated: readonly PlannedUnit[];
  readonly fresh: readonly PlannedUnit[];
  readonly rewrite: PathRewrite | null;
  /** Whether reasoning after the cut is left out. */
  readonly losesReasoning: boolean;
};

/** The present node of each unit of the client's messages. A unit that is left out has the node before it. */
export function nodesAfter(
  alignment: RequestAlignment,
  planned: readonly PlannedUnit[],
  written: readonly LedgerNode[],
): readonly LedgerNode[] {
  const { units, match } = alignment;
  const moved = new Map<LedgerNode, LedgerNode>();
  const byIndex = new Map<number, LedgerNode>();
  for (const [at, { alignedIndex, answerNode, rewriteOf }] of planned.entries()) {
    const node = must(written[at], "every unit has a node");
    const before = rewriteOf ?? answerNode;
    if (before !== null && before !== node) moved.set(before, node);
    if (alignedIndex !== null) byIndex.set(alignedIndex, node);
  }
  const nodes = matchedNodes(alignment).map((node) => moved.get(node) ?? node);
  for (let at = match.steps.length; at < units.length; at += 1) {
    nodes.push(byIndex.get(at) ?? must(nodes.at(-1) ?? written[0] ?? match.node, "something was sent"));
  }
  return nodes;
}
