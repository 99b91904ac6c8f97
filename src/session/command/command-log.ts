import type { Result, ViewId } from "../../base/index.ts";
import type { Actor, Cause, Delta, State } from "../../engine/index.ts";
import type { Attached } from "../outbox.ts";
import type { IdPool } from "../record/id-pool.ts";
import type { LiveSession } from "../record/live-session.ts";
import type { NameBook } from "../record/name-book.ts";
import type { RecordedLine } from "../record/recorded-line.ts";
import type { Doings } from "./doings.ts";

/** What a command adds to the log of its stream. */
export type Carrying = {
  readonly deltas: readonly Delta[];
  readonly actor: Actor;
  readonly cause: Cause;
  readonly attached?: Attached;
};

/** The log a command is carried out in, as the stream it belongs to writes to it. */
export type CommandLog = {
  readonly state: () => State;
  readonly carry: (asked: Carrying) => Result<void>;
};

/** What of a stream a command needs: the view it is carried out in, numbers, and what was done of late. */
export type CommandedLine = {
  readonly index: { readonly view: ViewId };
  readonly ids: IdPool;
  readonly doings: Doings;
  /** What its model is likely to need, where somebody keeps count of it. */
  readonly names?: Pick<NameBook, "needed">;
};

/** The log of a recorded session as one of its streams writes to it. */
export function logOf(live: LiveSession, line: RecordedLine): CommandLog {
  return { state: () => live.state(), carry: (asked) => live.carry({ ...asked, line }) };
}
