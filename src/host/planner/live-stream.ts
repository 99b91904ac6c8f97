import type {
  CommandResult,
  LevelWish,
  NumberedBlock,
  PlannedRequest,
  Wishes,
} from "../../exchange/index.ts";
import {
  type BlockSum,
  isSameWithheld,
  type PromptCount,
  type SessionNumbers,
  StreamLedger,
  StreamNumbers,
  type WithheldContent,
} from "../../ledger/index.ts";
import type { ShownMemory } from "../../notes/index.ts";
import type { Protocol, WireRequest } from "../../protocols/index.ts";

/** A stream as the planner holds it in memory: its ledger, and what is known and wanted of it. */
export type LiveStream = {
  readonly key: string;
  /** The key of its session, which other streams share. */
  readonly session: string;
  /** The name we gave the session; null if its client names it. */
  readonly generatedName: string | null;
  readonly protocol: Protocol;
  readonly nonce: string;
  ledger: StreamLedger;
  numbers: StreamNumbers;
  /** A block was sent without a number; the log has given it one. */
  isUnnumbered: boolean;
  /** Null until the log has reported the stream. */
  wishes: Wishes | null;
  /** The stream began in this planner, so every block that was sent is noted. */
  isFullyCounted: boolean;
  /** Blocks that were sent or answered since the wishes were reported. */
  recentBlocks: readonly NumberedBlock[];
  /** The totals of the recent blocks. */
  recentTotals: BlockSum;
  /** The seq of the wishes whose names were put into a header. */
  namesSeq: number;
  /** The seq of the last wishes whose changes the model has read: it reads them once. */
  changesSeq: number;
  /** How many manifest summaries were sent, and about what they cost. */
  manifestSpend: { readonly turns: number; readonly tokens: number };
  /** Blocks whose expiry is near and was noted. */
  notedExpiries: ReadonlySet<number>;
  /** The planner renders its requests, as long as the mode allows it. */
  isManaged: boolean;
  /** The upstream refused our version of a request: all pass unchanged until the user sets a mode. */
  isPassThrough: boolean;
  /** The planner has rendered a request of it before; unknown if the log did not answer. */
  wasManaged: boolean | "unknown";
  /**
   * The log was asked about the stream. A first request does not wait for that, though the stream may exist.
   */
  readonly isLookedUp: boolean;
  /** The version of the record when the log was last told all of the stream, see `StreamOpenerDeps`. */
  recordVersion: number;
  /** The next request takes over the parsed parts that did not change. */
  lastRequest: LastRequest | null;
  lastMs: number;
  /** Requests that wait for their answer, with the keys of their units. */
  readonly openRequests: Map<PlannedRequest, readonly string[]>;
  /** The last prompt that the provider counted, and where it ended. */
  countedPrompt: PromptCount | null;
  /** Tokens freed by rewrites that the log has not reported yet, and the turn of the last one. */
  freed: { readonly turn: number; readonly tokens: number };
  /** The provider has cleared tool results whenever it was asked to. */
  takesProviderEdits: boolean;
  /** How blocks are shown from the next rewrite on, by their numbers. */
  readonly levelWishes: Map<number, LevelWish>;
  /** Level wishes have come in since the last time a rewrite was considered. */
  hasNewWishes: boolean;
  /** The user wants the level wishes applied now. */
  isUrgent: boolean;
  /** Blocks that are never shortened, because they are pinned or selected. */
  held: ReadonlySet<number>;
  /** Memories that every request shows. */
  memories: readonly ShownMemory[];
  /** Content that must not be sent any more. */
  withheld: WithheldContent;
  /** Results of calls of our tools, by call id. */
  readonly commandResults: Map<string, CommandResult>;
  /** Set while calls of our tools are executed. */
  runningCommands: Promise<void> | null;
};

/** A request, and whether its body may still be read: its answer is over, and all bytes have left. */
export type LastRequest = {
  readonly id: string;
  readonly request: WireRequest;
  isOver: boolean;
  hasLeft: boolean;
};

export type LiveStreamInput = {
  readonly protocol: Protocol;
  readonly key: string;
  readonly session: string;
  readonly generatedName: string | null;
  readonly nonce: string;
  readonly wasManaged: boolean | "unknown";
  readonly isLookedUp: boolean;
  readonly recordVersion: number;
  /** Numbers the blocks of the session; null if the log has to be asked first. */
  readonly sessionNumbers: SessionNumbers | null;
};

const none = { blocks: 0, tokens: 0 } as const;

export function openLiveStream({ sessionNumbers, ...known }: LiveStreamInput): LiveStream {
  const { protocol, nonce, wasManaged } = known;
  const numbers = new StreamNumbers(sessionNumbers);
  return {
    ...known,
    numbers,
    ledger: new StreamLedger({ protocol, nonce, isNew: wasManaged === false, numbers }),
    isUnnumbered: false,
    wishes: null,
    recentBlocks: [],
    recentTotals: { front: none, rest: none },
    isFullyCounted: false,
    notedExpiries: new Set(),
    namesSeq: 0,
    changesSeq: 0,
    manifestSpend: { turns: 0, tokens: 0 },
    isManaged: false,
    isPassThrough: false,
    lastRequest: null,
    lastMs: 0,
    openRequests: new Map(),
    countedPrompt: null,
    freed: { turn: 0, tokens: 0 },
    takesProviderEdits: true,
    levelWishes: new Map(),
    hasNewWishes: false,
    isUrgent: false,
    held: new Set(),
    memories: [],
    withheld: new Map(),
    commandResults: new Map(),
    runningCommands: null,
  };
}

export function setWithheld(stream: LiveStream, withheld: WithheldContent): void {
  if (isSameWithheld(stream.withheld, withheld)) return;
  // A result that the model has not read yet may quote the withheld content.
  if ([...withheld.keys()].some((key) => !stream.withheld.has(key))) stream.commandResults.clear();
  stream.withheld = withheld;
  stream.ledger.setWithheld(withheld);
}

/**
 * The upstream accepts the client's version and not ours: ours is not tried again until the user sets a mode.
 */
export function stopManaging(
  stream: LiveStream,
  { noteRefused }: { readonly noteRefused?: () => void },
): void {
  stream.isPassThrough = true;
  noteRefused?.();
}

/** Forgets every sent unit: the next request is rendered from scratch, without old reasoning. */
export function resetLedger(stream: LiveStream): void {
  const { protocol, nonce, numbers } = stream;
  stream.ledger = new StreamLedger({ protocol, nonce, isNew: false, numbers });
  stream.ledger.setWithheld(stream.withheld);
  stream.wasManaged = true;
  stream.countedPrompt = null;
  stream.lastRequest = null;
}

/**
 * Starts managing a stream that was only observed. Its numbers are outdated: requests have passed unchanged
 * since they were read, and the log may even have recorded those in another session. The client's messages
 * are taken as they are, and the log is asked again for their numbers.
 */
export function forgetObserved(stream: LiveStream): void {
  const { protocol, nonce } = stream;
  stream.numbers = new StreamNumbers(null);
  stream.ledger = new StreamLedger({ protocol, nonce, isNew: true, numbers: stream.numbers });
  stream.ledger.setWithheld(stream.withheld);
  stream.countedPrompt = null;
}
