import { sha256Hex } from "../../base/index.ts";
import type { AnswerUnit, WireRequest } from "../../protocols/index.ts";
import type { Asking } from "../desk-port.ts";
import { type Belonging, lineName } from "../record/identify.ts";
import type { Line } from "./line.ts";
import type { SessionNumbers } from "./numbers.ts";

const linesMax = 512;
const bytesMax = 256 * 1024 * 1024;
const answersMax = 10_000;
/** Room is made after so many requests, or so many new streams: to look at all streams takes a while. */
const lookEvery = 64;
const newWeight = 8;
/** Talks that begin alike and are looked at for one that names no session. */
const candidatesMax = 16;

/** The streams a desk has in memory; those not heard of for the longest time leave first. */
export class Lines {
  readonly #lines = new Map<string, Line>();
  /** Talks without a name, by who leads them and how they begin. */
  readonly #talks = new Map<string, Line[]>();
  readonly #lastOf = new Map<string, Line>();
  /** Which talk an answer was given in: what tells apart talks that begin alike. */
  readonly #byAnswer = new Map<string, Line>();
  /** Streams that something of ours was sent for. Their names stay when they leave. */
  readonly #managed = new Set<string>();

  #sinceRoom = 0;

  /** The request to take unchanged parts over from, as far as that can be known before the body is read. */
  previous(asking: Asking, named: Belonging): WireRequest | null {
    const line =
      named.sessionKey === null ? this.#lastOf.get(callerOf(asking)) : this.#lines.get(keyOf(asking, named));
    return line?.last?.request ?? null;
  }

  find(asking: Asking, belonging: Belonging, request: WireRequest): Line | null {
    const line =
      belonging.sessionKey === null
        ? this.#talk(asking, request)
        : (this.#lines.get(keyOf(asking, belonging)) ?? null);
    this.#looked(1);
    if (line !== null) {
      this.#lines.delete(line.key);
      this.#lines.set(line.key, line);
      this.#lastOf.set(callerOf(asking), line);
    }
    return line;
  }

  add(asking: Asking, request: WireRequest, line: Line): void {
    this.#lines.set(line.key, line);
    this.#lastOf.set(callerOf(asking), line);
    if (line.talkName !== null) {
      const name = beginning(asking, request);
      this.#talks.set(name, [line, ...(this.#talks.get(name) ?? [])]);
    }
    this.#looked(newWeight);
  }

  get(key: string): Line | null {
    return this.#lines.get(key) ?? null;
  }

  /** Where the numbers of a session come from, if any of its streams is here and numbered. */
  numbersOf(session: string): SessionNumbers | null {
    for (const line of this.#lines.values()) {
      if (line.session === session && line.numbers.source !== null) return line.numbers.source;
    }
    return null;
  }

  /** Takes a line back that was forgotten, unless another has taken its place. */
  keep(asking: Asking, request: WireRequest, line: Line): void {
    this.noteManaged(line);
    if (!this.#lines.has(line.key)) this.add(asking, request, line);
  }

  has(line: Line): boolean {
    return this.#lines.get(line.key) === line;
  }

  all(): Iterable<Line> {
    return this.#lines.values();
  }

  change(key: string, change: (line: Line) => void): void {
    const line = this.#lines.get(key);
    if (line !== undefined) change(line);
  }

  noteManaged(line: Line): void {
    this.#managed.add(line.key);
  }

  wasManaged(key: string): boolean {
    return this.#managed.has(key);
  }

  noteAnswer(asking: Asking, line: Line, units: readonly AnswerUnit[]): void {
    const said = units.at(-1);
    if (line.talkName === null || said === undefined) return;
    this.#byAnswer.set(`${callerOf(asking)} ${said.unit.key}`, line);
    const [oldest] = this.#byAnswer.keys();
    if (this.#byAnswer.size > answersMax && oldest !== undefined) this.#byAnswer.delete(oldest);
  }

  /**
   * Without a name only the history tells. A talk goes on where the model's words are repeated; a question
   * that has no answer yet and is asked again is the same one, one that was answered begins a new talk.
   */
  #talk(asking: Asking, request: WireRequest): Line | null {
    const alike = this.#talks.get(beginning(asking, request)) ?? [];
    const said = request.messages.findIndex(({ role }) => role === "assistant");
    if (said === -1)
      return alike.find(({ open }) => [...open.values()].some((talk) => isSame(talk, request.talk))) ?? null;
    const spoken = request.messages.slice(0, said).reduce((sum, { units }) => sum + units.length, 0);
    const answered = this.#answeredIn(asking, request);
    const likely = new Set([...alike.filter((line) => line === answered), ...alike.slice(0, candidatesMax)]);
    let best: { readonly line: Line; readonly known: number } | null = null;
    for (const line of likely) {
      const known = line.ledger.knows(request);
      if (known > spoken && known > (best?.known ?? 0)) best = { line, known };
    }
    return best?.line ?? null;
  }

  #answeredIn(asking: Asking, { messages }: WireRequest): Line | null {
    const unit = messages.findLast(({ role }) => role === "assistant")?.units.at(-1);
    return unit === undefined ? null : (this.#byAnswer.get(`${callerOf(asking)} ${unit.key}`) ?? null);
  }

  #looked(weight: number): void {
    this.#sinceRoom += weight;
    if (this.#sinceRoom < lookEvery) return;
    this.#sinceRoom = 0;
    this.#makeRoom();
  }

  /** Requests in flight keep their line; what leaves can be remembered from the log. */
  #makeRoom(): void {
    const lines = [...this.#lines.values()];
    let bytes = lines.reduce((sum, line) => sum + sizeOf(line), 0);
    for (const line of lines) {
      if (this.#lines.size <= linesMax && bytes <= bytesMax) return;
      if (line.open.size > 0 || line === lines.at(-1)) continue;
      bytes -= sizeOf(line);
      this.forget(line);
    }
  }

  forget(line: Line): void {
    this.#lines.delete(line.key);
    for (const [name, talks] of this.#talks) {
      const left = talks.filter((one) => one !== line);
      if (left.length === 0) this.#talks.delete(name);
      else if (left.length < talks.length) this.#talks.set(name, left);
    }
    for (const map of [this.#lastOf, this.#byAnswer]) {
      for (const [name, one] of map) if (one === line) map.delete(name);
    }
  }
}

export function keyOf({ caller, upstream }: Asking, belonging: Belonging): string {
  return lineName({ owner: caller.owner, upstream, ...belonging });
}

function callerOf({ caller, upstream }: Asking): string {
  return `${caller.credential} ${upstream}`;
}

function beginning(asking: Asking, { talk }: WireRequest): string {
  return `${callerOf(asking)} ${sha256Hex(talk[0] ?? "")}`;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, at) => key === b[at]);
}

function sizeOf({ last, ledger }: Line): number {
  return (last?.request.bytes.length ?? 0) + ledger.bytes();
}
