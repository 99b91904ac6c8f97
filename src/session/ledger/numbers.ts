import { turnOf } from "../../base/index.ts";
import type { BlockKind } from "../../engine/index.ts";
import type { KnownBlock, NextIds, Numbered } from "../desk-port.ts";
import { ttlOf } from "../ttl.ts";

type Of = keyof NextIds;
type Cursor = { next: number; end: number };

const perClaim = 1_000;

/**
 * Where the numbers of a session's blocks and messages come from, for all its streams. The desk takes every
 * other thousand and leaves those between to the log, which numbers what passes as it came: so neither has to
 * ask the other. The first thousand belongs to whoever is first.
 */
export class SessionNumbers {
  readonly #next: Record<Of, number>;

  /** From nothing in a new session, else behind all that the log knows of. */
  constructor({ block, message }: NextIds = { block: 1, message: 1 }) {
    this.#next = { block: evenFrom(block), message: evenFrom(message) };
  }

  claim(of: Of): Cursor {
    const claim = this.#next[of];
    this.#next[of] = claim + 2;
    return { next: claim * perClaim + 1, end: (claim + 1) * perClaim + 1 };
  }
}

/** The first even claim from a number on. */
function evenFrom(next: number): number {
  const claim = Math.ceil((next - 1) / perClaim);
  return claim + (claim % 2);
}

/** What is numbered: a unit of a request, or of an answer. */
type Unnumbered = { readonly key: string; readonly kind: BlockKind; readonly tokens: number };

/**
 * The numbers of one stream's blocks. A key that comes for the nth time on a path means the same block on
 * every path: that is how the log counts too.
 */
export class StreamNumbers {
  #session: SessionNumbers | null;
  readonly #known = new Map<string, KnownBlock[]>();
  #cursors: Record<Of, Cursor> = { block: { next: 0, end: 0 }, message: { next: 0, end: 0 } };

  /** Null: nobody knows yet where the numbers of its session stand. Nothing is numbered until then. */
  constructor(session: SessionNumbers | null) {
    this.#session = session;
  }

  get source(): SessionNumbers | null {
    return this.#session;
  }

  get isReady(): boolean {
    return this.#session !== null;
  }

  /** Something was sent that the log has numbered: it has to be asked before anything else is. */
  doubt(): void {
    this.#session = null;
    this.#cursors = { block: { next: 0, end: 0 }, message: { next: 0, end: 0 } };
  }

  /** From here on it numbers, beside the blocks that the log has. Of equal ones the log's came first. */
  begin(session: SessionNumbers, blocks: readonly (KnownBlock & { readonly key: string })[]): void {
    this.#session ??= session;
    const own = [...this.#known];
    this.#known.clear();
    for (const { key, block, message, turn } of blocks) this.learn(key, { block, message, turn });
    for (const [key, given] of own) for (const known of given) this.learn(key, known);
  }

  knows(key: string): boolean {
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

  /** For one request or answer. What is not kept was never given. */
  draft(turn: number): NumberDraft {
    return new NumberDraft(this, turn);
  }

  take(of: Of): number | null {
    if (this.#session === null) return null;
    if (this.#cursors[of].next >= this.#cursors[of].end) this.#cursors[of] = this.#session.claim(of);
    const cursor = this.#cursors[of];
    cursor.next += 1;
    return cursor.next - 1;
  }

  /** The numbers as they stand, to go back to. */
  mark(): Record<Of, Cursor> {
    return { block: { ...this.#cursors.block }, message: { ...this.#cursors.message } };
  }

  back(mark: Record<Of, Cursor>): void {
    this.#cursors = { block: this.#backTo("block", mark), message: this.#backTo("message", mark) };
  }

  /** What was claimed since then stays claimed, and none of it was given. */
  #backTo(of: Of, mark: Record<Of, Cursor>): Cursor {
    const { end } = this.#cursors[of];
    return end === mark[of].end ? mark[of] : { next: end - perClaim, end };
  }
}

/** Numbers for what one request or answer brings, given in order. */
export class NumberDraft {
  readonly #numbers: StreamNumbers;
  readonly #turn: number;
  readonly #mark: ReturnType<StreamNumbers["mark"]>;
  readonly #learnt: [string, KnownBlock][] = [];
  #message: number | null = null;

  constructor(numbers: StreamNumbers, turn: number) {
    this.#numbers = numbers;
    this.#turn = turn;
    this.#mark = numbers.mark();
  }

  /** The next block is the first of a message. */
  open(): void {
    this.#message = null;
  }

  /** `nth`: how often its key stands on the path before it. Most keys are new, and nobody has to count. */
  number({ key, kind, tokens }: Unnumbered, nth: () => number): Numbered | null {
    const known = this.#numbers.knows(key) ? this.#numbers.find(key, nth()) : null;
    if (known !== null) return { ...known, kind, tokens, ttl: ttlOf(kind, turnOf(known.turn)) };
    this.#message ??= this.#numbers.take("message");
    const block = this.#numbers.take("block");
    if (block === null || this.#message === null) return null;
    const given = { block, message: this.#message, turn: this.#turn };
    this.#learnt.push([key, given]);
    return { ...given, kind, tokens, ttl: ttlOf(kind, turnOf(this.#turn)) };
  }

  keep(): void {
    for (const [key, known] of this.#learnt) this.#numbers.learn(key, known);
  }

  /** The numbers may be given to something else. */
  discard(): void {
    this.#numbers.back(this.#mark);
  }
}
