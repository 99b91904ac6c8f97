import type { ErrorCode } from "../base/index.ts";
import {
  type Actor,
  type Cause,
  type Delta,
  type Frame,
  rewriteReasonTexts,
} from "../engine/frames/index.ts";
import { describeActs } from "./act-text.ts";

/** An event for subscribers, sent in the order it happened. Plain data: it crosses threads. */
export type EngineEvent = FrameEvent | RequestEvent | NoticeEvent | DegradedEvent;

/** A frame was appended. The event does not carry the change; readers fetch it by its seq. */
export type FrameEvent = {
  readonly type: "frame";
  readonly session: string;
  readonly seq: number;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly time: number;
  readonly deltaTypes: readonly Delta["type"][];
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
  /** The frame the notice is about, if any. */
  readonly seq?: number;
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

/** The events of a frame: the frame itself, and notices for people. */
export function eventsOf(frame: Frame): readonly EngineEvent[] {
  const { session, seq } = frame;
  const notices = [...actNotice(frame), ...rewriteNotice(frame)];
  return [
    frameEvent(frame),
    ...notices.map((message): NoticeEvent => ({ type: "notice", session, code: null, message, seq })),
  ];
}

/** Tells people about changes that policy made by itself. */
function actNotice({ actor, cause, deltas }: Frame): readonly string[] {
  if (actor !== "policy" || cause.step === null || cause.type !== "policy") return [];
  const reason = cause.reason === "" ? "" : ` (${cause.reason})`;
  const text = describeActs(deltas);
  return text === "" ? [] : [`policy ${text}${reason}; \`aperture undo ${cause.step}\` undoes it`];
}

function rewriteNotice({ deltas }: Frame): readonly string[] {
  return deltas.flatMap((delta) => {
    if (delta.type !== "epoch-started") return [];
    const { reason, predicted } = delta;
    const text = `the transcript was written anew (${rewriteReasonTexts[reason]})`;
    if (predicted === undefined) return [text];
    const { rewritten, unchanged, savedEach } = predicted;
    const cost = `its prompt is expected to cost as much as ${rewritten} input tokens, unchanged ${unchanged}`;
    return [`${text}: ${cost}; every later request saves ${savedEach}`];
  });
}
