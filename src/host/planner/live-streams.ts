import { sha256Hex } from "../../base/index.ts";
import { type RequestIdentity, type RequestMeta, streamKeyOf } from "../../exchange/index.ts";
import { countKnownUnits, laterNumbers, memoryBytes, type SessionNumbers } from "../../ledger/index.ts";
import type { AnswerUnit, WireRequest } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";

const streamsMax = 512;
const bytesMax = 256 * 1024 * 1024;
const answersMax = 10_000;
/**
 * Streams are dropped after this many lookups; a new stream counts as several. Measuring all streams is slow.
 */
const makeRoomEvery = 64;
const newWeight = 8;
/** A request without a session name is compared with this many conversations that begin like it. */
const candidatesMax = 16;

/** The streams that a planner holds in memory; the least recently used are dropped first. */
export class LiveStreams {
  readonly #streams = new Map<string, LiveStream>();
  readonly #bySession = new Map<string, Set<LiveStream>>();
  /** Streams whose client names no session, by caller and first unit. */
  readonly #unnamed = new Map<string, LiveStream[]>();
  readonly #lastByCaller = new Map<string, LiveStream>();
  /** Streams by their latest answers, which tell apart conversations that begin alike. */
  readonly #byAnswer = new Map<string, LiveStream>();
  /** Keys of streams that were ever managed. They stay when the streams are dropped. */
  readonly #managed = new Set<string>();

  #sinceMakeRoom = 0;

  /** The likely predecessor of a request whose body is not parsed yet: parsing takes over unchanged parts. */
  previousRequest(meta: RequestMeta, named: RequestIdentity): WireRequest | null {
    const stream =
      named.sessionKey === null
        ? this.#lastByCaller.get(callerOf(meta))
        : this.#streams.get(keyOfRequest(meta, named));
    return stream?.lastRequest?.wire ?? null;
  }

