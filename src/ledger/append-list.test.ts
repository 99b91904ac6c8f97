import fc from "fast-check";
import { expect, test } from "vitest";
import { AppendList } from "./append-list.ts";

/** Appends to, or shortens, any list that was made before. */
const step = fc.record({ from: fc.nat(20), keep: fc.nat(9), more: fc.array(fc.nat(99), { maxLength: 4 }) });

test("a list never changes, whatever is appended to it or to a list it was made from", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const lists = [{ list: AppendList.of<number>([]), items: [] as readonly number[] }];
      for (const { from, keep, more } of steps) {
        const source = lists[from % lists.length] ?? lists[0];
        if (source === undefined) continue;
        const count = Math.min(keep, source.items.length);
        const list = source.list.first(count).append(more);
        lists.push({ list, items: [...source.items.slice(0, count), ...more] });
      }
      for (const { list, items } of lists) {
        expect([...list]).toEqual(items);
        expect([list.length, list.last, list.at(items.length)]).toEqual([
          items.length,
          items.at(-1),
          undefined,
        ]);
      }
    }),
  );
});
