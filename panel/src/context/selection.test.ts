import { describe, expect, it } from "vitest";
import { allOf, cleared, clicked, kept, moved, noSelection, type Selection, toggled } from "./selection.ts";

const order = [5, 3, 9, 7, 1];
const click = (before: Selection, n: number, how: { toggles?: true; extends?: true } = {}): Selection =>
  clicked(before, order, { n, toggles: false, extends: false, ...how });
const chosen = ({ chosen: set }: Selection): readonly number[] => [...set].sort((a, b) => a - b);

describe("a selection in the list", () => {
  it("a click chooses one row, Ctrl-click toggles one", () => {
    const one = click(noSelection, 3);
    expect(chosen(one)).toEqual([3]);
    expect(chosen(click(one, 7))).toEqual([7]);
    const two = click(one, 7, { toggles: true });
    expect(chosen(two)).toEqual([3, 7]);
    expect(chosen(click(two, 3, { toggles: true }))).toEqual([7]);
  });

  it("Shift-click chooses a range in the order of the list", () => {
    const range = click(click(noSelection, 3), 7, { extends: true });
    expect(chosen(range)).toEqual([3, 7, 9]);
    expect(chosen(click(range, 5, { extends: true }))).toEqual([3, 5]);
  });

  it("arrows move the cursor, Shift extends, both stop at the ends", () => {
    const one = click(noSelection, 3);
    const down = moved(one, order, { by: 1, extends: false });
    expect([down.cursor, chosen(down)]).toEqual([9, [3]]);
    expect(chosen(moved(one, order, { by: 2, extends: true }))).toEqual([3, 7, 9]);
    expect(moved(one, order, { by: 99, extends: false }).cursor).toBe(1);
    expect(moved(one, order, { by: Number.NEGATIVE_INFINITY, extends: false }).cursor).toBe(5);
    expect(moved(noSelection, [], { by: 1, extends: false })).toBe(noSelection);
    expect(moved(noSelection, order, { by: 1, extends: false }).cursor).toBe(5);
  });

  it("takes all, none, and drops removed blocks", () => {
    const all = allOf(order, noSelection);
    expect(chosen(all)).toEqual([1, 3, 5, 7, 9]);
    expect(chosen(cleared(all))).toEqual([]);
    expect(chosen(kept(all, new Set([3, 9])))).toEqual([3, 9]);
    expect(kept(all, new Set(order))).toBe(all);
    expect(chosen(toggled(all, 3))).toEqual([1, 5, 7, 9]);
  });
});
