import {
  type BlockId,
  hashContent,
  must,
  type Result,
  type Seq,
  type StepId,
  type StreamId,
  seqOf,
  streamId,
  type Turn,
  turnOf,
  type UnitId,
  unwrap,
  type ViewId,
  viewId,
} from "../../src/base/index.ts";
import type { ShownBlock } from "../../src/engine/frames/delta.ts";
import type { Fact } from "../../src/engine/frames/facts.ts";
import type {
  Actor,
  Block,
  Delta,
  FactDelta,
  FactName,
  FactValues,
  Frame,
  Unit,
} from "../../src/engine/frames/index.ts";
import {
  type ChangeContext,
  emptyState,
  nextStepId,
  type Proposal,
  reduce,
  reverse,
  type State,
  type Stream,
  type View,
} from "../../src/engine/index.ts";
import {
  type BlockView,
  blockViewOf,
  factOf,
  factValue,
  lastSentTurn,
  momentAt,
  now,
  runNow,
  sentPath,
  turnNow,
  viewBlocks,
} from "../../src/engine/moment/index.ts";
import { type FrameEntry, main, mainView, opening, sealed, testSession } from "./random-session.ts";

export { main, mainView } from "./random-session.ts";

/** A block as a test describes it: what matters is said, the rest is ordinary. */
export type Wish = Partial<Block> & {
  /** A ttl of so many turns, counted from the block's own turn. */
  readonly span?: number;
  readonly view?: ViewId;
};

export type Sending = {
  readonly view?: ViewId;
  /** Null hangs the unit at the root; left out, it follows the last one. */
  readonly below?: UnitId | null;
  /** Left out, the unit shows every block the path does not show yet, as it is. */
  readonly shows?: readonly ShownBlock[];
  /** The request's number; left out, the next one. */
  readonly turn?: number;
};

type FactWish = { readonly by?: Actor; readonly view?: ViewId };
type Answering = {
  readonly view?: ViewId;
  readonly turn?: number;
  readonly outcome?: "complete" | "interrupted" | "failed";
};

/**
 * A session written by hand, one frame at a time, for tests that name each situation. Whatever it appends
 * went through the reducer; a frame that does not fit fails the test, unless it is only tried (`attempt`).
 */
export class TestSession {
  state: State;
  readonly frames: Frame[] = [];

  constructor() {
    this.state = emptyState(testSession);
    this.append(opening().deltas, opening());
  }

  frame(deltas: readonly Delta[], over: Partial<FrameEntry> = {}): Frame {
    const cause = { type: "request", step: null, reason: "" } as const;
    return sealed(this.state, { stream: main, actor: "client", cause, ...over, deltas });
  }

  /** What would become of the frame; the session stays where it is. */
  attempt(deltas: readonly Delta[], over: Partial<FrameEntry> = {}): Result<State> {
    return reduce(this.state, this.frame(deltas, over));
  }

  append(deltas: readonly Delta[], over: Partial<FrameEntry> = {}): Seq {
    const frame = this.frame(deltas, over);
    this.state = unwrap(reduce(this.state, frame));
    this.frames.push(frame);
    return frame.seq;
  }

  /** Frames without deltas, so that something lies further back. */
  pass(frames: number): void {
    for (let count = 0; count < frames; count += 1) this.append([]);
  }

  view(id: ViewId = mainView): View {
    return must(this.state.views.get(id), `view ${id} is open`);
  }

  stream(view: ViewId = mainView): Stream {
    return must(this.state.streams.get(this.view(view).stream), "a view has a stream");
  }

  turnNow(view: ViewId = mainView): Turn {
    return turnNow(now(this.state), this.stream(view));
  }

  place(block: BlockId, view: ViewId = mainView): BlockView {
    return must(blockViewOf(now(this.state), this.view(view), block), `#${block} is in reach`);
  }

  placeAt(block: BlockId, seq: number): BlockView {
    const moment = unwrap(momentAt(this.state, seq));
    return must(blockViewOf(moment, this.view(), block), `#${block} was in reach`);
  }

  isInReach(block: BlockId, view: ViewId = mainView): boolean {
    return blockViewOf(now(this.state), this.view(view), block) !== null;
  }

