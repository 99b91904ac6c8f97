import type { RequestIdentity, RequestMeta, StreamLookup, StreamRecord } from "../../exchange/index.ts";
import {
  renumber,
  resetStream,
  restoreTurns,
  type SessionNumbers,
  sessionNumbers,
} from "../../ledger/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { applyWishes, type LiveStream, openLiveStream } from "./live-stream.ts";
import { keyOfRequest, type LiveStreams } from "./live-streams.ts";
import { lookupOf, type Request } from "./read-request.ts";
import { WithheldRegistry } from "./withheld-registry.ts";

export type StreamOpenerDeps = {
  /** The word that marks our notes in a stream: always the same for one key, and impossible to guess. */
  readonly nonceOf: (key: string) => string;
  readonly newSessionName: () => string;
  /** Asks the log for a stream. Rejects or never settles if the log cannot answer. */
  readonly lookUpStream: (question: StreamLookup) => Promise<StreamRecord | null>;
  /**
   * Changes whenever the log may have lost something of a stream, so that the ledger reports all of it again.
   */
  readonly recordVersionOf: (key: string) => number;
  /** How long a request waits for the log. */
  readonly deadlineMs?: number;
  /** Content that is known to be withheld before the log is asked. */
  readonly withheld?: WithheldRegistry;
};

const usualDeadlineMs = 250;
/** A new conversation loses only the numbers of its first blocks if the log is late. */
const firstDeadlineMs = 50;

type StreamStart = {
  readonly wasManaged: boolean | "unknown";
  readonly generatedName: string | null;
  readonly isLookedUp: boolean;
  /** Null if the log has to be asked for the numbers. */
  readonly numbers: SessionNumbers | null;
};

/** Opens live streams for requests whose stream is not in memory, from the log if it knows them. */
export class StreamOpener {
  readonly #deps: StreamOpenerDeps;
  readonly #streams: LiveStreams;
  readonly #withheld: WithheldRegistry;
  readonly #lookups = new Map<string, Promise<LiveStream>>();

  constructor(deps: StreamOpenerDeps, streams: LiveStreams) {
    this.#deps = deps;
    this.#streams = streams;
    this.#withheld = deps.withheld ?? new WithheldRegistry([]);
  }

  /** A new stream of this request can be numbered without asking the log. */
  canNumber({ meta, identity }: Request): boolean {
    return identity.sessionKey === null || this.#streams.numbersOf(sessionOf(meta, identity)) !== null;
  }

  /** Opens the stream of a conversation that begins with this request. */
  openNew(request: Request): LiveStream {
    const { meta, identity } = request;
    const isNameless = identity.sessionKey === null;
    const known = isNameless ? null : this.#streams.numbersOf(sessionOf(meta, identity));
    const numbers = isNameless ? sessionNumbers() : known;
    return this.#open(request, { wasManaged: false, generatedName: null, isLookedUp: false, numbers });
  }

