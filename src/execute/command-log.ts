import type { Result, ViewId } from "../base/index.ts";
import type { Actor, Cause, Delta } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import type { FrameAttachments, IdPool } from "../log/index.ts";
import type { ContextNames, LiveSession, RecordedStream, StreamActions } from "../recorder/index.ts";

/** The deltas that a command appends to the log of its stream. */
export type CommandEntry = {
  readonly deltas: readonly Delta[];
  readonly actor: Actor;
  readonly cause: Cause;
  readonly attached?: FrameAttachments;
};

/** The log a command reads and appends to, as one stream. */
export type CommandLog = {
  readonly state: () => State;
  readonly append: (entry: CommandEntry) => Result<void>;
};

/** The parts of a stream that commands need: its view, its ids, and its recent actions. */
export type CommandStream = {
  readonly index: { readonly view: ViewId };
  readonly ids: IdPool;
  readonly actions: StreamActions;
  /** The names its model is likely to need; absent if they are not counted. */
  readonly names?: Pick<ContextNames, "forManifest">;
};

export function commandLogOf(live: LiveSession, stream: RecordedStream): CommandLog {
  return { state: () => live.state(), append: (entry) => live.append({ ...entry, stream }) };
}
