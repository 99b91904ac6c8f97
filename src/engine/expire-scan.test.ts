import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { verbs } from "../../test/support/random-acts.ts";
import { live, sealed } from "../../test/support/random-session.ts";
import {
  type BlockId,
  type MessageId,
  must,
  type StreamId,
  turnOf,
  unwrap,
  type ViewId,
} from "../base/index.ts";
import type { Level } from "./block.ts";
import { archive, type Change, focus, mayChange, pin, restore, select, unpin, wantLevel } from "./change.ts";
import { expire } from "./expire.ts";
import { isFocused } from "./lifecycle.ts";
import { blocksOf, factOf, factValue, now, type Place, placeOf, turnNow } from "./moment.ts";
import { Paged } from "./paged.ts";
import { reduce } from "./reduce.ts";
import type { State, View } from "./state.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Where a block stands after an expiry: its level, whether it is archived, and when its ttl ends. */
type Standing = readonly [level: Level, archived: boolean, end: number | null];

const stands = (place: Place): Standing => [
  factValue(place, "level"),
  factValue(place, "archive") !== null,
  factValue(place, "ttl")?.at ?? null,
];

/**
 * Expiry by the book, the slow way: every group of every block of the view, without any hint. An ephemeral
 * block is gone with the frame that brought it, so no expiry ever finds it.
 */
function byScan(state: State, view: View): ReadonlyMap<BlockId, Standing> {
  const turn = turnNow(now(state), must(state.streams.get(view.stream), "stream"));
  const places = [...blocksOf(now(state), view)]
    .filter(({ ephemeral }) => ephemeral !== true)
    .map(({ id }) => must(placeOf(now(state), view, id), "place"));
  const groups = new Map<string, Place[]>();
  for (const place of places) {
    const key = place.block.pair === null ? `block ${place.block.id}` : `pair ${place.block.pair}`;
    groups.set(key, [...(groups.get(key) ?? []), place]);
  }
  return new Map([...groups.values()].flatMap((group) => afterExpiry(group, turn)));
}

function afterExpiry(group: readonly Place[], turn: number): readonly (readonly [BlockId, Standing])[] {
  const alive = group.filter((place) => factValue(place, "archive") === null);
  const stay = group.map((place) => [place.block.id, stands(place)] as const);
  const isOver = alive.every((place) => (factValue(place, "ttl")?.at ?? turn + 1) <= turn);
  const isKept = group.some((place) => factValue(place, "pin") !== "none");
  if (alive.length === 0 || !isOver || isKept) return stay;
  const isReferred = ({ count, turn: last }: { count: number; turn: number }) => count > 0 && turn - last < 5;
  const isAttended = group.some(
    (place) => isFocused(place) || factValue(place, "selection") || isReferred(factValue(place, "reference")),
  );
  const levels = alive.map((place) => factValue(place, "level"));
  const isAtTheEnd = levels.every((level) => level === "minimal");
  const next: Level = levels.includes("original") ? "trimmed" : "minimal";
  const fall = (place: Place): Standing => {
    const [level, , end] = stands(place);
    const renewed = turn + (factValue(place, "ttl")?.spanTurns ?? 0);
    if (factValue(place, "archive") !== null) return stands(place);
    if (isAttended) return [level, false, renewed];
    if (isAtTheEnd) return [level, true, end];
    const isBelow = level === "minimal" || (level === "summarized" && next === "trimmed");
    return [isBelow ? level : next, false, renewed];
  };
  const isLocked = alive.some((place) => isLockedFor(place, fall(place)));
  return isLocked ? stay : group.map((place) => [place.block.id, fall(place)] as const);
}

/** Somebody above policy has set what would have to change, or chose the level the block would leave. */
function isLockedFor(place: Place, [level, archived]: Standing): boolean {
  const isLowered = level !== factValue(place, "level");
  const isArchived = archived !== (factValue(place, "archive") !== null);
  return (
    ((isLowered || isArchived) && !mayChange(factOf(place, "level"), "policy")) ||
    (isArchived && !mayChange(factOf(place, "archive"), "policy"))
  );
}

