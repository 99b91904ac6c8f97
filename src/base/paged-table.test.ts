import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AssertionFault } from "./assert.ts";
import { type Seq, seqOf } from "./ids.ts";
import { lastIndexUpTo, PagedTable, pageEntries, TablePage } from "./paged-table.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const numberedTable = (size: number): PagedTable<number> => {
  let table = PagedTable.empty<number>();
  for (let index = 0; index < size; index += 1) table = table.push(index * 10);
  return table;
};

/** Indexes around the points where a page or a branch is full, and where the tree grows by one level. */
const index = fc.oneof(
  fc.nat(40),
  fc.constantFrom(31, 32, 33, 63, 64),
  fc.integer({ min: 1_020, max: 1_030 }),
  fc.integer({ min: 32_766, max: 32_770 }),
  fc.constantFrom(2 ** 20 - 1, 2 ** 20, 2 ** 30 - 1),
);
const changes = fc.array(fc.record({ index, value: fc.string() }), { maxLength: 40 });

type Model = ReadonlyMap<number, string>;
const sizeOf = (model: Model) => Math.max(-1, ...model.keys()) + 1;
const inOrder = (model: Model) => [...model].sort(([a], [b]) => a - b);

function expectSame(table: PagedTable<string>, model: Model): void {
  expect(table.size).toBe(sizeOf(model));
  expect([...table.entries()]).toEqual(inOrder(model));
  for (const at of [...model.keys()].flatMap((key) => [key - 1, key, key + 1])) {
    expect(table.get(at)).toBe(model.get(at));
  }
  expect(table.last).toBe(model.get(table.size - 1));
}

describe("a paged table behaves like a plain map", () => {
  it("after any changes in any order, and so does every intermediate table", () => {
    fc.assert(
      fc.property(changes, (list) => {
        let table = PagedTable.empty<string>();
        let model: Model = new Map();
        const past: [PagedTable<string>, Model][] = [[table, model]];
        for (const { index: at, value } of list) {
          table = table.with(at, value);
          model = new Map([...model, [at, value]]);
          past.push([table, model]);
        }
        for (const [then, modelThen] of past) expectSame(then, modelThen);
      }),
      { numRuns: 60 },
    );
  });

  it("after it was split into pages and rebuilt, and after further changes", () => {
    fc.assert(
      fc.property(changes, index, (list, at) => {
        const table = list.reduce(
          (all, change) => all.with(change.index, change.value),
          PagedTable.empty<string>(),
        );
        const model = new Map(list.map((change) => [change.index, change.value]));
        const rebuilt = PagedTable.fromPages(table.size, table.pages());
        expectSame(rebuilt, model);
        expectSame(rebuilt.with(at, "new"), new Map([...model, [at, "new"]]));
        expectSame(rebuilt, model);
      }),
      { numRuns: 60 },
    );
  });

  it.each([0, 1, 31, 32, 33, 1_023, 1_024, 1_025, 32_767, 32_768, 32_769])(
    "pushed to a size of %i, it holds every entry in order",
    (size) => {
      const table = numberedTable(size);
      expect(table.size).toBe(size);
      expect(table.last).toBe(size === 0 ? undefined : (size - 1) * 10);
      let at = 0;
      for (const [key, value] of table.entries()) {
        if (key !== at || value !== at * 10) expect([key, value]).toEqual([at, at * 10]);
        at += 1;
      }
      expect(at).toBe(size);
      expect([...table.pages()].map(([number]) => number)).toEqual(
        Array.from({ length: Math.ceil(size / pageEntries) }, (_, number) => number),
      );
    },
  );
});

