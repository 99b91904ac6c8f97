import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AssertionFault, seqOf } from "../base/index.ts";
import { type Versions, versionAt, versionList, versionsFrom, withVersion } from "./versions.ts";

type Entry = readonly [number, string];
type Log = { readonly log: Versions<string> | null; readonly list: readonly Entry[] };

const versions = (entries: readonly Entry[]): Versions<string> | null =>
  entries.reduce<Versions<string> | null>(
    (newest, [seq, value]) => withVersion(newest, seqOf(seq), value),
    null,
  );

const longVersions = (length: number): Versions<string> =>
  versions(Array.from({ length }, (_, at) => [at + 1, `v${at + 1}`] as const)) as Versions<string>;

/** Ascending seqs, some of them repeated. */
const entries: fc.Arbitrary<readonly Entry[]> = fc
  .array(fc.tuple(fc.nat(3), fc.string()), { maxLength: 80 })
  .map((list) => {
    let seq = 1;
    return list.map(([gap, value]) => {
      seq += gap;
      return [seq, value] as const;
    });
  });

describe("versions", () => {
  it("have no value before the first, and the newest from its seq on", () => {
    const log = versions([
      [3, "a"],
      [5, "b"],
    ]);
    expect([0, 2, 3, 4, 5, 6].map((seq) => versionAt(log, seqOf(seq))?.value)).toEqual([
      undefined,
      undefined,
      "a",
      "a",
      "b",
      "b",
    ]);
  });

  it("without entries have no version", () => {
    expect([versionAt(null, seqOf(9)), versionAt(undefined, seqOf(9))]).toEqual([null, null]);
    expect([versionList(null), versionsFrom([])]).toEqual([[], null]);
  });

  it("a second value in one frame replaces the first", () => {
    const log = versions([
      [3, "a"],
      [5, "b"],
      [5, "c"],
    ]);
    expect(versionList(log)).toEqual([
      [3, "a"],
      [5, "c"],
    ]);
    expect(log?.length).toBe(2);
  });

  it("are appended in seq order only", () => {
    expect(() => withVersion(versions([[5, "a"]]), seqOf(4), "b")).toThrow(AssertionFault);
  });

  it("as of any seq agree with a plain array", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const log = versions(list);
        const last = list.at(-1)?.[0] ?? 0;
        for (let seq = 0; seq <= last + 1; seq += 1) {
          const expected = list.findLast(([at]) => at <= seq);
          const found = versionAt(log, seqOf(seq));
          expect([found?.seq, found?.value]).toEqual([expected?.[0], expected?.[1]]);
        }
      }),
    );
  });

  it("an older version does not change when one is appended to it", () => {
    fc.assert(
      fc.property(entries, fc.string(), (list, value) => {
        const log = versions(list);
        const before = versionList(log);
        withVersion(log, seqOf((log?.seq ?? 0) + 1), value);
        withVersion(log, log?.seq ?? seqOf(1), value);
        expect(versionList(log)).toEqual(before);
      }),
    );
  });

  it("two successors of one version do not see each other, nor what either replaced", () => {
    const follow = fc.array(fc.tuple(fc.nat(2), fc.string()), { maxLength: 30 });
    fc.assert(
      fc.property(entries, follow, follow, (list, one, other) => {
        const shared = versions(list);
        const last = list.at(-1)?.[0] ?? 1;
        const [ones, others] = [one, other].map((tail) => after(last, tail)) as [Entry[], Entry[]];
        let [a, b] = [shared, shared];
        // Alternating, so that each finds the other's versions behind the log they share.
        for (let at = 0; at < Math.max(ones.length, others.length); at += 1) {
          a = at < ones.length ? withVersion(a, ...entryAt(ones, at)) : a;
          b = at < others.length ? withVersion(b, ...entryAt(others, at)) : b;
        }
        for (let seq = 0; seq <= last + 62; seq += 1) {
          expect(valueAt(shared, seq)).toEqual(expectedValue(list, seq));
          expect(valueAt(a, seq)).toEqual(expectedValue([...list, ...ones], seq));
          expect(valueAt(b, seq)).toEqual(expectedValue([...list, ...others], seq));
        }
      }),
    );
  });

  it("all stay unchanged when any of them gets any number of successors", () => {
    const followed = fc.array(fc.tuple(fc.nat(), fc.nat(2)), { maxLength: 60 });
    fc.assert(
      fc.property(followed, (choices) => {
        // Long enough to have a history from the beginning.
        const list = Array.from({ length: 8 }, (_, at) => [at + 1, `first ${at}`] as const);
        const logs: Log[] = [{ log: versions(list), list }];
        for (const [at, [chosen, gap]] of choices.entries()) {
          const from = logs[chosen % logs.length] as Log;
          const entry = [(from.log?.seq ?? 0) + gap, `v${at}`] as const;
          logs.push({
            log: withVersion(from.log, ...entryAt([entry], 0)),
            list: [...from.list, entry],
          });
        }
        for (const { log, list } of logs) {
          const last = list.at(-1)?.[0] ?? 0;
          for (let seq = 0; seq <= last; seq += 1) expect(valueAt(log, seq)).toBe(expectedValue(list, seq));
        }
      }),
    );
  });

  it("survive their list unchanged", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const log = versions(list);
        const back = versionsFrom(versionList(log));
        expect(versionList(back)).toEqual(versionList(log));
        expect(back?.length).toBe(log?.length);
      }),
    );
  });
});

