// A benchmark that nobody runs stops working. This runs it in its quick form, through the public command.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

type Cell = { readonly name: string; readonly figure: number; readonly boundMax: number | null };
type Summary = { readonly bench: string; readonly ok: boolean; readonly cells: readonly Cell[] };

test("npm run bench -- engine prints its figures, and they keep their bounds", { timeout: 300_000 }, () => {
  const args = ["scripts/run.mjs", "bench", "engine", "--quick", "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: 290_000,
  });
  const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1) || "null") as Summary | null;
  expect(summary, stderr).toMatchObject({ bench: "engine" });
  expect(summary?.cells.length).toBeGreaterThan(0);
  const outside = summary?.cells.filter(({ figure, boundMax }) => boundMax !== null && !(figure <= boundMax));
  expect(outside).toEqual([]);
  expect(status).toBe(0);
});

test("an unknown benchmark is a misuse, with the list", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/run.mjs", "bench", "dance"], {
    encoding: "utf8",
  });
  expect(stderr).toContain("usage: npm run bench");
  expect(status).toBe(2);
});
