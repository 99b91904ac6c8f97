// A client draws its status line after every message. Here and not with the other verbs, because it is timed.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRig, type Rig, talk } from "../cli/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  await talk(rig, "first", ["say hello", "say more"]);
});
afterAll(() => rig.close());

test("it takes little more than starting Node", { timeout: 60_000 }, () => {
  const program = join(process.cwd(), "dist/cli/main.cjs");
  const input = join(rig.folder, "line.json");
  writeFileSync(input, JSON.stringify({ session_id: "first" }));
  const [bare, drawn]: [Cost[], Cost[]] = [[], []];
  // The best of several, side by side: what else the machine does is none of its business. The more there
  // are, the surer both are, so where it seems too much it is measured on.
  for (let at = 0; at < 48 && (at < 12 || isTooMuch(best(bare), best(drawn))); at += 1) {
    bare.push(costOf([process.execPath, "-e", "0"], input));
    drawn.push(costOf([process.execPath, program, "statusline"], input));
  }
  const [least, usual] = [best(bare), best(drawn)];
  const seen = `${words(usual)}; of it, starting Node ${words(least)}; ${bare.length} times`;
  console.log(`statusline ${seen}`);
  expect(isTooMuch(least, usual), seen).toBe(false);
});

/** Work is a ratio, because processors differ; 50 ms is what a line may take, where Node leaves room. */
function isTooMuch(least: Cost, usual: Cost): boolean {
  return usual.workMs >= 1.75 * least.workMs || usual.wallMs >= Math.max(50, 2.5 * least.wallMs);
}

type Cost = { readonly wallMs: number; readonly workMs: number };

/** How long a command takes, and how long processors work for it. */
function costOf(command: readonly string[], input: string): Cost {
  const words = command.map((word) => `'${word}'`).join(" ");
  const timed = `TIMEFORMAT='%3R %3U %3S'; time ${words} < '${input}' > /dev/null`;
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

function words({ wallMs, workMs }: Cost): string {
  return `takes ${wallMs.toFixed(0)} ms (${workMs.toFixed(0)} ms of work)`;
}
