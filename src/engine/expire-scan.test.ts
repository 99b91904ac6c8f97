import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { verbs } from "../../test/support/random-acts.ts";
import { live, sealed } from "../../test/support/random-session.ts";
import {
  type BlockId,
  type MessageId,
  must,
  PagedTable,
  type StreamId,
  turnOf,
  unwrap,
  type ViewId,
} from "../base/index.ts";
import {
  archiveBlocks,
  type ChangeContext,
  focusBlocks,
  mayChange,
  pinBlocks,
  restoreBlocks,
  setBlockLevel,
  setSelection,
  unpinBlocks,
} from "./change-facts.ts";
import { expire } from "./expire.ts";
import type { Level } from "./frames/block.ts";
import { isFocused } from "./moment/lifecycle.ts";
import { type BlockView, blockViewOf, factOf, factValue, now, turnNow, viewBlocks } from "./moment/moment.ts";
import { reduce } from "./reduce.ts";
import type { State, View } from "./state.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A block after an expiry: its level, whether it is archived, and when its ttl ends. */
type ExpiryStatus = readonly [level: Level, archived: boolean, end: number | null];

const statusOf = (blockView: BlockView): ExpiryStatus => [
  factValue(blockView, "level"),
  factValue(blockView, "archive") !== null,
  factValue(blockView, "ttl")?.at ?? null,
];

/**
 * The slow reference expiry: checks every group of every block of the view, without hints. An ephemeral block
 * is gone with its frame, so no expiry ever finds it.
 */
function expireByScan(state: State, view: View): ReadonlyMap<BlockId, ExpiryStatus> {
  const turn = turnNow(now(state), must(state.streams.get(view.stream), "stream"));
  const blockViews = [...viewBlocks(now(state), view)]
    .filter(({ ephemeral }) => ephemeral !== true)
    .map(({ id }) => must(blockViewOf(now(state), view, id), "the block is in reach"));
  const groups = new Map<string, BlockView[]>();
  for (const blockView of blockViews) {
    const key =
      blockView.block.pair === null ? `block ${blockView.block.id}` : `pair ${blockView.block.pair}`;
    groups.set(key, [...(groups.get(key) ?? []), blockView]);
  }
  return new Map([...groups.values()].flatMap((group) => afterExpiry(group, turn)));
}

function afterExpiry(
  group: readonly BlockView[],
  turn: number,
): readonly (readonly [BlockId, ExpiryStatus])[] {
  const alive = group.filter((blockView) => factValue(blockView, "archive") === null);
  const stay = group.map((blockView) => [blockView.block.id, statusOf(blockView)] as const);
  const isOver = alive.every((blockView) => (factValue(blockView, "ttl")?.at ?? turn + 1) <= turn);
  const isKept = group.some((blockView) => factValue(blockView, "pin") !== "none");
  if (alive.length === 0 || !isOver || isKept) return stay;
  const isReferenced = ({ count, turn: last }: { count: number; turn: number }) =>
    count > 0 && turn - last < 5;
  const isAttended = group.some(
    (blockView) =>
      isFocused(blockView) ||
      factValue(blockView, "selection") ||
      isReferenced(factValue(blockView, "reference")),
  );
  const levels = alive.map((blockView) => factValue(blockView, "level"));
  const isAtTheEnd = levels.every((level) => level === "minimal");
  const next: Level = levels.includes("original") ? "trimmed" : "minimal";
  const lowered = (blockView: BlockView): ExpiryStatus => {
    const [level, , end] = statusOf(blockView);
    const renewed = turn + (factValue(blockView, "ttl")?.spanTurns ?? 0);
    if (factValue(blockView, "archive") !== null) return statusOf(blockView);
    if (isAttended) return [level, false, renewed];
    if (isAtTheEnd) return [level, true, end];
    const isBelow = level === "minimal" || (level === "summarized" && next === "trimmed");
    return [isBelow ? level : next, false, renewed];
  };
  const isLocked = alive.some((blockView) => isLockedFor(blockView, lowered(blockView)));
  return isLocked ? stay : group.map((blockView) => [blockView.block.id, lowered(blockView)] as const);
}

/** True if an actor above policy set a fact that would have to change, or the level the block would leave. */
function isLockedFor(blockView: BlockView, [level, archived]: ExpiryStatus): boolean {
  const isLowered = level !== factValue(blockView, "level");
  const isArchived = archived !== (factValue(blockView, "archive") !== null);
  return (
    ((isLowered || isArchived) && !mayChange(factOf(blockView, "level"), "policy")) ||
    (isArchived && !mayChange(factOf(blockView, "archive"), "policy"))
  );
}

const policyContext = (state: State, view: View): ChangeContext => ({
  moment: now(state),
  view,
  actor: "policy",
});

/** The same with hints: applies what `expire` proposes. */
function expireByHints(state: State, view: View): ReadonlyMap<BlockId, ExpiryStatus> {
  const { deltas } = expire(policyContext(state, view), turnOf(0));
  const cause = { type: "policy", step: null, reason: "" } as const;
  const after = unwrap(reduce(state, sealed(state, { stream: view.stream, actor: "policy", cause, deltas })));
  const same = must(after.views.get(view.id), "views stay");
  return new Map(
    [...viewBlocks(now(after), same)].map(({ id }) => [
      id,
      statusOf(must(blockViewOf(now(after), same, id), "the block is in reach")),
    ]),
  );
}