  fact<F extends FactName>(block: BlockId, fact: F, view: ViewId = mainView): FactValues[F] {
    return factValue(this.place(block, view), fact);
  }

  /** The block a wish comes to, with ids that were reserved for its stream and not used yet. */
  wished({ span, view = mainView, ...wish }: Wish = {}): Block {
    const stream = this.stream(view);
    const id = wish.id ?? (freeId(stream.reserved.block, (n) => this.state.blocks.get(n)) as Block["id"]);
    const free = freeId(stream.reserved.message, (n) => this.state.messages.get(n));
    const turn = wish.turn ?? turnOf(this.turnNow(view) + 1);
    return {
      id,
      kind: "user",
      stream: stream.id,
      message: free as Block["message"],
      turn,
      speaker: "someone",
      content: hashContent(`content ${id}`),
      anchor: `anchor-${id}`,
      pair: null,
      taint: "user",
      supersedes: null,
      ttl: span === undefined ? null : { at: turnOf(turn + span), spanTurns: span },
      ...wish,
    };
  }

  add(wish: Wish = {}): BlockId {
    const block = this.wished(wish);
    this.append([{ type: "block-added", block }], { stream: block.stream });
    return block.id;
  }

  /** Blocks of one message that live and change together. */
  addPair(...wishes: readonly Wish[]): readonly BlockId[] {
    const [first, ...others] = wishes;
    const pair = this.wished(first).message;
    return [
      this.add({ ...first, pair }),
      ...others.map((wish) => this.add({ message: pair, ...wish, pair })),
    ];
  }

  reserve(view: ViewId = mainView): void {
    const stream = this.stream(view).id;
    const { block, message } = this.state.next;
    this.append(
      [
        { type: "ids-reserved", stream, of: "block", from: block, to: block + 100 },
        { type: "ids-reserved", stream, of: "message", from: message, to: message + 100 },
      ],
      { stream },
    );
  }

  /** Sets a fact as the log could hold it, past the rules of who may do what. */
  set<F extends FactName>(block: BlockId, values: { readonly [K in F]: FactValues[K] }, wish: FactWish = {}) {
    const view = wish.view ?? mainView;
    const deltas = Object.entries(values).map(([fact, value]) => {
      const from: Fact = factOf(this.place(block, view), fact as F);
      const to = { value, by: wish.by ?? "policy" };
      return { type: `${fact}-set`, view, block, from, to } as FactDelta;
    });
    return this.append(deltas);
  }

  unit(sending: Sending = {}): Unit {
    const view = sending.view ?? mainView;
    const path = sentPath(now(this.state), this.view(view));
    const below = sending.below === undefined ? (path.at(-1) ?? null) : sending.below;
    return {
      id: this.state.units.size as UnitId,
      stream: this.view(view).stream,
      parent: below,
      message: null,
      origin: "client",
      anchor: `unit ${this.state.units.size}`,
      bytes: hashContent(`unit ${this.state.units.size}`),
      shows: sending.shows ?? this.#unsent(view, below),
    };
  }

  /** One unit and the request that ends with it. */
  send(sending: Sending = {}): UnitId {
    const view = sending.view ?? mainView;
    const unit = this.unit(sending);
    const turn = turnOf(sending.turn ?? this.turnNow(view) + 1);
    this.append(
      [
        { type: "unit-sent", unit },
        { type: "turn-sent", view, turn, leaf: unit.id, exchange: turn },
      ],
      { stream: this.stream(view).id },
    );
    return unit.id;
  }

  answer({ view = mainView, turn, outcome = "complete" }: Answering = {}): Seq {
    const sent = turn ?? must(lastSentTurn(now(this.state), this.view(view)), "a turn was sent").turn;
    return this.append([{ type: "turn-answered", view, turn: turnOf(sent), outcome, usage: null }], {
      stream: this.stream(view).id,
    });
  }

  /** Requests sent and answered. */
  turns(count: number, view: ViewId = mainView): void {
    for (let done = 0; done < count; done += 1) {
      this.send({ view });
      this.answer({ view });
    }
  }

