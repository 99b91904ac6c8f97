import type { ExchangeEnd, Frame, Mode as SessionMode, Usage } from "../../engine/frames/index.ts";
import type { WindowRow } from "../../recorder/index.ts";

export type FailedRequest = {
  readonly exchange: number;
  readonly outcome: ExchangeEnd["outcome"];
  readonly status: number | null;
};

export type SessionRow = {
  readonly id: string;
  readonly name: string;
  readonly client: string;
  readonly project: string | null;
  readonly upstream: string | null;
  /** The model of the last turn that named one. */
  readonly model: string | null;
  /**
   * Active while a request is open; error while the last turn has no complete answer. There is no closed
   * state: a client does not say when it ends, and may continue a session after weeks.
   */
  readonly state: "active" | "idle" | "error";
  /** The request without a complete answer; null in any other state. */
  readonly failed: FailedRequest | null;
  /** The mode the user set, else the configured one; observe also while no request was managed yet. */
  readonly mode: SessionMode;
  readonly seq: number;
  /** The window of the main stream. */
  readonly window: WindowRow;
  /** Milliseconds since 1970 of the last frame on disk; null if there is none. */
  readonly lastActivity: number | null;
  readonly requests: number;
  /** Requests that were not sent as the client wrote them. */
  readonly rendered: number;
  readonly streams: number;
  /** Tokens of the main stream's last prompt that the provider read from its cache or wrote to it. */
  readonly cached: number;
  /** Sum over all requests, as the provider reported it. */
  readonly usage: Usage;
  /** The same per model, for readers that know prices. */
  readonly usages: readonly { readonly model: string | null; readonly usage: Usage }[];
};

export type StreamRow = {
  readonly id: number;
  readonly name: string;
  /** The stream it was forked from. */
  readonly parent: number | null;
  readonly turns: number;
};

/** A stream as its session lists it: its title, and how full its window is. */
export type StreamDetail = StreamRow & {
  /** The first words of its user; null if none are stored. */
  readonly title: string | null;
  readonly window: WindowRow;
};

export type SessionsPage = {
  readonly rows: readonly SessionRow[];
  /** Ids of sessions that are there but cannot be opened; `verify` says why. */
  readonly damaged: readonly string[];
  /** The `before` of the next page; null if there is none. */
  readonly next: string | null;
};

export type SessionDetail = {
  readonly seq: number;
  readonly session: SessionRow;
  /** The main one first. */
  readonly streams: readonly StreamDetail[];
};

export type FramesPage = {
  readonly session: string;
  /** The present seq of the session; the frames just below it may not be on disk yet. */
  readonly seq: number;
  readonly frames: readonly Frame[];
  /** The `after` of the next page; null if no more frames are on disk now. */
  readonly next: number | null;
};

/** Observe: requests are sent as the client wrote them, without notes of ours. */
export type StreamMode = "observe" | "auto";
