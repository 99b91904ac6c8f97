// Worlds in which the model calls our tools, alone and beside the client's, who knows nothing of it.
import { expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { addTallies, simulate } from "./run-seed.ts";
import known from "./seeds.json" with { type: "json" };

const seedsMax = isLong ? 500 : 25;
const timeout = 600_000;
const world = { steps: 30, isRecorded: true, hasHands: true };

/** Those that still break a law are listed to be looked at. */
type Open = { readonly seed: number; readonly world: string };
const listed = (known.open as readonly Open[]).filter((one) => one.world === "hands");
const open = new Set(listed.map(({ seed }) => seed));

for (const { seed, why } of known.hands)
  test(`seed ${seed} once broke a law: ${why}`, { timeout }, async () => {
    await simulate({ seed, ...world });
  });

test("calls that no client sees break no law", { timeout }, async () => {
  const total = new Map<string, number>();
  const problems: string[] = [];
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    if (open.has(seed)) continue;
    await simulate({ seed, ...world }).then(
      (tally) => addTallies(total, tally),
      (error: Error) => problems.push(error.message),
    );
  }
  if (open.size > 0)
    console.log(`seeds that are left out because they still break a law: ${[...open].join(", ")}`);
  expect(problems.join("\n\n")).toBe("");
  expect(total.get("round, managed")).toBeGreaterThan(50);
  expect(total.get("restart, none")).toBeGreaterThan(5);
});