  /** Asks the log for the stream. Requests of one stream that come meanwhile wait for the same answer. */
  openFromLog(request: Request): Promise<LiveStream> {
    const { meta, identity, wire } = request;
    const key = keyOfRequest(meta, identity);
    const history = identity.sessionKey === null ? [meta.caller.credential, ...wire.messageKeys] : [];
    const name = [key, ...history].join(" ");
    const pending = this.#lookups.get(name);
    if (pending !== undefined) return pending;
    const lookup = this.#deps.lookUpStream(lookupOf(request));
    const stream = this.#openWhenAnswered(request, lookup);
    this.#lookups.set(name, stream);
    void Promise.allSettled([lookup, stream]).then(() => this.#lookups.delete(name));
    return stream;
  }

  /**
   * Asks the log for the numbers of a stream that began without them. Units sent before the answer get their
   * numbers from the log, so the log is asked once more with the next turn.
   */
  requestNumbers(live: LiveStream, request: Request): void {
    const isNumbered = live.ledger.numbers.session !== null && !live.isUnnumbered;
    if (isNumbered || this.#lookups.has(live.key)) return;
    live.isUnnumbered = false;
    const numbered = this.#deps.lookUpStream(lookupOf(request)).then(
      // A log that has not recorded the requests before cannot number what follows them.
      (record) => (record === null ? undefined : this.#applyRecord(live, record)),
      () => undefined,
    );
    this.#lookups.set(
      live.key,
      numbered.then(() => live),
    );
    void numbered.then(() => this.#lookups.delete(live.key));
  }

  /**
   * Asks the log for the wishes of a stream that passes unchanged, so that the log reports it from now on.
   */
  requestWishes(live: LiveStream, request: Request): void {
    if (live.wishes.latest !== null) return;
    live.isUnnumbered = true;
    this.requestNumbers(live, request);
  }

  /** Numbers the stream and applies the log's wishes; a stream without a record starts its own numbers. */
  #applyRecord(live: LiveStream, record: StreamRecord | null): void {
    const session = this.#streams.numbersOf(live.session) ?? sessionNumbers(record?.nextIds);
    const { blocks = [], lastTurn = 0, wishes = null } = record ?? {};
    if (wishes !== null) applyWishes(live, wishes, this.#withheld.ofWishes(wishes));
    live.ledger = renumber(live.ledger, { session, blocks, lastTurn });
  }

  /** An answer that is too late for this request serves the next, unless a request was sent meanwhile. */
  async #openWhenAnswered(request: Request, lookup: Promise<StreamRecord | null>): Promise<LiveStream> {
    const { meta, identity, isFirst } = request;
    const deadlineMs = this.#deps.deadlineMs ?? (isFirst ? firstDeadlineMs : usualDeadlineMs);
    const answer = await orLate(deadlineMs, lookup);
    if (answer !== "late") return this.#openRecorded(request, answer);
    if (isFirst) return this.openNew(request);
    const wasManaged = this.#streams.wasManaged(keyOfRequest(meta, identity)) ? true : "unknown";
    const start = { wasManaged, generatedName: null, isLookedUp: false, numbers: null } as const;
    const unsure = this.#open(request, start);
    this.#streams.forget(unsure);
    const keepLate = (late: StreamRecord | null): void => {
      if (!this.#streams.has(unsure)) this.#openRecorded(request, late);
    };
    lookup.then(keepLate, () => undefined);
    return unsure;
  }

  #openRecorded(request: Request, record: StreamRecord | null): LiveStream {
    const { meta, identity } = request;
    const wasManagedHere = this.#streams.wasManaged(keyOfRequest(meta, identity));
    const wasManaged = record?.wasManaged ?? wasManagedHere;
    const generatedName = record?.generatedName ?? null;
    // A stream that the log does not know may be one whose record was lost.
    const isLookedUp = record?.isKnown === true;
    // Another request of the same conversation, with another history, may have opened it meanwhile.
    const sessionKey = identity.sessionKey ?? generatedName;
    const open =
      sessionKey === null ? null : this.#streams.get(keyOfRequest(meta, { ...identity, sessionKey }));
    if (open !== null) return open;
    const live = this.#open(request, { wasManaged, generatedName, isLookedUp, numbers: null });
    if (isLookedUp) restoreRecord(live, record);
    this.#applyRecord(live, record);
    return live;
  }

  #open(request: Request, start: StreamStart): LiveStream {
    const { meta, wire, identity, isFirst } = request;
    const isNameless = identity.sessionKey === null;
    const generatedName = isNameless ? (start.generatedName ?? this.#deps.newSessionName()) : null;
    const named = { ...identity, sessionKey: identity.sessionKey ?? generatedName };
    const key = keyOfRequest(meta, named);
    const live = openLiveStream({
      key,
      session: sessionOf(meta, named),
      generatedName,
      wasManaged: start.wasManaged,
      // A conversation without a name is recognised by its answers, so one without answers is new.
      isLookedUp: start.isLookedUp || (isNameless && isFirst),
      recordVersion: this.#deps.recordVersionOf(key),
      // This applies until the log reports its wishes. A new conversation without a name withholds nothing.
      withheld: isNameless && isFirst ? new Map() : this.#withheld.forRequest(meta, identity),
      ledger: {
        protocol: protocolOf(wire),
        nonce: this.#deps.nonceOf(key),
        session: start.numbers,
        isComplete: isFirst,
      },
    });
    this.#streams.add(meta, wire, live);
    return live;
  }
}

/** The key of a session, which all its streams share. */
function sessionOf(meta: RequestMeta, identity: RequestIdentity): string {
  return keyOfRequest(meta, { ...identity, agent: null });
}

function orLate<T>(ms: number, promise: Promise<T>): Promise<T | "late"> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("late"), ms);
    promise.then(resolve, () => resolve("late")).finally(() => clearTimeout(timer));
  });
}

/** Restores the recorded turns of a stream into its ledger. A record that cannot be restored is dropped. */
function restoreRecord(live: LiveStream, { turns, wasManaged }: StreamRecord): void {
  live.wasManaged = wasManaged;
  live.isManaged = wasManaged;
  try {
    live.ledger = restoreTurns(live.ledger, turns);
  } catch {
    live.ledger = resetStream(live.ledger);
    live.wasManaged = true;
  }
}
