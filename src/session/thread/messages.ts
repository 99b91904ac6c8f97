import type { Result } from "../../base/index.ts";
import type { Mode } from "../../engine/index.ts";
import type { StoreLine, StoreStatus } from "../../store/index.ts";
import type { Briefing } from "../desk-port.ts";
import type { EngineEvent } from "../read/events.ts";
import type { Question } from "../read/questions.ts";
import type { PolicyMode } from "../record/recorder.ts";
import type { RecorderCounts } from "../record/recorder-counts.ts";
import type { WithheldSession } from "../withheld-session.ts";
import type { Handed } from "./handed.ts";
import type { WindowTable } from "./windows.ts";

export type EngineOptions = {
  /** The database file. */
  readonly path: string;
  readonly windows: WindowTable;
  /** Whether blocks are lowered by themselves; they are where nothing is said. */
  readonly policy?: PolicyMode;
  /** As it is configured; auto where nothing is said. */
  readonly mode?: Mode;
  /** For tests: the database may hold so many pages and no more. */
  readonly maxPages?: number;
  /** For tests: the thread dies after so many requests, again and again. */
  readonly dieAfter?: number;
  /** For tests: the thread does nothing any more after so many requests, again and again. */
  readonly stickAfter?: number;
  /** A thread that says nothing for so long is replaced; five seconds where nothing is said. */
  readonly stuckMs?: number;
};

/** What the engine's thread is started with. */
export type EngineData = EngineOptions & {
  readonly line: StoreLine;
  /** How often it says that it is alive. */
  readonly aliveEveryMs: number;
};

/** A copy on its way, with what it counts for while it waits. */
export type Copied = Handed & { readonly bytes: number };

/** What is said to the engine's thread, and what it answers. */
export type ToEngine =
  | { readonly type: "copies"; readonly copies: readonly Copied[] }
  | { readonly type: "ask"; readonly id: number; readonly question: Question }
  /** Whether anybody listens: events nobody hears are not worth a message. */
  | { readonly type: "watch"; readonly on: boolean }
  | { readonly type: "close" };

export type FromEngine =
  /** What the system calls the thread, to be asked about it. */
  | { readonly type: "started"; readonly thread: string | null }
  /** That, and how much of its memory it uses; any other word says the first too. */
  | { readonly type: "alive"; readonly heapShare: number }
  /** So many bytes are done with: they no longer count as waiting. */
  | { readonly type: "taken"; readonly bytes: number; readonly counts: RecorderCounts }
  | { readonly type: "answer"; readonly id: number; readonly result: Result<unknown> }
  | { readonly type: "event"; readonly event: EngineEvent }
  | { readonly type: "briefing"; readonly briefing: Briefing }
  | { readonly type: "withheld"; readonly withheld: WithheldSession }
  | { readonly type: "storage"; readonly status: StoreStatus }
  | { readonly type: "closed" };
