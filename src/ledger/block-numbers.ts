import { turnOf } from "../base/index.ts";
import type { BlockKind, NextIds } from "../engine/frames/index.ts";
import type { KnownBlock, NumberedBlock } from "../exchange/index.ts";
import { ttlOf } from "../policy/index.ts";

type NumberedItem = keyof NextIds;
type NumberRange = { next: number; end: number };
type NumberRanges = Record<NumberedItem, NumberRange>;

const claimSize = 1_000;

/**
 * Gives out the numbers of a session's blocks and messages, for all its streams. The planner claims every
 * other thousand. The ranges between belong to the log, which numbers unplanned requests, so neither has to
 * ask the other. The first thousand belongs to the first of them that needs it.
 */
export class SessionNumbers {
  readonly #nextClaim: Record<NumberedItem, number>;

  /** Starts at 1 for a new session, else after all numbers that the log has. */
  constructor({ block, message }: NextIds = { block: 1, message: 1 }) {
    this.#nextClaim = { block: firstEvenClaim(block), message: firstEvenClaim(message) };
  }

  claim(thing: NumberedItem): NumberRange {
    const claim = this.#nextClaim[thing];
    this.#nextClaim[thing] = claim + 2;
    return { next: claim * claimSize + 1, end: (claim + 1) * claimSize + 1 };
  }
}

/** The first even claim that starts at or after a number. */
function firstEvenClaim(next: number): number {
  const claim = Math.ceil((next - 1) / claimSize);
  return claim + (claim % 2);
}

/** A unit of a request or an answer that gets a number. */
type UnnumberedBlock = { readonly key: string; readonly kind: BlockKind; readonly tokens: number };

/**
 * The numbers of one stream's blocks. The nth unit with the same key on a path is the same block on every
 * path. The log counts the same way.
 */
export class StreamNumbers {
  #session: SessionNumbers | null;
  readonly #known = new Map<string, KnownBlock[]>();
  #ranges: NumberRanges = emptyRanges();

  /** Null if the session's next numbers are not known yet. Nothing is numbered until then. */
  constructor(session: SessionNumbers | null) {
    this.#session = session;
  }

  get session(): SessionNumbers | null {
    return this.#session;
  }

  get isReady(): boolean {
    return this.#session !== null;
  }

  /** Stops numbering after a request that the log numbers: its numbers must be loaded before any others. */
  invalidate(): void {
    this.#session = null;
    this.#ranges = emptyRanges();
  }

  /** Starts numbering with the blocks that the log has. Of equal keys the log's blocks come first. */
  load(session: SessionNumbers, blocks: readonly (KnownBlock & { readonly key: string })[]): void {
    this.#session ??= session;
    const own = [...this.#known];
    this.#known.clear();
    for (const { key, block, message, turn } of blocks) this.learn(key, { block, message, turn });
    for (const [key, given] of own) for (const known of given) this.learn(key, known);
  }

  hasKey(key: string): boolean {
    return this.#known.has(key);
  }

  find(key: string, nth: number): KnownBlock | null {
    return this.#known.get(key)?.[nth] ?? null;
  }

  learn(key: string, known: KnownBlock): void {
    const blocks = this.#known.get(key);
    if (blocks === undefined) this.#known.set(key, [known]);
    else if (!blocks.some(({ block }) => block === known.block)) blocks.push(known);
  }

  /** Numbers for one request or answer. They take effect when the draft is committed. */
  draft(turn: number): NumberDraft {
    return new NumberDraft(this, turn);
  }

  nextNumber(thing: NumberedItem): number | null {
    if (this.#session === null) return null;
    if (this.#ranges[thing].next >= this.#ranges[thing].end) this.#ranges[thing] = this.#session.claim(thing);
    const range = this.#ranges[thing];
    range.next += 1;
    return range.next - 1;
  }

  /** A copy of the next numbers, for `rewind`. */
  position(): NumberRanges {
    return { block: { ...this.#ranges.block }, message: { ...this.#ranges.message } };
  }

  rewind(position: NumberRanges): void {
    this.#ranges = {
      block: this.#rewound("block", position),
      message: this.#rewound("message", position),
    };
  }

  /** A range that was claimed since then stays claimed, with all its numbers free. */
  #rewound(thing: NumberedItem, position: NumberRanges): NumberRange {
    const { end } = this.#ranges[thing];
    return end === position[thing].end ? position[thing] : { next: end - claimSize, end };
  }
}

function emptyRanges(): NumberRanges {
  return { block: { next: 0, end: 0 }, message: { next: 0, end: 0 } };
}

/** Numbers for the blocks of one request or answer, given in order. */
export class NumberDraft {
  readonly #numbers: StreamNumbers;
  readonly #turn: number;
  readonly #start: NumberRanges;
  readonly #given: [string, KnownBlock][] = [];
  #message: number | null = null;

  constructor(numbers: StreamNumbers, turn: number) {
    this.#numbers = numbers;
    this.#turn = turn;
    this.#start = numbers.position();
  }

  /** The next block is the first of a message. */
  openMessage(): void {
    this.#message = null;
  }

  /** `nth` counts the same key on the path before it. Most keys are new, so it is rarely called. */
  numberBlock({ key, kind, tokens }: UnnumberedBlock, nth: () => number): NumberedBlock | null {
    const known = this.#numbers.hasKey(key) ? this.#numbers.find(key, nth()) : null;
    if (known !== null) return { ...known, kind, tokens, ttl: ttlOf(kind, turnOf(known.turn)) };
    this.#message ??= this.#numbers.nextNumber("message");
    const block = this.#numbers.nextNumber("block");
    if (block === null || this.#message === null) return null;
    const given = { block, message: this.#message, turn: this.#turn };
    this.#given.push([key, given]);
    return { ...given, kind, tokens, ttl: ttlOf(kind, turnOf(this.#turn)) };
  }

  commit(): void {
    for (const [key, known] of this.#given) this.#numbers.learn(key, known);
  }

  /** Frees the numbers for other blocks. */
  discard(): void {
    this.#numbers.rewind(this.#start);
  }
}
