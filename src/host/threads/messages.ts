import type { Result } from "../../base/index.ts";
import type { Mode } from "../../engine/frames/index.ts";
import type { Wishes, WithheldSession } from "../../exchange/index.ts";
import type { EngineEvent } from "../../log/index.ts";
import type { PolicyMode, RecorderCounts } from "../../recorder/index.ts";
import type { StorePort, StoreStatus } from "../../store/index.ts";
import type { Question } from "../questions.ts";
import type { RecorderMessage } from "./recorder-message.ts";
import type { WindowTable } from "./windows.ts";

export type EngineOptions = {
  /** The database file. */
  readonly path: string;
  readonly windows: WindowTable;
  /** Whether the policy lowers blocks by itself; "auto" if absent. */
  readonly policy?: PolicyMode;
  /** The configured mode; "auto" if absent. */
  readonly mode?: Mode;
  /** For tests: the most pages the database may have. */
  readonly maxPages?: number;
  /** For tests: the thread dies after this many requests, and so does each that replaces it. */
  readonly dieAfter?: number;
  /** For tests: the thread hangs after this many requests, and so does each that replaces it. */
  readonly stickAfter?: number;
  /** A thread without activity for this long is replaced; five seconds if absent. */
  readonly stuckMs?: number;
};

/** The `workerData` of the engine's thread. */
export type EngineWorkerData = EngineOptions & {
  readonly storePort: StorePort;
  /** How often the thread reports that it is alive. */
  readonly aliveEveryMs: number;
};

/** A message with the bytes it counts for while it waits. */
export type QueuedMessage = RecorderMessage & { readonly bytes: number };

export type ToEngineMessage =
  | { readonly type: "copies"; readonly copies: readonly QueuedMessage[] }
  | { readonly type: "ask"; readonly id: number; readonly question: Question }
  /** Events without a listener are not worth a message. */
  | { readonly type: "watch"; readonly on: boolean }
  | { readonly type: "close" };

export type FromEngineMessage =
  /** The system's id of the thread, by which its CPU wait is read. */
  | { readonly type: "started"; readonly thread: string | null }
  /** Every other message also shows that the thread is alive. */
  | { readonly type: "alive"; readonly heapShare: number }
  /** This many bytes are recorded: they no longer count as waiting. */
  | { readonly type: "taken"; readonly bytes: number; readonly counts: RecorderCounts }
  | { readonly type: "answer"; readonly id: number; readonly result: Result<unknown> }
  | { readonly type: "event"; readonly event: EngineEvent }
  | { readonly type: "wishes"; readonly wishes: Wishes }
  | { readonly type: "withheld"; readonly withheld: WithheldSession }
  | { readonly type: "storage"; readonly status: StoreStatus }
  | { readonly type: "closed" };
