import { expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { addTallies, simulate } from "./run-seed.ts";

const seedsMax = isLong ? 500 : 40;

test("what a real recorder has written down is enough to go on with", { timeout: 600_000 }, async () => {
  const total = new Map<string, number>();
  const problems: string[] = [];
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    await simulate({ seed, steps: 30, isRecorded: true }).then(
      (tally) => addTallies(total, tally),
      (error: Error) => problems.push(error.message),
    );
  }
  expect(problems.join("\n\n")).toBe("");
  expect(total.get("restart, none")).toBeGreaterThan(5);
});
