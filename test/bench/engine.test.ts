// A benchmark that is never run stops working. This runs its quick form through the public command.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

type Cell = { readonly name: string; readonly figure: number; readonly boundMax: number | null };
type Summary = { readonly bench: string; readonly ok: boolean; readonly cells: readonly Cell[] };

type Outcome = { readonly status: number | null; readonly outside: readonly Cell[] };

function run(): Outcome {
  const args = ["scripts/run.mjs", "bench", "engine", "--quick", "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: 290_000,
  });
  const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1) || "null") as Summary | null;
  expect(summary, stderr).toMatchObject({ bench: "engine" });
  const cells = summary?.cells ?? [];
  expect(cells.length).toBeGreaterThan(0);
  return {
    status,
    outside: cells.filter(({ figure, boundMax }) => boundMax !== null && !(figure <= boundMax)),
  };
}

/**
 * Ratios of a few microseconds vary with the machine: a figure that is out of bounds three times is a
 * mistake.
 */
test("npm run bench -- engine prints its figures, and they keep their bounds", { timeout: 900_000 }, () => {
  const first = run();
  expect(first.status).toBe(first.outside.length === 0 ? 0 : 1);
  let outside = first.outside;
  for (let again = 0; again < 2 && outside.length > 0; again += 1) {
    const names = new Set(outside.map(({ name }) => name));
    outside = run().outside.filter(({ name }) => names.has(name));
  }
  expect(outside.map(({ name, figure, boundMax }) => `${name}: ${figure} > ${boundMax}`)).toEqual([]);
});

test("an unknown benchmark prints the usage", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/run.mjs", "bench", "dance"], {
    encoding: "utf8",
  });
  expect(stderr).toContain("usage: npm run bench");
  expect(status).toBe(2);
});
