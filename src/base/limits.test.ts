import { expect, it } from "vitest";
import { limits } from "./limits.ts";

it.each(Object.entries(limits))(
  "%s is a whole number above zero and says that it is a maximum",
  (name, value) => {
    expect(Number.isSafeInteger(value) && value > 0).toBe(true);
    expect(name).toMatch(/Max$/);
  },
);

it("every numbered thing stays below the largest key of a table", () => {
  const keys = [limits.blocksMax, limits.unitsMax, limits.framesMax, limits.streamsMax, limits.viewsMax];
  expect(Math.max(...keys, limits.turnsMax * 2)).toBeLessThan(2 ** 30);
});

it("a frame may hold the maximum of small deltas, and a reservation fits into the ids", () => {
  expect(limits.deltasPerFrameMax).toBeGreaterThan(limits.blocksPerMessageMax);
  expect(limits.idsPerReservationMax).toBeLessThan(limits.blocksMax);
});
