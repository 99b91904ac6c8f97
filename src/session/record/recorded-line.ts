import type { Actor, Cause, Delta, Exchange } from "../../engine/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import type { Doings } from "../command/doings.ts";
import type { RequestCopy } from "../exchange.ts";
import type { Attached } from "../outbox.ts";
import type { IdPool } from "./id-pool.ts";
import type { Belonging } from "./identify.ts";
import type { LinePolicy } from "./line-policy.ts";
import type { NameBook } from "./name-book.ts";
import type { PromptSizes } from "./prompt-sizes.ts";
import type { Standing } from "./relation.ts";
import type { Renditions } from "./renditions.ts";
import type { StreamIndex } from "./stream-index.ts";
import type { Summaries } from "./summaries.ts";
import type { DraftedTurn } from "./turn-draft.ts";

/** A request that has been recorded and waits for its answer. */
export type OpenExchange = {
  readonly exchange: number;
  /** The name of its line. */
  readonly line: string | null;
  readonly turn: number | null;
  readonly model: string | null;
  /** What could not be kept of the request. */
  readonly problem: string | null;
};

/** A request as it was copied, what could be read of it, and where it says it belongs. */
export type AskedRequest = {
  readonly copy: RequestCopy;
  readonly request: WireRequest | null;
  readonly belonging: Belonging;
  /** The secrets that were searched for in it. */
  readonly forms: readonly string[];
};

/** A stream with what is needed to go on recording it. */
export type RecordedLine = {
  readonly name: string;
  readonly index: StreamIndex;
  readonly ids: IdPool;
  readonly summaries: Summaries;
  readonly sizes: PromptSizes;
  readonly names: NameBook;
  readonly renditions: Renditions;
  readonly policy: LinePolicy;
  /** What its model does with our tools. */
  readonly doings: Doings;
  /** Whether the user wants what is wanted to be shown now; the desk is told once, with the next briefing. */
  isUrged: boolean;
};

/** A turn that was recorded. */
export type Noted = {
  readonly copy: RequestCopy;
  readonly request: WireRequest;
  readonly exchange: Exchange;
  readonly turn: number;
  readonly drafted: DraftedTurn;
};
export type Turning = {
  readonly asked: AskedRequest;
  readonly request: WireRequest;
  readonly standing: Standing;
  readonly line: RecordedLine;
};
export type Beside = {
  readonly asked: AskedRequest;
  readonly role: Exchange["role"];
  readonly line?: RecordedLine | null;
};
export type Appending = {
  readonly deltas: readonly Delta[];
  readonly line?: RecordedLine | null;
  readonly attached?: Attached;
} & ({ readonly type: Cause["type"] } | { readonly cause: Cause; readonly actor: Actor });

export function recordingOf(type: Cause["type"]): { readonly actor: Actor; readonly cause: Cause } {
  return { actor: type === "response" ? "model" : "client", cause: { type, step: null, reason: "" } };
}
