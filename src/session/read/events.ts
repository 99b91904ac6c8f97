import type { ErrorCode } from "../../base/index.ts";
import type { Actor, Cause, DeltaType, Frame } from "../../engine/index.ts";

/** What those who watch are told, in the order it happened. Plain data: it crosses threads. */
export type EngineEvent = FrameEvent | RequestEvent | NoticeEvent | DegradedEvent;

/** A frame was appended. What changed is read by its seq; the event only says that something did. */
export type FrameEvent = {
  readonly type: "frame";
  readonly session: string;
  readonly seq: number;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly time: number;
  readonly deltaTypes: readonly DeltaType[];
};

export type RequestEvent = {
  readonly type: "request";
  readonly session: string;
  readonly exchange: number;
  readonly phase: "opened" | "closed";
};

/** Something the user should know about an automatic act or a problem. */
export type NoticeEvent = {
  readonly type: "notice";
  readonly session: string | null;
  readonly code: ErrorCode | null;
  readonly message: string;
};

/** Recording stopped or works again. */
export type DegradedEvent = {
  readonly type: "degraded";
  readonly storage: "ok" | "degraded";
  readonly message: string | null;
};

export function frameEvent(frame: Frame): FrameEvent {
  const { session, seq, actor, cause, time } = frame;
  const deltaTypes = [...new Set(frame.deltas.map(({ type }) => type))];
  return { type: "frame", session, seq, actor, cause, time, deltaTypes };
}
