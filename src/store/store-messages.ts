import type { MessagePort } from "node:worker_threads";
import type { ApertureError, ContentHash, FrameHash, Result, SessionId } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import type { ExitGate } from "./exit-gate.ts";
import type { FailPoint } from "./fail-points.ts";
import type {
  BackupReport,
  Batch,
  BodyKey,
  BodyRow,
  DropReport,
  FrameRange,
  GcReport,
  PurgeReport,
  SessionHead,
  Snapshot,
  StoreStatus,
  VerifyReport,
} from "./store.ts";

/** A message from a handle to the thread that owns the database. */
export type StoreRequest = { readonly id: number; readonly call: StoreCall };
export type StoreCall = { readonly type: "append"; readonly batch: PostedBatch } | StoreQuery;

/**
 * A batch on its way to the thread. A frame is sent as the text that was sealed, if that is known: the thread
 * checks and keeps this text, and serialising the frame again would be most of its work.
 */
export type PostedBatch = Omit<Batch, "frames"> & { readonly frames?: readonly PostedFrame[] };
export type PostedFrame =
  | { readonly as: "text"; readonly text: string; readonly hash: FrameHash }
  | { readonly as: "value"; readonly frame: Frame };

export type StoreRead =
  | { readonly type: "sessions" }
  | { readonly type: "head"; readonly session: SessionId }
  | { readonly type: "frames"; readonly range: FrameRange }
  | { readonly type: "content"; readonly hash: ContentHash }
  | { readonly type: "body"; readonly key: BodyKey }
  | { readonly type: "bodies"; readonly session: SessionId }
  | { readonly type: "snapshot"; readonly session: SessionId };

/** Long work, done one job at a time. */
export type StoreJob =
  | { readonly type: "verify"; readonly scope: "tail" | "all" }
  | { readonly type: "gc" }
  | { readonly type: "backup"; readonly path: string }
  | { readonly type: "purge"; readonly hashes: readonly ContentHash[] }
  | { readonly type: "drop"; readonly session: SessionId }
  | { readonly type: "limit-pages"; readonly pages: number | null };

export type StoreQuery = StoreRead | StoreJob;

export type StoreAnswers = {
  readonly sessions: readonly SessionHead[];
  readonly head: SessionHead | null;
  readonly frames: readonly Frame[];
  readonly content: Uint8Array;
  readonly body: Uint8Array;
  readonly bodies: readonly BodyRow[];
  readonly snapshot: Snapshot | null;
  readonly verify: VerifyReport;
  readonly gc: GcReport;
  readonly backup: BackupReport;
  readonly purge: PurgeReport;
  readonly drop: DropReport;
  readonly "limit-pages": undefined;
};

export type StoreHealth = Pick<StoreStatus, "storage" | "code" | "message"> & {
  /** Set when nothing will ever be written here again: new batches are refused at once with this error. */
  readonly refusing: ApertureError | null;
};

export type StoreReply =
  | { readonly type: "appended"; readonly outcomes: readonly AppendOutcome[] }
  | { readonly type: "answer"; readonly id: number; readonly result: Result<unknown> }
  | { readonly type: "health"; readonly health: StoreHealth };

export type AppendOutcome = { readonly id: number; readonly refusal: ApertureError | null };

/** A message from the owner of the thread. Only `close` is answered. */
export type ThreadOrder = { readonly type: "join"; readonly port: MessagePort } | { readonly type: "close" };
export type ThreadClosedMessage = { readonly type: "closed" };

/**
 * A handle's connection to the store's thread: requests and replies go over `port`, messages of the thread's
 * owner over `news`. Both can be transferred to another thread.
 */
export type StorePort = { readonly port: MessagePort; readonly news: MessagePort };
export type PortNews =
  /** The thread died; the next thread reads from this port. */
  | { readonly type: "replaced"; readonly problem: string; readonly port: MessagePort }
  /** The owner closed the thread: nothing is read any more. */
  | { readonly type: "ended" };

export type StoreThreadOptions = {
  readonly path: string;
  readonly maxPages: number | null;
  readonly failPoint: FailPoint | null;
  /** True if the thread yields the processor to other threads. */
  readonly isBackground: boolean;
};
export type StoreThreadData = StoreThreadOptions & { readonly gate: ExitGate };