describe("a paged table", () => {
  it("has no entry below zero, at its size or beyond", () => {
    const table = numberedTable(40);
    expect([-1, 40, 41, 64, 1_024, 2 ** 31, 2 ** 40].map((at) => table.get(at))).toEqual(
      Array(7).fill(undefined),
    );
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 30, Number.POSITIVE_INFINITY])("refuses to be keyed by %d", (at) => {
    expect(() => PagedTable.empty<number>().with(at, 1)).toThrow(AssertionFault);
  });

  it("shares all pages but the changed one with the table it came from", () => {
    const before = numberedTable(32 * 40);
    const after = before.with(32 * 7 + 3, -1);
    const [old, fresh] = [[...before.pages()], [...after.pages()]];
    const changed = old.flatMap(([number, page], at) => (fresh[at]?.[1] === page ? [] : [number]));
    expect(changed).toEqual([7]);
  });

  it("keeps gaps: entries skip them, and empty pages do not exist", () => {
    const table = PagedTable.empty<string>().with(2, "a").with(100, "b");
    expect([...table.entries()]).toEqual([
      [2, "a"],
      [100, "b"],
    ]);
    expect([...table.pages()].map(([number]) => number)).toEqual([0, 3]);
    expect(table.size).toBe(101);
  });

  it("fills gaps inside a page with undefined, not with holes", () => {
    const [[, page] = []] = [...PagedTable.empty<string>().with(3, "a").pages()];
    expect(page?.items).toHaveLength(4);
    expect([0, 1, 2].every((at) => at in (page?.items ?? []))).toBe(true);
  });
});

/** A table whose pages note when they are decoded. */
const lazyTable = (size: number) => {
  const loads: number[] = [];
  const pages = Array.from({ length: Math.ceil(size / pageEntries) }, (_, number) => {
    const load = () => {
      loads.push(number);
      return Array.from({ length: pageEntries }, (_item, offset) => number * pageEntries + offset);
    };
    return [number, new TablePage<number>(load)] as const;
  });
  return { table: PagedTable.fromPages(size, pages), loads };
};

describe("what changed between two tables", () => {
  it("is every index with another entry, in order, whichever table is older", () => {
    fc.assert(
      fc.property(changes, changes, (first, then) => {
        const put = (table: PagedTable<string>, list: typeof first) =>
          list.reduce((all, change) => all.with(change.index, change.value), table);
        const before = put(PagedTable.empty(), first);
        const after = put(before, then);
        const keys = [...new Set([...first, ...then].map((change) => change.index))].sort((a, b) => a - b);
        const differing = keys.filter((at) => before.get(at) !== after.get(at));
        expect([...after.changesSince(before)]).toEqual(differing);
        expect([...before.changesSince(after)]).toEqual(differing);
        expect([...after.changesSince(PagedTable.empty())]).toEqual(
          keys.filter((at) => after.get(at) !== undefined),
        );
      }),
      { numRuns: 60 },
    );
  });

  it("is found without reading shared pages", () => {
    const { table, loads } = lazyTable(32 * 50);
    const changed = table
      .with(32 * 3, -1)
      .with(32 * 60, -2)
      .with(32 * 1_200, -3);
    expect([...changed.changesSince(table)]).toEqual([32 * 3, 32 * 60, 32 * 1_200]);
    expect(loads).toEqual([3]);
  });
});

describe("a page that is read from a snapshot", () => {
  it("is decoded when it is first read, and only once", () => {
    const { table, loads } = lazyTable(32 * 50);
    expect(loads).toEqual([]);
    expect([table.get(32 * 20 + 5), table.get(32 * 20 + 6), table.get(32 * 20 + 5)]).toEqual([645, 646, 645]);
    expect(loads).toEqual([20]);
  });

  it("is not decoded by changes elsewhere, listing pages or reading the size", () => {
    const { table, loads } = lazyTable(32 * 50);
    const changed = table.with(32 * 3, -1).with(32 * 60, -2);
    expect([changed.size, [...changed.pages()].length]).toEqual([32 * 60 + 1, 51]);
    expect(loads).toEqual([3]);
    expect([table.get(96), changed.get(96), changed.get(97)]).toEqual([96, -1, 97]);
    expect(loads).toEqual([3]);
  });

  it("can be read again after the first decoding failed", () => {
    let attempts = 0;
    const page = new TablePage<number>(() => {
      attempts += 1;
      if (attempts === 1) throw new Error("disk");
      return [1];
    });
    expect(() => page.items).toThrow("disk");
    expect(page.items).toEqual([1]);
  });
});

