import type { CommandResult, Purpose, SentRequest } from "../exchange/index.ts";
import type { ModelPrices } from "../policy/index.ts";
import type { WireRequest } from "../protocols/index.ts";
import type { AppendList } from "./append-list.ts";
import type { ArrivalMode } from "./arrivals.ts";
import type { Awareness } from "./awareness-settings.ts";
import type { CommandOffer } from "./command-lines.ts";
import type { NodeIndex } from "./node.ts";

/** A request of the client as the ledger plans it. */
export type LedgerRequest = {
  readonly wire: WireRequest;
  /** Only a turn is added to the ledger. A count is written like the next turn, any other without notes. */
  readonly purpose: Purpose;
  readonly context: PlanContext;
};

/** The planner adds these to a request: the time, the settings, and the limits of the provider. */
export type PlanContext = {
  /** Managed: with our units. Plain: without them, and without reasoning that was produced after them. */
  readonly style: "managed" | "plain";
  readonly timeMs: number;
  readonly awareness: Awareness;
  /** How new tool results are shown. */
  readonly arrival: ArrivalMode;
  readonly prices: ModelPrices;
  /** Tokens in the model's window. Null if unknown. */
  readonly window: number | null;
  /** Why nothing of the prefix is cached any more, so that it may change at no cost. Null if it is. */
  readonly coldReason: "cold" | "model" | null;
  /** Whether self-clearing messages may be used. */
  readonly mayClear: boolean;
  /** Whether a tail stays where it was sent, even if the model accepts a request without it. */
  readonly keepsTail?: boolean;
  /** Whether the provider may be asked to leave results out. */
  readonly mayEdit: boolean;
  /** Whether all units on the path are reported, because the log may have lost earlier reports. */
  readonly isFullReport: boolean;
  /** The results of commands by the key of their call. */
  readonly results: ReadonlyMap<string, CommandResult>;
  /** A limit for the answer below the client's own. */
  readonly answerTokensMax?: number;
};

/** The root of a sent request, and one node for each unit of the client's messages. */
export type SentPath = { readonly root: NodeIndex; readonly nodes: AppendList<NodeIndex> };

/** The body that is sent for a request, and the report of it for the log. */
export type Plan = {
  /** The whole body, in order. These bytes never change. */
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
  readonly hasSelfClearing: boolean;
  /** The number of results the provider is asked to leave out. Null if it is not asked. */
  readonly clearedResults: number | null;
  readonly report: Omit<
    SentRequest,
    "rendering" | "streamKey" | "generatedName" | "wishesSeq" | "body" | "length" | "isRound"
  >;
  /** The node below which the answer will be added. */
  readonly leaf: NodeIndex;
  readonly path: SentPath;
  /** The ways to command that the model has. */
  readonly commandOffer: CommandOffer;
};
