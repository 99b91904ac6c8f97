import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, seqOf, streamId, unwrap, type ViewId, viewId } from "../../src/base/index.ts";
import {
  type Delta,
  type FactDelta,
  type FactName,
  type Frame,
  levels,
  type Shown,
} from "../../src/engine/frames/index.ts";
import type { State, View } from "../../src/engine/index.ts";
import {
  type BlockView,
  blockViewOf,
  factValue,
  isPinned,
  lifecycleOf,
  type Moment,
  momentAt,
  now,
  pairOf,
  sentPath,
  shownOf,
  viewBlocks,
  zoneOf,
} from "../../src/engine/moment/index.ts";
import { factsOf } from "../support/facts-of.ts";
import type { Intent } from "../support/random-acts.ts";
import { intents, live } from "../support/random-session.ts";
import { numRuns } from "../support/runs.ts";

function views(state: State): readonly View[] {
  return [...state.views.entries()].map(([, view]) => view);
}

function blockViewsIn(moment: Moment, view: View): readonly BlockView[] {
  return [...viewBlocks(moment, view)].map(({ id }) =>
    must(blockViewOf(moment, view, id), "a view reaches its blocks"),
  );
}

function factsIn(moment: Moment, view: View): string {
  // A fork begins with a frame of its own, which ends ephemeral blocks.
  const lasting = blockViewsIn(moment, view).filter(({ block }) => !block.ephemeral);
  return JSON.stringify(lasting.map((blockView) => [blockView.block.id, factsOf(blockView)]));
}

describe("views", () => {
  it("a fork has its parent's facts as of the fork, and they share no later change", () => {
    let forks = 0;
    fc.assert(
      fc.property(intents(80), (list) => {
        const { states, frames } = live(list);
        for (const frame of frames) {
          for (const [child, parent] of openedForks(frame)) {
            forks += 1;
            const born = states[frame.seq] as State;
            const view = must(born.views.get(child), "the view is open");
            const from = must(born.views.get(parent.view), "its parent is open");
            const then = unwrap(momentAt(born, parent.seq));
            expect(factsIn(now(born), view)).toBe(factsIn(then, from));
          }
        }
        for (let seq = 1; seq < states.length; seq += 1)
          expectNoLeak(states[seq - 1] as State, states[seq] as State, frames[seq - 1] as Frame);
      }),
      numRuns(120),
    );
    expect(forks).toBeGreaterThan(50);
  });

  it("the shown form is the one on the last path, computed from scratch", () => {
    fc.assert(
      fc.property(intents(60), (list) => {
        const last = live(list).states.at(-1) as State;
        for (let seq = 0; seq <= last.seq; seq += 3) {
          const moment = unwrap(momentAt(last, seq));
          for (const view of views(last).filter(({ openedSeq }) => openedSeq <= seq)) {
            const onPath = new Map<number, Shown>();
            for (const id of sentPath(moment, view)) {
              for (const { block, as } of last.units.get(id)?.shows ?? []) onPath.set(block, as);
            }
            for (const [id] of last.blocks.entries()) {
              expect(shownOf(moment, view, id as never)).toBe(onPath.get(id) ?? "absent");
            }
          }
        }
      }),
      numRuns(60),
    );
  });
});