describe("lastIndexUpTo", () => {
  const table = (seqs: readonly number[]) =>
    seqs.reduce((all, seq) => all.push({ seq: seqOf(seq) }), PagedTable.empty<{ readonly seq: Seq }>());

  it.each([
    { where: "in an empty table", seqs: [], seq: 5, found: -1 },
    { where: "before the first entry", seqs: [4, 8], seq: 3, found: -1 },
    { where: "at the first entry", seqs: [4, 8], seq: 4, found: 0 },
    { where: "between two entries", seqs: [4, 8], seq: 7, found: 0 },
    { where: "at the last entry", seqs: [4, 8], seq: 8, found: 1 },
    { where: "after the last entry", seqs: [4, 8], seq: 9, found: 1 },
    { where: "at seq zero", seqs: [1, 2, 3], seq: 0, found: -1 },
    { where: "among equal seqs", seqs: [1, 2, 2, 2, 3], seq: 2, found: 3 },
  ])("finds the last entry that is not later: $where", ({ seqs, seq, found }) => {
    expect(lastIndexUpTo(table(seqs), seqOf(seq))).toBe(found);
  });

  it("agrees with a linear search, however unevenly the seqs are spread", () => {
    const gaps = fc.array(fc.oneof(fc.nat(2), fc.nat(5_000)), { maxLength: 120 });
    fc.assert(
      fc.property(gaps, fc.nat(20_000), (list, seq) => {
        let total = 0;
        const seqs = list.map((gap) => {
          total += gap;
          return total;
        });
        const wanted = seqs.length === 0 ? seq : seq % (total + 2);
        expect(lastIndexUpTo(table(seqs), seqOf(wanted))).toBe(seqs.findLastIndex((one) => one <= wanted));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    { how: "evenly", seqAt: (at: number) => at * 3, most: 8 },
    { how: "late and all at once", seqAt: (at: number) => (at < 10 ? at : 1_000_000 + at), most: 50 },
    { how: "early and then hardly ever", seqAt: (at: number) => (at < 39_990 ? at : at * 1_000), most: 50 },
  ])("looks at few of forty thousand entries, when they come $how", ({ seqAt, most }) => {
    const long = table(Array.from({ length: 40_000 }, (_, at) => seqAt(at)));
    const looks = vi.spyOn(long, "get");
    for (const at of [0, 1, 9, 10, 11, 20_000, 39_989, 39_998]) {
      looks.mockClear();
      expect(lastIndexUpTo(long, seqOf(seqAt(at)))).toBe(at);
      expect(looks.mock.calls.length).toBeLessThan(most);
    }
  });
});

it("changes several entries at once like one after the other, and leaves the old table as it was", () => {
  const change = fc.tuple(fc.nat(3_000), fc.option(fc.nat(9), { nil: undefined }));
  fc.assert(
    fc.property(fc.nat(1_200), fc.array(change, { maxLength: 60 }), (size, changes) => {
      const before = numberedTable(size);
      const entries = [...before.entries()];
      const after = before.withAll(changes);
      const expected = new Map(entries);
      for (const [index, value] of changes) {
        if (value === undefined) expected.delete(index);
        else expected.set(index, value);
      }
      expect(new Map(after.entries())).toEqual(expected);
      for (const [index, value] of expected) expect(after.get(index)).toBe(value);
      expect(after.size).toBe(Math.max(size, ...changes.map(([index]) => index + 1)));
      expect([...before.entries()]).toEqual(entries);
      expect(
        before
          .push(7)
          .withAll([[size, 8]])
          .get(size),
      ).toBe(8);
    }),
    { numRuns: 60 },
  );
});
