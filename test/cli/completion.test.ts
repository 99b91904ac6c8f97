// Completion: every shell is told of every verb and option, and bash really completes.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { globalFlags, verbTable } from "../../src/cli/index.ts";
import { needsProgram } from "../support/needs.ts";
import { openRig, type Rig, talk } from "./rig.ts";

/** A shell may have to be installed first. */
const installMs = 300_000;

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

const shells = ["bash", "zsh", "fish", "powershell"] as const;

describe.each(shells)("%s", (shell) => {
  test("knows every verb and every option", async () => {
    const { code, out } = await rig.run(["completion", shell]);
    expect(code).toBe(0);
    for (const { name, flags } of verbTable) {
      expect(out).toMatch(new RegExp(`\\b${name}\\b`));
      for (const flag of [...flags, ...globalFlags]) {
        expect(out).toMatch(
          shell === "fish" ? new RegExp(`-l ${flag.name}\\b`) : new RegExp(`--${flag.name}\\b`),
        );
      }
    }
  });

  test("takes the script without complaint", { timeout: installMs }, async (context) => {
    const program = { bash: "bash", zsh: "zsh", fish: "fish", powershell: "pwsh" }[shell];
    await needsProgram(context, program);
    const path = join(rig.folder, `completion.${shell}`);
    writeFileSync(path, (await rig.run(["completion", shell])).out);
    const args = shell === "powershell" ? ["-NoProfile", "-File", path] : ["-n", path];
    const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

test("another shell has none", async () => {
  expect((await rig.run(["completion", "tcsh"])).code).toBe(2);
});

/** What bash offers for a line whose last word is being typed. */
function offered(script: string, words: readonly string[]): readonly string[] {
  const program = join(process.cwd(), "dist", "cli", "main.cjs");
  const list = words.map((word) => `'${word}'`).join(" ");
  const source = `
    aperture() { '${process.execPath}' '${program}' "$@"; }
    ${script}
    COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}
    _aperture
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync("bash", ["-c", source], { encoding: "utf8", env: { ...rig.env } });
  return stdout.split("\n").filter((word) => word !== "");
}

test("bash completes verbs, options, values and sessions", async () => {
  await rig.up();
  await talk(rig, "first", ["say hello"]);
  const { out: script } = await rig.run(["completion", "bash"]);
  expect(offered(script, ["aperture", "ver"])).toEqual(["verify", "version"]);
  expect(offered(script, ["aperture", "--quiet", "bloc"])).toEqual(["blocks"]);
  expect(offered(script, ["aperture", "blocks", "--s"])).toEqual(["--sort", "--stream", "--session"]);
  expect(offered(script, ["aperture", "blocks", "--sort", "t"])).toEqual(["tokens"]);
  expect(offered(script, ["aperture", "mode", "o"])).toEqual(["observe"]);
  expect(offered(script, ["aperture", "env", "c"])).toEqual(["claude", "codex"]);
  const { rows } = JSON.parse((await rig.run(["sessions", "--json"])).out) as { rows: { id: string }[] };
  const start = rows[0]?.id.slice(0, 8) ?? "";
  expect(offered(script, ["aperture", "context", start.slice(0, 3)])).toEqual([start]);
  expect(offered(script, ["aperture", "log", "--session", "las"])).toEqual(["last"]);
}, 60_000);