describe("pairs and pins", () => {
  it("a change of level, pin, archive, focus or withholding reaches the whole pair", () => {
    fc.assert(
      fc.property(intents(60), (list) => {
        const { states, frames } = live(list);
        for (const frame of frames.filter(
          ({ cause }) => cause.type === "command" || cause.type === "policy",
        )) {
          const state = states[frame.seq] as State;
          for (const delta of frame.deltas) {
            if (!("view" in delta && "block" in delta && "to" in delta)) continue;
            if (
              delta.type === "selection-set" ||
              delta.type === "reference-set" ||
              delta.type === "supersession-set"
            )
              continue;
            if (delta.type === "ttl-set") continue;
            const blockView = must(
              blockViewOf(now(state), must(state.views.get(delta.view), "view"), delta.block),
              "the block is in reach",
            );
            for (const member of pairOf(blockView)) expectSame(member, delta);
          }
        }
      }),
      numRuns(150),
    );
  });

  it("only undo and redo may lower or archive a pinned block", () => {
    let pinned = 0;
    fc.assert(
      fc.property(intents(80), (list) => {
        const { states, frames } = live(list);
        for (const frame of frames) {
          if (frame.cause.type === "undo" || frame.cause.type === "redo") continue;
          const [before, after] = [states[frame.seq - 1] as State, states[frame.seq] as State];
          for (const view of views(before)) {
            for (const blockView of blockViewsIn(now(before), view).filter(isPinned)) {
              pinned += 1;
              const later = blockViewOf(
                now(after),
                must(after.views.get(view.id), "views stay"),
                blockView.block.id,
              );
              if (later === null) continue;
              const detail = (one: BlockView) => levels.indexOf(factValue(one, "level"));
              expect(detail(later)).toBeLessThanOrEqual(detail(blockView));
              const isCold = (one: BlockView) => factValue(one, "archive") !== null;
              expect(isCold(later) && !isCold(blockView)).toBe(false);
            }
          }
        }
      }),
      numRuns(100),
    );
    expect(pinned).toBeGreaterThan(100);
  });

  it("only the user changes what the user set", () => {
    fc.assert(
      fc.property(intents(80), (list) => {
        for (const frame of live(list).frames) {
          for (const delta of frame.deltas) {
            if (!("from" in delta && "view" in delta && "block" in delta) || frame.actor === "user") continue;
            expect(delta.from.by).not.toBe("user");
          }
        }
      }),
      numRuns(100),
    );
  });

  it("only the user decides, permits and sets the mode; policy only expires", () => {
    let seen = 0;
    const isRule = ({ type }: Delta) => ["approval-decided", "permission-set", "mode-set"].includes(type);
    fc.assert(
      fc.property(intents(80), (list) => {
        for (const { actor, deltas } of live(list).frames) {
          for (const delta of deltas.filter(isRule)) {
            seen += 1;
            const ends = delta.type === "permission-set" && delta.to === null;
            const expires = delta.type === "approval-decided" && delta.to === "expired";
            expect(expires ? ["policy"] : ends ? ["user", "policy"] : ["user"]).toContain(actor);
            if (delta.type === "approval-decided") expect(delta.by).toBe(actor);
          }
        }
      }),
      numRuns(100),
    );
    expect(seen).toBeGreaterThan(100);
  });

  it("every block has one zone and one lifecycle at any time", () => {
    fc.assert(
      fc.property(intents(60), fc.nat(), (list, when) => {
        const last = live(list).states.at(-1) as State;
        const moment = unwrap(momentAt(last, when % (last.seq + 1)));
        for (const view of views(last).filter(({ openedSeq }) => openedSeq <= moment.seq)) {
          for (const blockView of blockViewsIn(moment, view)) {
            expect(["primacy", "middle", "recency", "cold"]).toContain(zoneOf(blockView));
            const cold = factValue(blockView, "archive") !== null;
            expect(zoneOf(blockView) === "cold").toBe(cold);
            if (cold) expect(["archived", "evicted"]).toContain(lifecycleOf(blockView));
          }
        }
      }),
      numRuns(100),
    );
  });
});

describe("a fork at a seq where a block was removed", () => {
  it("does not see the block, and keeps a block that was removed later", () => {
    const intent = (verb: Intent["verb"], b = 0): Intent => ({ verb, a: 0, b, c: 0 });
    const { states } = live([intent("remember"), intent("undo"), intent("fork", 2), intent("fork", 1)]);
    const last = states.at(-1) as State;
    const seen = [viewId(2), viewId(3)].map(
      (id) => [...viewBlocks(now(last), must(last.views.get(id), "fork"))].length,
    );
    const forkedAt = [streamId(2), streamId(3)].map((id) => last.streams.get(id)?.parent?.seq);
    expect(forkedAt).toEqual([seqOf(3), seqOf(2)]);
    expect(seen).toEqual([0, 1]);
  });
});

/** A block that is archived already stays as it is; only the rest of the pair expires. */
function expectSame(member: BlockView, delta: FactDelta): void {
  const fact = delta.type.slice(0, -"-set".length) as FactName;
  const isCold = factValue(member, "archive") !== null;
  if (fact === "archive") expect(isCold).toBe(delta.to.value !== null);
  else if (!isCold) expect(factValue(member, fact)).toEqual(delta.to.value);
}

function openedForks(frame: Frame): readonly (readonly [ViewId, { view: ViewId; seq: number }])[] {
  return frame.deltas.flatMap((delta) =>
    delta.type === "view-opened" && delta.parent !== null ? [[delta.view, delta.parent] as const] : [],
  );
}

/** A frame changes facts only in the views it names, and blocks only in the stream it names. */
function expectNoLeak(before: State, after: State, frame: Frame): void {
  const named = new Set(frame.deltas.flatMap((delta) => ("view" in delta ? [delta.view] : [])));
  const streams = new Set(
    frame.deltas.flatMap((delta) =>
      delta.type === "block-added" || delta.type === "block-removed" ? [delta.block.stream] : [],
    ),
  );
  for (const view of views(before)) {
    if (named.has(view.id) || streams.has(view.stream)) continue;
    const same = must(after.views.get(view.id), "views stay open");
    expect(factsIn(now(after), same)).toBe(factsIn(now(before), view));
  }
}
