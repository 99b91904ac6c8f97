import type { WireRequest } from "../../protocols/index.ts";
import type { SentReport } from "../desk-port.ts";
import type { ArrivalMode } from "./arrivals.ts";
import type { Choosing, Rewriting } from "./choosing.ts";
import type { Head } from "./head.ts";
import type { ResultOf } from "./own-calls.ts";
import type { Place } from "./place.ts";
import type { Saying } from "./saying.ts";
import type { WantedBlocks } from "./wanted.ts";

/** What a request is for. Only a turn leaves anything behind; a count is spelled like the turn to come. */
export type Purpose = "turn" | "count" | "aside";

export type RenderAsked = {
  readonly request: WireRequest;
  readonly purpose: Purpose;
  /** Managed: with units of ours. Plain: with none, and without reasoning that was made behind some. */
  readonly style: "managed" | "plain";
  /** Whether messages that clear themselves may be used. */
  readonly mayClear: boolean;
  /** Whether the provider may be asked to leave results out. */
  readonly mayEdit: boolean;
  /** Whether the beginning may change at no cost: nothing of it is cached any more. */
  readonly isCold: boolean;
  /** Whether the log may have lost what it was told, so that everything on the path is told again. */
  readonly reportsAll: boolean;
  readonly saying: Saying;
  /** How blocks are to be shown from the next rewrite on. */
  readonly wanted: WantedBlocks;
  /** Whether this request is to be one; null where it is not. */
  readonly choose: (choosing: Choosing) => Rewriting | null;
  /** How new tool results are shown. */
  readonly arrival: ArrivalMode;
  /** What calls of our tools came to. */
  readonly resultOf: ResultOf;
  /** How long the answer may be, where that is less than the client has said. */
  readonly answerMax?: number;
};

/** What a request was made of: what stands in front, and the place of each unit of the client's messages. */
export type SentPath = { readonly head: Head; readonly places: readonly Place[] };

export type Rendered = {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
  readonly usesClearing: boolean;
  /** How many results the provider is asked to leave out; null: it is not asked. */
  readonly cleared: number | null;
  readonly report: Omit<
    SentReport,
    "rendering" | "line" | "talkName" | "briefed" | "body" | "length" | "isRound"
  >;
  /** Whether a header stands in what is new. */
  readonly hasHeader: boolean;
  /** About how much smaller the prompt is than what was sent before, by a rewrite. */
  readonly freed: number;
  /** Where the answer will hang. */
  readonly leaf: Place;
  readonly path: SentPath;
};
