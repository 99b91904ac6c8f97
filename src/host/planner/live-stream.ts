import type { CommandResult, PlannedRequest, Wishes } from "../../exchange/index.ts";
import {
  type AllWishes,
  followLog,
  isSameWithheld,
  type LedgerStream,
  noWishes,
  openStream,
  type StreamOptions,
  updateWishes,
  type WithheldContent,
} from "../../ledger/index.ts";
import type { WireRequest } from "../../protocols/index.ts";

/** A stream as the planner holds it in memory: its ledger, its wishes, and a few facts of the moment. */
export type LiveStream = {
  readonly key: string;
  /** The key of its session, which other streams share. */
  readonly session: string;
  /** The name we gave the session; null if its client names it. */
  readonly generatedName: string | null;
  /**
   * The log was asked about the stream. A first request does not wait for that, though the stream may exist.
   */
  readonly isLookedUp: boolean;
  /** Replaced by each plan and each answer. */
  ledger: LedgerStream;
  wishes: AllWishes;
  /** A block was sent without a number; the log has given it one. */
  isUnnumbered: boolean;
  /** The planner renders its requests, as long as the mode allows it. */
  isManaged: boolean;
  /** The upstream refused our version of a request: all pass unchanged until the user sets a mode. */
  isPassThrough: boolean;
  /** The planner has rendered a request of it before; unknown if the log did not answer. */
  wasManaged: boolean | "unknown";
  /** The version of the record when the log was last told all of the stream, see `StreamOpenerDeps`. */
  recordVersion: number;
  /** The next request takes over the parsed parts that did not change. */
  lastRequest: LastRequest | null;
  lastMs: number;
  /** The provider has cleared tool results whenever it was asked to. */
  takesProviderEdits: boolean;
  /** Requests that wait for their answer, with the keys of their units. */
  readonly openRequests: Map<PlannedRequest, readonly string[]>;
  /** Results of calls of our tools, by the key of their call. */
  readonly commandResults: Map<string, CommandResult>;
  /** Set while calls of our tools are executed. */
  runningCommands: Promise<void> | null;
};

/** A request, and whether its body may still be read: its answer is over, and all bytes have left. */
export type LastRequest = {
  readonly id: string;
  readonly wire: WireRequest;
  readonly isOver: boolean;
  readonly hasLeft: boolean;
};

export type LiveStreamInput = Pick<
  LiveStream,
  "key" | "session" | "generatedName" | "isLookedUp" | "wasManaged" | "recordVersion"
> & { readonly ledger: Omit<StreamOptions, "isNew">; readonly withheld: WithheldContent };

export function openLiveStream({ ledger, withheld, ...known }: LiveStreamInput): LiveStream {
  return {
    ...known,
    ledger: openStream({ ...ledger, isNew: known.wasManaged === false }),
    wishes: noWishes(withheld),
    isUnnumbered: false,
    isManaged: false,
    isPassThrough: false,
    lastRequest: null,
    lastMs: 0,
    takesProviderEdits: true,
    openRequests: new Map(),
    commandResults: new Map(),
    runningCommands: null,
  };
}

/** Takes over what the log wants of the next request. `withheld` is null if that did not change. */
export function applyWishes(live: LiveStream, wishes: Wishes, withheld: WithheldContent | null): void {
  const { latest, withheld: before } = live.wishes;
  // A user who sets a mode wants it to apply, even after a refusal.
  if ((wishes.mode ?? null) !== (latest?.mode ?? null)) live.isPassThrough = false;
  const isSame = withheld === null || isSameWithheld(before, withheld);
  // A result that the model has not read yet may quote the withheld content.
  if (!isSame && addsWithheld(before, withheld)) live.commandResults.clear();
  // The same content stays the same value: what was searched for it is remembered by the value.
  live.wishes = updateWishes(live.wishes, wishes, isSame ? before : withheld);
  live.ledger = followLog(live.ledger, wishes.turn);
}

/** Whether content is withheld that was not withheld before. */
export function addsWithheld(before: WithheldContent, now: WithheldContent): boolean {
  return [...now.keys()].some((key) => !before.has(key));
}
