import { turnOf } from "../base/index.ts";
import type { BlockKind, NextIds } from "../engine/frames/index.ts";
import type { KnownBlock, NumberedBlock } from "../exchange/index.ts";
import { ttlOf } from "../policy/index.ts";
import { BlocksByKey, type KeyedBlock } from "./blocks-by-key.ts";

type NumberedItem = keyof NextIds;
type NumberRange = { readonly next: number; readonly end: number };
type NumberRanges = Readonly<Record<NumberedItem, NumberRange>>;

const claimSize = 1_000;

/**
 * The next numbers of a session's blocks and messages, for all its streams. The planner claims every other
 * thousand. The ranges between belong to the log, which numbers unplanned requests, so neither has to ask the
 * other. The first thousand belongs to the first of them that needs it.
 */
export type SessionNumbers = { readonly nextClaim: Readonly<Record<NumberedItem, number>> };

/** Starts at 1 for a new session, else after all numbers that the log has. */
export function sessionNumbers({ block, message }: NextIds = { block: 1, message: 1 }): SessionNumbers {
  return { nextClaim: { block: firstEvenClaim(block), message: firstEvenClaim(message) } };
}

/** The first even claim that starts at or after a number. */
function firstEvenClaim(next: number): number {
  const claim = Math.ceil((next - 1) / claimSize);
  return claim + (claim % 2);
}

/** Joins two values of one session: a number is free only if both know it as free. */
export function laterNumbers(one: SessionNumbers, other: SessionNumbers): SessionNumbers {
  const [a, b] = [one.nextClaim, other.nextClaim];
  return { nextClaim: { block: Math.max(a.block, b.block), message: Math.max(a.message, b.message) } };
}

/**
 * The numbers of one stream's blocks. The nth unit with the same key on a path is the same block on every
 * path. The log counts the same way.
 */
export type StreamNumbers = {
  /** Null if the session's next numbers are not known. Nothing is numbered until then. */
  readonly session: SessionNumbers | null;
  readonly known: BlocksByKey;
  readonly ranges: NumberRanges;
};

const emptyRange: NumberRange = { next: 0, end: 0 };
const emptyRanges: NumberRanges = { block: emptyRange, message: emptyRange };

export function streamNumbers(session: SessionNumbers | null): StreamNumbers {
  return { session, known: BlocksByKey.empty(), ranges: emptyRanges };
}

/** Stops numbering after a request that the log numbers: its numbers must be loaded before any others. */
export function withoutSession({ known }: StreamNumbers): StreamNumbers {
  return { session: null, known, ranges: emptyRanges };
}

/** Starts numbering with the blocks that the log has. Of equal keys the log's blocks come first. */
export function loadNumbers(
  { session, known, ranges }: StreamNumbers,
  loaded: SessionNumbers,
  blocks: readonly KeyedBlock[],
): StreamNumbers {
  return {
    session: session ?? loaded,
    known: BlocksByKey.empty()
      .with(blocks)
      .with([...known]),
    ranges,
  };
}

/** A unit of a request or an answer that gets a number. */
type UnnumberedBlock = { readonly key: string; readonly kind: BlockKind; readonly tokens: number };

/** Numbers for the blocks of one request or answer, given in order. */
export class NumberDraft {
  readonly #numbers: StreamNumbers;
  readonly #turn: number;
  readonly #given: KeyedBlock[] = [];
  #session: SessionNumbers | null;
  #ranges: NumberRanges;
  #message: number | null = null;

  constructor(numbers: StreamNumbers, turn: number) {
    this.#numbers = numbers;
    this.#turn = turn;
    this.#session = numbers.session;
    this.#ranges = numbers.ranges;
  }

  /** Whether a block with this key is known. Most keys are new, so their copies need not be counted. */
  hasKey(key: string): boolean {
    return this.#numbers.known.has(key);
  }

  /** The next block is the first of a message. */
  openMessage(): void {
    this.#message = null;
  }

  /** `nth` counts the same key on the path before it. */
  numberBlock({ key, kind, tokens }: UnnumberedBlock, nth: number): NumberedBlock | null {
    const known = this.#numbers.known.find(key, nth);
    if (known !== null) return { ...known, kind, tokens, ttl: ttlOf(kind, turnOf(known.turn)) };
    this.#message ??= this.#nextNumber("message");
    const block = this.#nextNumber("block");
    if (block === null || this.#message === null) return null;
    const given: KnownBlock = { block, message: this.#message, turn: this.#turn };
    this.#given.push({ key, ...given });
    return { ...given, kind, tokens, ttl: ttlOf(kind, turnOf(this.#turn)) };
  }

  /** The numbers of the stream from now on. A draft that is not finished never gave any. */
  done(): StreamNumbers {
    const { known } = this.#numbers;
    return { session: this.#session, known: known.with(this.#given), ranges: this.#ranges };
  }

  #nextNumber(thing: NumberedItem): number | null {
    if (this.#session === null) return null;
    const { next, end } = this.#ranges[thing];
    if (next >= end) this.#claim(thing, this.#session);
    const range = this.#ranges[thing];
    this.#ranges = { ...this.#ranges, [thing]: { next: range.next + 1, end: range.end } };
    return range.next;
  }

  #claim(thing: NumberedItem, { nextClaim }: SessionNumbers): void {
    const claim = nextClaim[thing];
    this.#session = { nextClaim: { ...nextClaim, [thing]: claim + 2 } };
    const range = { next: claim * claimSize + 1, end: (claim + 1) * claimSize + 1 };
    this.#ranges = { ...this.#ranges, [thing]: range };
  }
}