const changeIn = (state: State, view: View): Change => ({ moment: now(state), view, actor: "policy" });

/** The same by the hints: what `expire` proposes, applied. */
function byHints(state: State, view: View): ReadonlyMap<BlockId, Standing> {
  const { deltas } = expire(changeIn(state, view), turnOf(0));
  const cause = { type: "policy", step: null, reason: "" } as const;
  const after = unwrap(reduce(state, sealed(state, { stream: view.stream, actor: "policy", cause, deltas })));
  const same = must(after.views.get(view.id), "views stay");
  return new Map(
    [...blocksOf(now(after), same)].map(({ id }) => [
      id,
      stands(must(placeOf(now(after), same, id), "place")),
    ]),
  );
}

/** Sessions in which time passes: turns come more often than anything else. */
const timely = fc.record({
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
  it("does what looking at every block does, in every view of any session", () => {
    let fallen = 0;
    fc.assert(
      fc.property(fc.array(timely, { maxLength: 60, size: "max" }), (list) => {
        for (const state of live(list).states.filter(({ seq }) => seq % 8 === 0)) {
          for (const [, view] of state.views.entries()) {
            expect(byHints(state, view)).toEqual(byScan(state, view));
            fallen += expire(changeIn(state, view), turnOf(0)).deltas.length;
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

  it("after every turn misses nothing, though it looks at the hints of that turn only", () => {
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

  it("looks at what ends in these turns, not at what exists", () => {
    const looks = (others: number): number => {
      const session = new TestSession();
      for (let count = 0; count < others; count += 1) session.add({ span: 50 });
      session.add({ span: 2 });
      session.turns(3);
      const change = session.by("policy");
      const spy = vi.spyOn(Paged.prototype, "get");
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

/** One act of a session in which policy settles after every turn, as it does. The stream that had a turn. */
function perform(session: TestSession, { verb, at, span }: Act): StreamId | null {
  const views = [...session.state.views.entries()].map(([, view]) => view);
  const { id: view, stream } = must(views[at % views.length], "a view");
  const blocks = [...blocksOf(now(session.state), session.view(view))];
  const block = blocks[at % Math.max(1, blocks.length)];
  if (verb === "turn") settled(session, view);
  else if (verb === "add") session.add({ view, span });
  else if (verb === "pair") session.addPair({ view, span }, { view, span: span + 2 });
  else if (verb === "run") session.run(view);
  else if (verb === "undo") undo(session, at);
  else if (verb === "fork" && views.length < 4) session.fork({ from: view });
  else if (block !== undefined) decide(session, { verb, view, block: block.id, pair: block.pair, span });
  return verb === "turn" ? stream : null;
}

function settled(session: TestSession, view: ViewId): void {
  session.turns(1, view);
  const stream = session.stream(view).id;
  for (const [, one] of session.state.views.entries()) {
    if (one.stream !== stream) continue;
    const proposal = expire(session.by("policy", one.id), turnOf(session.turnNow(view) - 1));
    if (proposal.deltas.length > 0) session.take(proposal, "policy");
  }
}

/** Undo or redo of some step, if nothing stands in the way. */
function undo(session: TestSession, at: number): void {
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
    pin: () => pin(change, [block], "top"),
    unpin: () => unpin(change, [block]),
    archive: () => unwrap(archive(change, [block], "done")),
    restore: () => restore(change, [block]),
    focus: () => focus(change, [block]),
    select: () => select(change, span === 1 ? [] : [block]),
    level: () => wantLevel(change, [block], span === 1 ? "original" : "summarized"),
  }[verb];
  if (verb === "join" && pair !== null) session.add({ view, span, pair });
  else if (made !== undefined) session.take(made());
}
