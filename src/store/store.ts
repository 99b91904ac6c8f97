import type { ContentHash, FrameHash, Result, Seq, SessionId } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";

/**
 * The interface every store implements and one contract suite checks. Writing never waits: `append` says at
 * once whether the batch is accepted, and its promise says when it is durable. Nothing here throws or
 * rejects; errors are values.
 */
export type Store = {
  readonly append: (batch: Batch) => AppendResult;
  readonly sessions: () => Promise<Result<readonly SessionHead[]>>;
  readonly head: (session: SessionId) => Promise<Result<SessionHead | null>>;
  /** Frames in order, from `after` (exclusive), at most `limit`. */
  readonly frames: (range: FrameRange) => Promise<Result<readonly Frame[]>>;
  readonly content: (hash: ContentHash) => Promise<Result<Uint8Array>>;
  /** The exact bytes of a body, restored from its recipe and checked against its hash. */
  readonly body: (key: BodyKey) => Promise<Result<Uint8Array>>;
  readonly bodies: (session: SessionId) => Promise<Result<readonly BodyRow[]>>;
  /** The newest complete snapshot of a session. Null if there is none. */
  readonly snapshot: (session: SessionId) => Promise<Result<Snapshot | null>>;
  /**
   * Checks the tail of every session, or everything. Damage is in the report; an error means it could not
   * check.
   */
  readonly verify: (scope: "tail" | "all") => Promise<Result<VerifyReport>>;
  /** Drops contents and pages that nothing refers to any more, and shrinks the file. */
  readonly gc: () => Promise<Result<GcReport>>;
  /** Writes a consistent copy to a new file. */
  readonly backup: (path: string) => Promise<Result<BackupReport>>;
  /** Erases contents for good. Frames keep the hash; bodies that held them answer AP_CONTENT_PURGED. */
  readonly purge: (hashes: readonly ContentHash[]) => Promise<Result<PurgeReport>>;
  /**
   * Erases a whole session: its frames, bodies and snapshots, and contents that no other session holds. An
   * unknown session gives an empty report.
   */
  readonly drop: (session: SessionId) => Promise<Result<DropReport>>;
  readonly status: () => StoreStatus;
  /**
   * Calls the listener whenever storage, code or message change, not for every batch; returns how to stop.
   */
  readonly watch: (listener: (status: StoreStatus) => void) => () => void;
  /** Resolves when everything accepted so far is durable or refused. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/**
 * Things that are written together or not at all. Contents are written first, so no reference is ever
 * dangling.
 */
export type Batch = {
  readonly contents?: readonly HashedContent[];
  readonly frames?: readonly Frame[];
  readonly bodies?: readonly Body[];
  readonly snapshots?: readonly Snapshot[];
};

export type HashedContent = { readonly hash: ContentHash; readonly bytes: Uint8Array };

export type AppendResult =
  | { readonly accepted: true; readonly durable: Promise<Result<void>> }
  | { readonly accepted: false; readonly refused: Result<never> & { ok: false } };

export type SessionHead = { readonly session: SessionId; readonly seq: Seq; readonly hash: FrameHash };
export type FrameRange = { readonly session: SessionId; readonly after: number; readonly limit: number };

/**
 * The four bodies of an exchange: as the client sent it, as sent upstream, as it came back, as the client got
 * it.
 */
export const exchangeSides = [
  "client-request",
  "upstream-request",
  "upstream-response",
  "client-response",
] as const;
export type ExchangeSide = (typeof exchangeSides)[number];
export type BodyKey = { readonly session: SessionId; readonly exchange: number; readonly side: ExchangeSide };
export type BodyRow = BodyKey & { readonly hash: ContentHash; readonly length: number };

/** A body is stored as a recipe: slices of contents and of earlier bodies, and literal bytes for the rest. */
export type Body = BodyRow & { readonly recipe: readonly RecipePiece[] };
export type RecipePiece =
  | {
      readonly from: "content";
      readonly content: ContentHash;
      readonly start: number;
      readonly length: number;
    }
  | {
      readonly from: "body";
      readonly exchange: number;
      readonly side: ExchangeSide;
      readonly start: number;
      readonly length: number;
    }
  | { readonly from: "literal"; readonly bytes: Uint8Array };

/**
 * A state as pages. Pages are named by their hash and shared: a snapshot to be written brings only the pages
 * the one before did not have, a snapshot that was read brings all. Only the newest is kept, since it can
 * always be made again from the frames.
 */
export type Snapshot = {
  readonly session: SessionId;
  readonly seq: Seq;
  readonly hash: FrameHash;
  readonly root: string;
  /** Every page the root names. */
  readonly pageHashes: readonly string[];
  readonly pages: ReadonlyMap<string, Uint8Array>;
};

export type StoreStatus = {
  readonly storage: "ok" | "degraded";
  /** Why it is degraded: the code and sentence of the error registry. */
  readonly code: string | null;
  readonly message: string | null;
  readonly waitingFrames: number;
  readonly waitingBytes: number;
};

export type Damage = { readonly where: string; readonly problem: string };
export type VerifyReport = {
  readonly scope: "tail" | "all";
  readonly sessions: number;
  readonly frames: number;
  readonly contents: number;
  readonly bodies: number;
  readonly pages: number;
  readonly damage: readonly Damage[];
};
export type GcReport = { readonly contents: number; readonly pages: number; readonly freedBytes: number };
export type BackupReport = { readonly path: string; readonly bytes: number };
export type PurgeReport = { readonly contents: number; readonly bodies: number };
export type DropReport = {
  readonly frames: number;
  readonly bodies: number;
  readonly contents: number;
  readonly freedBytes: number;
};