  find(meta: RequestMeta, identity: RequestIdentity, request: WireRequest): LiveStream | null {
    const stream =
      identity.sessionKey === null
        ? this.#findByHistory(meta, request)
        : (this.#streams.get(keyOfRequest(meta, identity)) ?? null);
    this.#countLookup(1);
    if (stream !== null) {
      this.#streams.delete(stream.key);
      this.#streams.set(stream.key, stream);
      this.#lastByCaller.set(callerOf(meta), stream);
    }
    return stream;
  }

  add(meta: RequestMeta, request: WireRequest, stream: LiveStream): void {
    this.#streams.set(stream.key, stream);
    this.#bySession.set(stream.session, new Set([...this.inSession(stream.session), stream]));
    this.#lastByCaller.set(callerOf(meta), stream);
    if (stream.generatedName !== null) {
      const name = startKey(meta, request);
      this.#unnamed.set(name, [stream, ...(this.#unnamed.get(name) ?? [])]);
    }
    this.#countLookup(newWeight);
  }

  get(key: string): LiveStream | null {
    return this.#streams.get(key) ?? null;
  }

  /** The live streams of a session. */
  inSession(session: string): readonly LiveStream[] {
    return [...(this.#bySession.get(session) ?? [])].filter((stream) => this.has(stream));
  }

  /** The newest numbers of a session, if one of its live streams has them. */
  numbersOf(session: string): SessionNumbers | null {
    let newest: SessionNumbers | null = null;
    for (const { ledger } of this.inSession(session)) {
      const known = ledger.numbers.session;
      if (known !== null) newest = newest === null ? known : laterNumbers(newest, known);
    }
    return newest;
  }

  /** Adds a stream again that was forgotten, unless another has its key by now. */
  restore(meta: RequestMeta, request: WireRequest, stream: LiveStream): void {
    this.noteManaged(stream);
    if (!this.#streams.has(stream.key)) this.add(meta, request, stream);
  }

  has(stream: LiveStream): boolean {
    return this.#streams.get(stream.key) === stream;
  }

  noteManaged(stream: LiveStream): void {
    this.#managed.add(stream.key);
  }

  wasManaged(key: string): boolean {
    return this.#managed.has(key);
  }

  noteAnswer(meta: RequestMeta, stream: LiveStream, units: readonly AnswerUnit[]): void {
    const last = units.at(-1);
    if (stream.generatedName === null || last === undefined) return;
    this.#byAnswer.set(`${callerOf(meta)} ${last.unit.key}`, stream);
    const [oldest] = this.#byAnswer.keys();
    if (this.#byAnswer.size > answersMax && oldest !== undefined) this.#byAnswer.delete(oldest);
  }

  /**
   * Finds the stream of a request without a session name by its history. A request that repeats an answer
   * continues that conversation. A request without answers is a repetition if the same one is still open;
   * otherwise it begins a new conversation.
   */
  #findByHistory(meta: RequestMeta, request: WireRequest): LiveStream | null {
    const alike = this.#unnamed.get(startKey(meta, request)) ?? [];
    const firstAnswer = request.messages.findIndex(({ role }) => role === "assistant");
    if (firstAnswer === -1)
      return (
        alike.find(({ openRequests }) =>
          [...openRequests.values()].some((units) => isSame(units, request.messageKeys)),
        ) ?? null
      );
    const unitsBefore = request.messages
      .slice(0, firstAnswer)
      .reduce((sum, { units }) => sum + units.length, 0);
    const byAnswer = this.#findByAnswer(meta, request);
    const likely = new Set([
      ...alike.filter((stream) => stream === byAnswer),
      ...alike.slice(0, candidatesMax),
    ]);
    let best: { readonly stream: LiveStream; readonly known: number } | null = null;
    for (const stream of likely) {
      const known = countKnownUnits(stream.ledger, request);
      if (known > unitsBefore && known > (best?.known ?? 0)) best = { stream, known };
    }
    return best?.stream ?? null;
  }

  #findByAnswer(meta: RequestMeta, { messages }: WireRequest): LiveStream | null {
    const unit = messages.findLast(({ role }) => role === "assistant")?.units.at(-1);
    return unit === undefined ? null : (this.#byAnswer.get(`${callerOf(meta)} ${unit.key}`) ?? null);
  }

  #countLookup(weight: number): void {
    this.#sinceMakeRoom += weight;
    if (this.#sinceMakeRoom < makeRoomEvery) return;
    this.#sinceMakeRoom = 0;
    this.#makeRoom();
  }

  /** Streams with open requests stay; the others can be restored from the log. */
  #makeRoom(): void {
    const streams = [...this.#streams.values()];
    let bytes = streams.reduce((sum, stream) => sum + sizeOf(stream), 0);
    for (const stream of streams) {
      if (this.#streams.size <= streamsMax && bytes <= bytesMax) return;
      if (stream.openRequests.size > 0 || stream === streams.at(-1)) continue;
      bytes -= sizeOf(stream);
      this.forget(stream);
    }
  }

  forget(stream: LiveStream): void {
    this.#streams.delete(stream.key);
    const others = new Set(this.inSession(stream.session).filter((one) => one !== stream));
    if (others.size === 0) this.#bySession.delete(stream.session);
    else this.#bySession.set(stream.session, others);
    for (const [name, sameStart] of this.#unnamed) {
      const left = sameStart.filter((one) => one !== stream);
      if (left.length === 0) this.#unnamed.delete(name);
      else if (left.length < sameStart.length) this.#unnamed.set(name, left);
    }
    for (const map of [this.#lastByCaller, this.#byAnswer]) {
      for (const [name, one] of map) if (one === stream) map.delete(name);
    }
  }
}

export function keyOfRequest({ caller, upstream }: RequestMeta, identity: RequestIdentity): string {
  return streamKeyOf({ owner: caller.owner, upstream, ...identity });
}

function callerOf({ caller, upstream }: RequestMeta): string {
  return `${caller.credential} ${upstream}`;
}

function startKey(meta: RequestMeta, request: WireRequest): string {
  return `${callerOf(meta)} ${sha256Hex(request.messageKeys[0] ?? "")}`;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, at) => key === b[at]);
}

function sizeOf({ lastRequest, ledger }: LiveStream): number {
  return (lastRequest?.wire.bytes.length ?? 0) + memoryBytes(ledger);
}

/** The user wants the stream observed only. A stream without wishes follows the others of its session. */
export function isObserved({ wishes: { latest } }: LiveStream, inSession: Iterable<LiveStream>): boolean {
  if (latest !== null) return latest.mode === "observe";
  for (const { wishes } of inSession) {
    if (wishes.latest !== null) return wishes.latest.mode === "observe";
  }
  return false;
}
