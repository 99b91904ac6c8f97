// Worlds in which things grow old and the window is full. In a file of its own: they take longest.
import { expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { addTallies, simulate } from "./run-seed.ts";

const seedsMax = isLong ? 500 : 5;
const timeout = 600_000;

test("where the window fills, something goes, by us or by the provider", { timeout }, async () => {
  const total = new Map<string, number>();
  const problems: string[] = [];
  for (let seed = 1; seed <= seedsMax; seed += 1)
    await simulate({ seed, steps: 30, isRecorded: true, isAged: true, isCrowded: true }).then(
      (tally) => addTallies(total, tally),
      (error: Error) => problems.push(error.message),
    );
  expect(problems.join("\n\n")).toBe("");
  const happened = ["epoch, pressure", "means, own", "means, provider", "shown placeholder"];
  expect(happened.filter((name) => (total.get(name) ?? 0) === 0)).toEqual([]);
});