  run(view: ViewId = mainView): Seq {
    const stream = this.stream(view);
    const { run } = runNow(now(this.state), stream);
    return this.append([{ type: "run-started", stream: stream.id, from: run, to: run + 1 }], {
      stream: stream.id,
    });
  }

  /** A stream of its own with a view that takes over the facts of that seq. */
  fork({ from = mainView, seq = this.state.seq as number } = {}): ViewId {
    const [stream, view] = [streamId(this.state.streams.size), viewId(this.state.views.size)];
    const parent: StreamId = this.view(from).stream;
    this.append(
      [
        { type: "stream-opened", stream, name: "fork", parent: { stream: parent, seq: seqOf(seq) } },
        { type: "view-opened", view, stream, agent: "model", parent: { view: from, seq: seqOf(seq) } },
      ],
      { stream },
    );
    this.reserve(view);
    return view;
  }

  /** A second agent in the stream of a view, with or without its facts. */
  agent(parent: ViewId | null, stream: StreamId = main): ViewId {
    const view = viewId(this.state.views.size);
    const from = parent === null ? null : { view: parent, seq: this.state.seq };
    this.append([{ type: "view-opened", view, stream, agent: `agent ${view}`, parent: from }], { stream });
    return view;
  }

  by(actor: Actor, view: ViewId = mainView): ChangeContext {
    return { moment: now(this.state), view: this.view(view), actor };
  }

  /** Appends what a change came to as a step of its own, and says which. */
  take({ deltas }: Pick<Proposal, "deltas">, actor: Actor = "model"): StepId {
    const step = nextStepId(this.state);
    const type = actor === "policy" || actor === "sidecar" ? "policy" : "command";
    this.append(deltas, { actor, cause: { type, step, reason: "test" } });
    return step;
  }

  reversal(id: StepId): Result<readonly Delta[]> {
    const step = must(this.state.steps.get(id), "the step is known");
    return reverse(this.state, step, this.framesOf(id));
  }

  framesOf(id: StepId): readonly Frame[] {
    const step = must(this.state.steps.get(id), "the step is known");
    return step.log.value.frames.map((seq) => must(this.frames[seq - 1], "its frames are here"));
  }

  /** Undoes a step that is done, redoes one that is undone. */
  reverse(id: StepId): Seq {
    const step = must(this.state.steps.get(id), "the step is known");
    const type = step.log.value.done ? "undo" : "redo";
    return this.append(unwrap(this.reversal(id)), {
      actor: "user",
      cause: { type, step: id, reason: step.reason },
    });
  }

  #unsent(view: ViewId, below: UnitId | null): readonly ShownBlock[] {
    const shown = new Set<number>();
    for (let id = below; id !== null; ) {
      const unit = must(this.state.units.get(id), "the path was sent");
      for (const { block } of unit.shows) shown.add(block);
      id = unit.parent;
    }
    const blocks = [...viewBlocks(now(this.state), this.view(view))];
    return blocks
      .filter(({ id }) => !shown.has(id))
      .map(({ id }) => ({ block: id, as: "original" as const }));
  }
}

/** Every table of a state as plain data: more than any reader sees, so nothing can hide. */
export function dump(state: State): unknown {
  return plainData(state);
}

function plainData(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plainData);
  if ("previous" in value && "history" in value) return versionsOf(value as unknown as Version);
  if ("entries" in value && typeof value.entries === "function") {
    return { size: (value as State["blocks"]).size, entries: [...value.entries()].map(plainData) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainData(item)]));
}

type Version = { readonly seq: Seq; readonly value: unknown; readonly previous: Version | null };

function versionsOf(newest: Version): unknown {
  const list: unknown[] = [];
  for (let version: Version | null = newest; version !== null; version = version.previous) {
    list.push([version.seq, plainData(version.value)]);
  }
  return list;
}

function freeId(
  ranges: readonly { readonly from: number; readonly to: number }[],
  taken: (n: number) => unknown,
): number {
  for (const { from, to } of ranges) {
    for (let id = from; id < to; id += 1) if (taken(id) === undefined) return id;
  }
  throw new Error("the stream has no free ids; reserve some");
}
