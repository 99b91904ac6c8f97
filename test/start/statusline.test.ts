// A client draws its status line after every message. This test measures time, so it runs by itself.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { converse, openRig, type Rig } from "../cli/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  await converse(rig, "first", ["say hello", "say more"]);
});
afterAll(() => rig.close());

test("the status line takes little more than starting Node", { timeout: 60_000 }, () => {
  const program = join(process.cwd(), "dist/cli/main.cjs");
  const input = join(rig.folder, "line.json");
  writeFileSync(input, JSON.stringify({ session_id: "first" }));
  const [bare, drawn]: [Cost[], Cost[]] = [[], []];
  // The best of several runs, taken in turn, so that other load on the machine hardly counts. If the result
  // seems too slow, more runs make both numbers more certain.
  for (let at = 0; at < 48 && (at < 12 || isTooMuch(best(bare), best(drawn))); at += 1) {
    bare.push(costOf([process.execPath, "-e", "0"], input));
    drawn.push(costOf([process.execPath, program, "statusline"], input));
  }
  const [least, usual] = [best(bare), best(drawn)];
  const seen = `${costText(usual)}; of it, starting Node ${costText(least)}; ${bare.length} times`;
  console.log(`statusline ${seen}`);
  expect(isTooMuch(least, usual), seen).toBe(false);
});

/** CPU time is compared as a ratio, because processors differ. A line may take 50 ms if Node starts fast. */
function isTooMuch(least: Cost, usual: Cost): boolean {
  return usual.workMs >= 1.75 * least.workMs || usual.wallMs >= Math.max(50, 2.5 * least.wallMs);
}

type Cost = { readonly wallMs: number; readonly workMs: number };

/** The wall time and the CPU time of a command. */
function costOf(command: readonly string[], input: string): Cost {
  const quoted = command.map((word) => `'${word}'`).join(" ");
  const timed = `TIMEFORMAT='%3R %3U %3S'; time ${quoted} < '${input}' > /dev/null`;
  const { stderr } = spawnSync("bash", ["-c", timed], { env: rig.env, encoding: "utf8" });
  const [wall = 0, user = 0, system = 0] = stderr
    .trim()
    .split(" ")
    .map((text) => Number(text) * 1_000);
  return { wallMs: wall, workMs: user + system };
}

function best(costs: readonly Cost[]): Cost {
  const least = (pick: (cost: Cost) => number) => Math.min(...costs.map(pick));
  return { wallMs: least(({ wallMs }) => wallMs), workMs: least(({ workMs }) => workMs) };
}

function costText({ wallMs, workMs }: Cost): string {
  return `takes ${wallMs.toFixed(0)} ms (${workMs.toFixed(0)} ms of work)`;
}
