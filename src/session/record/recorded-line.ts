import type { WireRequest } from "../../protocols/index.ts";
import type { RequestCopy } from "../exchange.ts";
import type { IdPool } from "./id-pool.ts";
import type { Belonging } from "./identify.ts";
import type { StreamIndex } from "./stream-index.ts";
import type { Summaries } from "./summaries.ts";

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
};