describe("finding a version", () => {
  it("reads a handful of ten thousand seqs, whichever seq is wanted", () => {
    const log = longVersions(10_000);
    for (let seq = 0; seq <= 10_000; seq += 37) {
      const { looked, value } = countReads(log, seq);
      expect(value).toBe(seq === 0 ? undefined : `v${seq}`);
      expect(looked).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(10_000)));
    }
  });

  it("is as short if frames replaced values of their own", () => {
    const twice = versions(Array.from({ length: 4_000 }, (_, at) => [1 + (at >>> 1), `v${at}`] as const));
    expect(twice?.length).toBe(2_000);
    expect(twice?.history?.length).toBe(4_000);
    expect(countReads(twice as Versions<string>, 3).looked).toBeLessThanOrEqual(12);
  });

  it("costs nothing for the newest, which nearly every reader wants", () => {
    expect(countReads(longVersions(1_000), 1_000).looked).toBe(0);
    expect(countReads(longVersions(1_000), 5_000).looked).toBe(0);
  });

  it("uses one history for all versions of a chain", () => {
    const log = longVersions(100);
    const next = withVersion(log, seqOf(101), "next");
    expect(next.history).toBe(log.history);
    expect(withVersion(log, seqOf(101), "otherwise").history).not.toBe(log.history);
  });
});

function after(last: number, tail: readonly Entry[]): Entry[] {
  let seq = last;
  return tail.map(([gap, value]) => {
    seq += gap;
    return [seq, value];
  });
}

function entryAt(list: readonly Entry[], at: number) {
  const [seq, value] = list[at] as Entry;
  return [seqOf(seq), value] as const;
}

function valueAt(log: Versions<string> | null, seq: number): string | undefined {
  return versionAt(log, seqOf(seq))?.value;
}

function expectedValue(list: readonly Entry[], seq: number): string | undefined {
  return list.findLast(([at]) => at <= seq)?.[1];
}

/** Calls versionAt over a history that counts how many of its seqs are read. */
function countReads(log: Versions<string>, seq: number) {
  let looked = 0;
  const history = new Proxy(log.history as NonNullable<typeof log.history>, {
    get: (entries, name) => {
      if (Number(name) % 2 === 0) looked += 1;
      return Reflect.get(entries, name);
    },
  });
  const value = versionAt({ ...log, history }, seqOf(seq))?.value;
  return { looked, value };
}
