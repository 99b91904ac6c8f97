import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import {
  type BlockId,
  blockId,
  must,
  PagedTable,
  seqOf,
  turnOf,
  type UnitId,
  unitId,
  unwrap,
} from "../base/index.ts";
import { type Shown, shownForms } from "./frames/block.ts";
import type { Delta } from "./frames/delta.ts";
import { momentAt, now, sentPath, shownOf } from "./moment/moment.ts";
import { reduce } from "./reduce.ts";

const turn = (number: number, leaf: number): Delta => ({
  type: "turn-sent",
  view: mainView,
  turn: turnOf(number),
  leaf: unitId(leaf),
  exchange: number,
});

describe("a path through the tree", () => {
  it("runs from the root to the leaf of the last request", () => {
    const session = new TestSession();
    const [a, b] = [session.send(), session.send()];
    const c = session.send({ below: a });
    expect(sentPath(now(session.state), session.view())).toEqual([a, c]);
    const before = unwrap(momentAt(session.state, session.state.seq - 1));
    expect(sentPath(before, session.view())).toEqual([a, b]);
  });

  it("that leaves a unit no longer shows its blocks, and shows them again when it returns", () => {
    const session = new TestSession();
    const block = session.add();
    const root = session.send({ shows: [] });
    const leaf = session.send({ shows: [{ block, as: "original" }] });
    session.send({ below: root, shows: [] });
    expect(shownOf(now(session.state), session.view(), block)).toBe("absent");
    session.append([turn(session.turnNow() + 1, leaf)]);
    expect(shownOf(now(session.state), session.view(), block)).toBe("original");
  });

  it("that leaves one unit of a block still shows it in the other", () => {
    const session = new TestSession();
    const block = session.add();
    const root = session.send({ shows: [{ block, as: "placeholder" }] });
    session.send({ shows: [{ block, as: "original" }] });
    session.send({ below: root, shows: [] });
    expect(shownOf(now(session.state), session.view(), block)).toBe("placeholder");
  });

  it("belongs to one view: the ledger of another agent shows nothing of it", () => {
    const session = new TestSession();
    const block = session.add();
    const agent = session.agent(mainView);
    session.send();
    expect(shownOf(now(session.state), session.view(agent), block)).toBe("absent");
  });
});

describe("following a path", () => {
  it("costs the difference from the last one, not the length of both", () => {
    const session = new TestSession();
    session.turns(80);
    const frame = session.frame([{ type: "unit-sent", unit: session.unit() }, turn(81, 80)]);
    const { units } = session.state;
    const looks = vi.spyOn(PagedTable.prototype, "get");
    const next = reduce(session.state, frame);
    const seen = looks.mock.contexts.filter(
      (table) => table === units || (next.ok && table === next.value.units),
    );
    looks.mockRestore();
    expect(next.ok).toBe(true);
    expect(seen.length).toBeLessThan(8);
  });
});

describe("the shown form of a block", () => {
  const sending = fc.record({
    below: fc.nat(),
    shows: fc.array(
      fc.record({ block: fc.integer({ min: 1, max: 4 }), as: fc.constantFrom(...shownForms) }),
      { maxLength: 3 },
    ),
  });

  it("equals what the path shows when read from scratch, at every seq", () => {
    fc.assert(
      fc.property(fc.array(sending, { maxLength: 14 }), (list) => {
        const session = new TestSession();
        const blocks = [1, 2, 3, 4].map(() => session.add());
        for (const { below, shows } of list) {
          const { size } = session.state.units;
          const parent = below % (size + 1) === size ? null : unitId(below % (size + 1));
          session.send({
            below: parent,
            shows: shows.map(({ block, as }) => ({ block: blockId(block), as })),
          });
        }
        for (let seq = 5; seq <= session.state.seq; seq += 1) {
          for (const block of blocks) {
            const moment = { state: session.state, seq: seqOf(seq) };
            expect(shownOf(moment, session.view(), block)).toBe(fromScratch(session, block, seq));
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** The form in the last unit on the path that shows the block. */
function fromScratch(session: TestSession, block: BlockId, seq: number): Shown {
  const moment = { state: session.state, seq: seqOf(seq) };
  const path: readonly UnitId[] = sentPath(moment, session.view());
  const shows = path.flatMap((id) => must(session.state.units.get(id), "sent").shows);
  return shows.findLast((one) => one.block === block)?.as ?? "absent";
}
