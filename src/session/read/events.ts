import type { ErrorCode } from "../../base/index.ts";
import type { Actor, Cause, DeltaType, Frame } from "../../engine/index.ts";
import { actWords, rewriteWords } from "./act-words.ts";

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
  /** The frame it is about, where it is about one. */
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

/** What is told of a frame: that it is there, and what people should know of it. */
export function eventsOf(frame: Frame): readonly EngineEvent[] {
  const { session, seq } = frame;
  const notices = [...actNotice(frame), ...rewriteNotice(frame)];
  return [
    frameEvent(frame),
    ...notices.map((message): NoticeEvent => ({ type: "notice", session, code: null, message, seq })),
  ];
}

/** Of what nobody has asked for, people are told. */
function actNotice({ actor, cause, deltas }: Frame): readonly string[] {
  if (actor !== "policy" || cause.step === null || cause.type !== "policy") return [];
  const reason = cause.reason === "" ? "" : ` (${cause.reason})`;
  const words = actWords(deltas);
  return words === "" ? [] : [`policy ${words}${reason}; \`aperture undo ${cause.step}\` takes it back`];
}

function rewriteNotice({ deltas }: Frame): readonly string[] {
  return deltas.flatMap((delta) => {
    if (delta.type !== "epoch-started") return [];
    const { reason, predicted } = delta;
    const why = `the transcript was written anew (${rewriteWords[reason]})`;
    if (predicted === undefined) return [why];
    const { rewritten, unchanged, savedEach } = predicted;
    const cost = `its prompt is expected to cost as much as ${rewritten} input tokens, unchanged ${unchanged}`;
    return [`${why}: ${cost}; every later request saves ${savedEach}`];
  });
}
