import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AssertionFault, seqOf } from "../base/index.ts";
import { type Versions, versionAt, versionList, versionsFrom, withVersion } from "./versions.ts";

type Entry = readonly [number, string];

const versions = (entries: readonly Entry[]): Versions<string> | null =>
  entries.reduce<Versions<string> | null>(
    (newest, [seq, value]) => withVersion(newest, seqOf(seq), value),
    null,
  );

const long = (length: number): Versions<string> =>
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
  it("hold nothing before the first, and the newest from its seq on", () => {
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

  it("of nothing are nothing", () => {
    expect([versionAt(null, seqOf(9)), versionAt(undefined, seqOf(9))]).toEqual([null, null]);
    expect([versionList(null), versionsFrom([])]).toEqual([[], null]);
  });

  it("a second value in one frame replaces the first: nobody ever saw the middle of a frame", () => {
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

  it("are appended in order, never into the past", () => {
    expect(() => withVersion(versions([[5, "a"]]), seqOf(4), "b")).toThrow(AssertionFault);
  });

  it("as of any seq are what an array of them says", () => {
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

  it("an older log stays as it was when one is appended to it", () => {
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

  it("come back from their list the same, jumps included", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const log = versions(list);
        expect(shape(versionsFrom(versionList(log)))).toEqual(shape(log));
      }),
    );
  });
});

describe("the jumps between versions", () => {
  it("are those of a skew-binary list", () => {
    const jumps = shape(long(16)).map(({ jump }) => jump);
    expect(jumps).toEqual([0, 1, 0, 3, 4, 3, 0, 7, 8, 7, 10, 11, 10, 7, 0, 15]);
  });

  it("cross ten thousand versions in a few dozen steps, wherever one goes", () => {
    const log = long(10_000);
    let most = 0;
    for (let seq = 1; seq <= 10_000; seq += 37) {
      const { walked, value } = walk(log, seq);
      expect(value).toBe(`v${seq}`);
      most = Math.max(most, walked);
    }
    expect(most).toBeLessThanOrEqual(3 * Math.ceil(Math.log2(10_000)));
    expect(walk(log, 0).walked).toBeLessThanOrEqual(3 * Math.ceil(Math.log2(10_000)));
  });

  it("are as good where frames replaced values of their own", () => {
    const twice = versions(Array.from({ length: 4_000 }, (_, at) => [1 + (at >>> 1), `v${at}`] as const));
    expect(twice?.length).toBe(2_000);
    expect(walk(twice as Versions<string>, 3).walked).toBeLessThanOrEqual(33);
  });

  it("cost nothing for the newest, which is what nearly everybody asks for", () => {
    expect(walk(long(1_000), 1_000).walked).toBe(1);
    expect(walk(long(1_000), 5_000).walked).toBe(1);
  });
});

/** Oldest first: the length of each version and of the one its jump leads to. */
function shape(newest: Versions<string> | null): readonly { length: number; jump: number }[] {
  const list: { length: number; jump: number }[] = [];
  for (let version = newest; version !== null; version = version.previous) {
    list.push({ length: version.length, jump: version.jump?.length ?? 0 });
  }
  return list.reverse();
}

/** versionAt over versions that note when they are looked at. */
function walk(
  log: Versions<string>,
  seq: number,
): { readonly walked: number; readonly value: string | undefined } {
  const seen = new Set<number>();
  const watched = (version: Versions<string> | null): Versions<string> | null =>
    version === null
      ? null
      : {
          length: version.length,
          value: version.value,
          get seq() {
            seen.add(version.length);
            return version.seq;
          },
          get previous() {
            return watched(version.previous);
          },
          get jump() {
            return watched(version.jump);
          },
        };
  const value = versionAt(watched(log), seqOf(seq))?.value;
  return { walked: seen.size, value };
}