/** Sessions with many turns: they come more often than any other act. */
const longSessions = fc.record({
  verb: fc.oneof(
    { weight: 2, arbitrary: fc.constant("send" as const) },
    { weight: 1, arbitrary: fc.constantFrom("say" as const, "call" as const, "answer-call" as const) },
    { weight: 1, arbitrary: fc.constantFrom(...verbs) },
  ),
  a: fc.nat(1_000),
  b: fc.nat(1_000),
  c: fc.nat(1_000),
});

describe("expiry by hints", () => {
  it("gives the same result as checking every block, in every view of any session", () => {
    let fallen = 0;
    fc.assert(
      fc.property(fc.array(longSessions, { maxLength: 60, size: "max" }), (list) => {
        for (const state of live(list).states.filter(({ seq }) => seq % 8 === 0)) {
          for (const [, view] of state.views.entries()) {
            expect(expireByHints(state, view)).toEqual(expireByScan(state, view));
            fallen += expire(policyContext(state, view), turnOf(0)).deltas.length;
          }
        }
      }),
      { numRuns: 100 },
    );
    expect(fallen).toBeGreaterThan(300);
  });

  const act = fc.record({
    verb: fc.constantFrom(
      "turn",
      "turn",
      "turn",
      "add",
      "pair",
      "join",
      "pin",
      "unpin",
      "archive",
      "restore",
      "focus",
      "select",
      "level",
      "run",
      "fork",
      "undo",
      "undo",
    ),
    at: fc.nat(),
    span: fc.integer({ min: 1, max: 4 }),
  });

  it("misses nothing after any turn, though it reads the hints of that turn only", () => {
    let turns = 0;
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60, size: "max" }), (list) => {
        const session = new TestSession();
        for (const one of list) {
          const stream = perform(session, one);
          for (const [, view] of session.state.views.entries()) {
            if (view.stream !== stream) continue;
            turns += 1;
            expect(expire(session.by("policy", view.id), turnOf(0)).deltas).toEqual([]);
          }
        }
      }),
      { numRuns: 200 },
    );
    expect(turns).toBeGreaterThan(500);
  });

  it("reads only blocks whose ttl ends in these turns", () => {
    const looks = (others: number): number => {
      const session = new TestSession();
      for (let count = 0; count < others; count += 1) session.add({ span: 50 });
      session.add({ span: 2 });
      session.turns(3);
      const change = session.by("policy");
      const spy = vi.spyOn(PagedTable.prototype, "get");
      const { deltas } = expire(change, turnOf(2));
      const count = spy.mock.calls.length;
      spy.mockRestore();
      expect(deltas).toHaveLength(2);
      return count;
    };
    const [few, many] = [looks(1), looks(80)];
    expect(many).toBeLessThan(100);
    expect(many).toBe(few);
  });
});

type Act = { readonly verb: string; readonly at: number; readonly span: number };

/** Performs one act; policy expires blocks after every turn. Returns the stream that had a turn. */
function perform(session: TestSession, { verb, at, span }: Act): StreamId | null {
  const views = [...session.state.views.entries()].map(([, view]) => view);
  const { id: view, stream } = must(views[at % views.length], "a view");
  const blocks = [...viewBlocks(now(session.state), session.view(view))];
  const block = blocks[at % Math.max(1, blocks.length)];
  if (verb === "turn") expireBlocks(session, view);
  else if (verb === "add") session.add({ view, span });
  else if (verb === "pair") session.addPair({ view, span }, { view, span: span + 2 });
  else if (verb === "run") session.run(view);
  else if (verb === "undo") undoStep(session, at);
  else if (verb === "fork" && views.length < 4) session.fork({ from: view });
  else if (block !== undefined) decide(session, { verb, view, block: block.id, pair: block.pair, span });
  return verb === "turn" ? stream : null;
}

function expireBlocks(session: TestSession, view: ViewId): void {
  session.turns(1, view);
  const stream = session.stream(view).id;
  for (const [, one] of session.state.views.entries()) {
    if (one.stream !== stream) continue;
    const proposal = expire(session.by("policy", one.id), turnOf(session.turnNow(view) - 1));
    if (proposal.deltas.length > 0) session.take(proposal, "policy");
  }
}

/** Undoes or redoes some step, if it is possible. */
function undoStep(session: TestSession, at: number): void {
  const steps = [...session.state.steps.entries()];
  const step = steps[at % Math.max(1, steps.length)]?.[1].id;
  if (step !== undefined && session.reversal(step).ok) session.reverse(step);
}

type Decision = {
  readonly verb: string;
  readonly view: ViewId;
  readonly block: BlockId;
  readonly pair: MessageId | null;
  readonly span: number;
};

function decide(session: TestSession, { verb, view, block, pair, span }: Decision): void {
  const change = session.by("model", view);
  const made = {
    pin: () => pinBlocks(change, [block], "top"),
    unpin: () => unpinBlocks(change, [block]),
    archive: () => unwrap(archiveBlocks(change, [block], "done")),
    restore: () => restoreBlocks(change, [block]),
    focus: () => focusBlocks(change, [block]),
    select: () => setSelection(change, span === 1 ? [] : [block]),
    level: () => setBlockLevel(change, [block], span === 1 ? "original" : "summarized"),
  }[verb];
  if (verb === "join" && pair !== null) session.add({ view, span, pair });
  else if (made !== undefined) session.take(made());
}
