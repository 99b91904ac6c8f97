import type { MessagePort } from "node:worker_threads";
import type { ApertureError, ContentHash, FrameHash, Result, SessionId } from "../base/index.ts";
import type { Frame } from "../engine/index.ts";
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

/** What a handle and the thread that has the database say to each other. */
export type Request = { readonly id: number; readonly call: Call };
export type Call = { readonly type: "append"; readonly batch: PostedBatch } | Question;

/**
 * A batch on its way to the thread. A frame crosses as the text that was sealed, where that is known: it is
 * what the thread checks and keeps, and writing it out again would be most of its work.
 */
export type PostedBatch = Omit<Batch, "frames"> & { readonly frames?: readonly PostedFrame[] };
export type PostedFrame =
  | { readonly as: "text"; readonly text: string; readonly hash: FrameHash }
  | { readonly as: "value"; readonly frame: Frame };

export type Read =
  | { readonly type: "sessions" }
  | { readonly type: "head"; readonly session: SessionId }
  | { readonly type: "frames"; readonly range: FrameRange }
  | { readonly type: "content"; readonly hash: ContentHash }
  | { readonly type: "body"; readonly key: BodyKey }
  | { readonly type: "bodies"; readonly session: SessionId }
  | { readonly type: "snapshot"; readonly session: SessionId };

/** Work that takes its time and is done one at a time. */
export type Job =
  | { readonly type: "verify"; readonly scope: "tail" | "all" }
  | { readonly type: "gc" }
  | { readonly type: "backup"; readonly path: string }
  | { readonly type: "purge"; readonly hashes: readonly ContentHash[] }
  | { readonly type: "drop"; readonly session: SessionId }
  | { readonly type: "limit-pages"; readonly pages: number | null };

export type Question = Read | Job;

export type Answers = {
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

export type Health = Pick<StoreStatus, "storage" | "code" | "message"> & {
  /** Set when nothing will ever be written here: what comes is refused at once. */
  readonly refusing: ApertureError | null;
};

export type Reply =
  | { readonly type: "appended"; readonly outcomes: readonly Outcome[] }
  | { readonly type: "answer"; readonly id: number; readonly result: Result<unknown> }
  | { readonly type: "health"; readonly health: Health };

export type Outcome = { readonly id: number; readonly refusal: ApertureError | null };

/** What the owner of the thread says to it. It answers the last word only. */
export type Order = { readonly type: "join"; readonly port: MessagePort } | { readonly type: "close" };
export type Closed = { readonly type: "closed" };

/**
 * A handle's end of a line to the store's thread: requests and replies go over `port`, the owner of the
 * thread speaks over `news`. Both may be handed to another thread.
 */
export type StoreLine = { readonly port: MessagePort; readonly news: MessagePort };
export type LineNews =
  /** The thread died; the next one reads from this port. */
  | { readonly type: "replaced"; readonly problem: string; readonly port: MessagePort }
  /** The owner closed it: nothing is read any more. */
  | { readonly type: "ended" };

export type ThreadOptions = {
  readonly path: string;
  readonly maxPages: number | null;
  readonly failPoint: FailPoint | null;
  /** Whether others go first where they want the same processor. */
  readonly isBackground: boolean;
};
export type ThreadData = ThreadOptions & { readonly gate: ExitGate };
