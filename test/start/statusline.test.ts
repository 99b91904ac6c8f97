// A client draws its status line after every message, so drawing it loads one file. `npm run bench -- speed`
// measures the time it takes.
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

test("the status line is drawn by one file and few modules of Node", () => {
  const program = join(process.cwd(), "dist/cli/main.cjs");
  const hook = join(rig.folder, "hook.cjs");
  const report = "{ files: Object.keys(require.cache), modules: process.moduleLoadList.length }";
  writeFileSync(hook, `process.on("exit", () => process.stderr.write(JSON.stringify(${report})));`);
  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, ["--require", hook, ...args], {
      env: rig.env,
      input: JSON.stringify({ session_id: "first" }),
      encoding: "utf8",
    });
  const bare = JSON.parse(run(["-e", "0"]).stderr) as Loaded;
  const { stdout, stderr } = run([program, "statusline"]);
  const drawn = JSON.parse(stderr) as Loaded;
  expect(stdout).toContain("/200k");
  expect(drawn.files.filter((path) => path !== hook)).toEqual([program]);
  console.log(`${drawn.modules} modules of Node, ${bare.modules} without us`);
  expect(drawn.modules - bare.modules).toBeLessThanOrEqual(modulesMax);
});

type Loaded = { readonly files: readonly string[]; readonly modules: number };

/** Those of an HTTP request. */
const modulesMax = 10;
