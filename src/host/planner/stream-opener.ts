import type {
  RequestIdentity,
  RequestMeta,
  StreamLookup,
  StreamRecord,
  TurnRecord,
} from "../../exchange/index.ts";
import {
  clientUnits,
  type OriginalLookup,
  promptCountOf,
  SessionNumbers,
  type TurnToRestore,
} from "../../ledger/index.ts";
import { protocolOf, unitBytes, type WireRequest } from "../../protocols/index.ts";
import { applyWishes } from "./awareness.ts";
import { type LiveStream, openLiveStream, resetLedger, setWithheld } from "./live-stream.ts";
import { keyOfRequest, type LiveStreams } from "./live-streams.ts";
import { lookupOf, type ReceivedRequest } from "./read-request.ts";
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
  readonly sessionNumbers: SessionNumbers | null;
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
  canNumber({ meta, identity }: ReceivedRequest): boolean {
    return identity.sessionKey === null || this.#streams.numbersOf(sessionOf(meta, identity)) !== null;
  }

  /** Opens the stream of a conversation that begins with this request. */
  openNew(received: ReceivedRequest): LiveStream {
    const { meta, identity } = received;
    const isNameless = identity.sessionKey === null;
    const known = isNameless ? null : this.#streams.numbersOf(sessionOf(meta, identity));
    const sessionNumbers = isNameless ? new SessionNumbers() : known;
    return this.#open(received, {
      wasManaged: false,
      generatedName: null,
      isLookedUp: false,
      sessionNumbers,
    });
  }

  /** Asks the log for the stream. Requests of one stream that come meanwhile wait for the same answer. */
  openFromLog(received: ReceivedRequest): Promise<LiveStream> {
    const { meta, identity, request } = received;
    const key = keyOfRequest(meta, identity);
    const history = identity.sessionKey === null ? [meta.caller.credential, ...request.messageKeys] : [];
    const name = [key, ...history].join(" ");
    const pending = this.#lookups.get(name);
    if (pending !== undefined) return pending;
    const lookup = this.#deps.lookUpStream(lookupOf(received));
    const stream = this.#openWhenAnswered(received, lookup);
    this.#lookups.set(name, stream);
    void Promise.allSettled([lookup, stream]).then(() => this.#lookups.delete(name));
    return stream;
  }

  /**
   * Asks the log for the numbers of a stream that began without them. Units sent before the answer get their
   * numbers from the log, so the log is asked once more with the next turn.
   */
  requestNumbers(stream: LiveStream, received: ReceivedRequest): void {
    const isNumbered = stream.numbers.isReady && !stream.isUnnumbered;
    if (isNumbered || this.#lookups.has(stream.key)) return;
    stream.isUnnumbered = false;
    const numbered = this.#deps.lookUpStream(lookupOf(received)).then(
      // A log that has not recorded the requests before cannot number what follows them.
      (record) => (record === null ? undefined : this.#applyRecord(stream, record)),
      () => undefined,
    );
    this.#lookups.set(
      stream.key,
      numbered.then(() => stream),
    );
    void numbered.then(() => this.#lookups.delete(stream.key));
  }

  /**
   * Asks the log for the wishes of a stream that passes unchanged, so that the log reports it from now on.
   */
  requestWishes(stream: LiveStream, received: ReceivedRequest): void {
    if (stream.wishes !== null) return;
    stream.isUnnumbered = true;
    this.requestNumbers(stream, received);
  }

  /** Numbers the stream and applies the log's wishes; a stream without a record starts its own numbers. */
  #applyRecord(stream: LiveStream, record: StreamRecord | null): void {
    const session = this.#streams.numbersOf(stream.session) ?? new SessionNumbers(record?.nextIds);
    stream.numbers.load(session, record?.blocks ?? []);
    if (record !== null) stream.ledger.advanceTurn(record.lastTurn);
    const wishes = record?.wishes ?? null;
    if (wishes !== null) applyWishes(stream, wishes, this.#withheld);
    stream.ledger.renumber();
  }

  /** An answer that is too late for this request serves the next, unless a request was sent meanwhile. */
  async #openWhenAnswered(
    received: ReceivedRequest,
    lookup: Promise<StreamRecord | null>,
  ): Promise<LiveStream> {
    const isFirst = isFirstRequest(received);
    const answer = await orLate(
      this.#deps.deadlineMs ?? (isFirst ? firstDeadlineMs : usualDeadlineMs),
      lookup,
    );
    if (answer !== "late") return this.#openRecorded(received, answer);
    if (isFirst) return this.openNew(received);
    const wasManagedHere = this.#streams.wasManaged(keyOfRequest(received.meta, received.identity));
    const wasManaged = wasManagedHere ? true : "unknown";
    const unsure = this.#open(received, {
      wasManaged,
      generatedName: null,
      isLookedUp: false,
      sessionNumbers: null,
    });
    this.#streams.forget(unsure);
    const keepLate = (late: StreamRecord | null): void => {
      if (!this.#streams.has(unsure)) this.#openRecorded(received, late);
    };
    lookup.then(keepLate, () => undefined);
    return unsure;
  }

  #openRecorded(received: ReceivedRequest, record: StreamRecord | null): LiveStream {
    const { meta, identity } = received;
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
    const stream = this.#open(received, { wasManaged, generatedName, isLookedUp, sessionNumbers: null });
    try {
      if (isLookedUp) restoreStream(stream, record);
    } catch {
      // A record that cannot be restored is dropped.
      resetLedger(stream);
    }
    this.#applyRecord(stream, record);
    return stream;
  }

  #open(received: ReceivedRequest, start: StreamStart): LiveStream {
    const { meta, request, identity } = received;
    const generatedName =
      identity.sessionKey === null ? (start.generatedName ?? this.#deps.newSessionName()) : null;
    const named = { ...identity, sessionKey: identity.sessionKey ?? generatedName };
    const key = keyOfRequest(meta, named);
    const { wasManaged, sessionNumbers } = start;
    // A conversation without a name is recognised by its answers, so one without answers is new.
    const isLookedUp = start.isLookedUp || (generatedName !== null && isFirstRequest(received));
    const [nonce, recordVersion] = [this.#deps.nonceOf(key), this.#deps.recordVersionOf(key)];
    const session = sessionOf(meta, named);
    const stream = openLiveStream({
      protocol: protocolOf(request),
      key,
      session,
      generatedName,
      nonce,
      wasManaged,
      isLookedUp,
      recordVersion,
      sessionNumbers,
    });
    stream.isFullyCounted = isFirstRequest(received);
    // This applies until the log reports its wishes. A new conversation without a name cannot be an old one.
    if (identity.sessionKey !== null || !isFirstRequest(received))
      setWithheld(stream, this.#withheld.forRequest(meta, identity));
    this.#streams.add(meta, request, stream);
    return stream;
  }
}

/** The model has not answered in this conversation yet. */
export function isFirstRequest({ request }: ReceivedRequest): boolean {
  return !request.messages.some(({ role }) => role === "assistant");
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

/** Restores the recorded turns of a stream into its ledger. Turns that cannot be read count as never sent. */
function restoreStream(stream: LiveStream, { turns, wasManaged }: StreamRecord): void {
  stream.wasManaged = wasManaged;
  stream.isManaged = wasManaged;
  const parsed = turns.flatMap((turn) => {
    const request: WireRequest | null = stream.protocol.read.request(turn.body, null);
    return request === null ? [] : [{ ...turn, request }];
  });
  const originalOf = originalsIn(parsed.map(({ request }) => request));
  for (const turn of parsed) restoreTurn(stream, { ...turn, findOriginal: originalOf });
}

type RestoredTurn = TurnRecord & TurnToRestore;

function restoreTurn(stream: LiveStream, { answer, ...turn }: RestoredTurn): void {
  const { ledger } = stream;
  const leaf = ledger.restoreTurn(turn);
  if (leaf === null || answer === null) return;
  const { units, usage } = stream.protocol.answer.read(answer.body, answer.contentType);
  stream.countedPrompt = promptCountOf(usage, leaf) ?? stream.countedPrompt;
  ledger.addAnswer(leaf, units);
}

/**
 * Finds the original of a rewritten unit in an earlier request of the stream. The index is built on first
 * use.
 */
function originalsIn(requests: readonly WireRequest[]): OriginalLookup {
  let units: ReadonlyMap<string, () => Uint8Array> | null = null;
  return (content) => {
    units ??= new Map(requests.flatMap(unitsByHash));
    return units.get(content)?.() ?? null;
  };
}

function unitsByHash(request: WireRequest): readonly (readonly [string, () => Uint8Array])[] {
  return clientUnits(request, 0).map(({ unit, group }) => [
    unit.hash,
    () => Uint8Array.from(unitBytes(request.bytes, group.range.start, unit)),
  ]);
}
