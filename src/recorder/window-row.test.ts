import fc from "fast-check";
import { expect, it } from "vitest";
import { numRuns } from "../../test/support/runs.ts";
import { windowRow } from "./window-row.ts";

const usage = (input: number) => ({ input, cacheRead: 0, cacheWrite: 0, output: 0 });

it("used and free add up to the size, and an unknown size stays unknown", () => {
  fc.assert(
    fc.property(fc.nat(2_000_000), fc.option(fc.nat(1_000_000)), fc.boolean(), (used, size, isCounted) => {
      const row = windowRow({ usage: isCounted ? usage(used) : null, estimate: () => used, size });
      expect([row.used, row.exact]).toEqual([used, isCounted]);
      if (size === null) expect([row.free, row.size]).toEqual([null, null]);
      else expect([used + (row.free ?? Number.NaN), row.size]).toEqual([row.size, Math.max(size, used)]);
    }),
    numRuns(200),
  );
});
