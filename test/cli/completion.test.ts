// Completion: every script knows every verb and option, and bash, zsh and fish really complete.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { globalFlags, verbTable } from "../../src/cli/args/verb-table.ts";
import { needsPresent, needsProgram, needsTerminals } from "../support/needs.ts";
import { converse, openRig, type Rig } from "./rig.ts";

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

  test("accepts the script", { timeout: installMs }, async (context) => {
    const program = { bash: "bash", zsh: "zsh", fish: "fish", powershell: "pwsh" }[shell];
    if (shell === "powershell") needsPresent(context, program);
    else await needsProgram(context, program);
    const path = join(rig.folder, `completion.${shell}`);
    writeFileSync(path, (await rig.run(["completion", shell])).out);
    const args = shell === "powershell" ? ["-NoProfile", "-File", path] : ["-n", path];
    const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

test("an unknown shell is refused", async () => {
  expect((await rig.run(["completion", "tcsh"])).code).toBe(2);
});

/** The lines to complete, each with the words that the shell offers. */
type Offered = ReadonlyMap<string, readonly string[]>;
type Offering = (script: string, lines: readonly string[]) => Offered;

function offeredIn(text: string): Offered {
  const rows = text.split("\n").filter((line) => line.includes(" => "));
  return new Map(
    rows.map((row) => {
      const [line = "", words = ""] = row.split(" => ");
      return [line, words.split(" ").filter(Boolean).sort()];
    }),
  );
}

/** An `aperture` on PATH, which the scripts call to list sessions. */
function environment(): Readonly<Record<string, string>> {
  const bin = join(rig.folder, "bin");
  mkdirSync(bin, { recursive: true });
  const program = join(process.cwd(), "dist", "cli", "main.cjs");
  const source = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(bin, "aperture"), source, { mode: 0o755 });
  return { ...rig.env, PATH: `${bin}:${rig.env["PATH"]}`, TERM: "xterm" };
}

function shell(
  program: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): string {
  const env = { ...environment(), ...more };
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env, cwd: rig.folder, input: "" });
  expect(stderr).toBe("");
  return stdout;
}

const inBash: Offering = (script, lines) => {
  const complete = (line: string) => `
    COMP_WORDS=(${line.split(" ").join(" ")}${line.endsWith(" ") ? '""' : ""})
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _aperture; echo "${line} => \${COMPREPLY[*]}"`;
  return offeredIn(shell("bash", ["-c", `${script}\n${lines.map(complete).join("\n")}`]));
};

const inFish: Offering = (script, lines) => {
  writeFileSync(join(rig.folder, "aperture.fish"), script);
  const commands = lines.map(
    (line) => `echo "${line} => "(complete -C "${line}" | cut -f1 | string join " ")`,
  );
  return offeredIn(shell("fish", ["-N", "-c", `source aperture.fish; ${commands.join("; ")}`]));
};

/** The line editor of zsh completes each line and reports the words; it needs a terminal. */
const inZsh: Offering = (script, lines) => {
  const folder = join(rig.folder, "zsh");
  mkdirSync(join(folder, "functions"), { recursive: true });
  writeFileSync(join(folder, "functions", "_aperture"), script);
  writeFileSync(join(folder, "lines"), lines.join("\n"));
  writeFileSync(
    join(folder, ".zshrc"),
    `fpath=($ZDOTDIR/functions $fpath)
autoload -Uz compinit
compinit -u -d $ZDOTDIR/dump
typeset -ga added
compadd() {
  if [[ " \${@[1,(i)(-|--)]} " != *" -"[OAD]" "* ]]; then
    local -a found
    builtin compadd -O found "$@"
    added+=($found)
  fi
  builtin compadd "$@"
}
zle -C offer list-choices _main_complete
zle-line-init() {
  local line
  for line in "\${(@f)$(<$ZDOTDIR/lines)}"; do
    BUFFER=$line CURSOR=$#line added=()
    zle offer
    print -r -- "$line => \${(j: :)\${(u)added}}" >> $ZDOTDIR/offered
  done
  BUFFER=exit
  zle accept-line
}
zle -N zle-line-init
`,
  );
  shell("script", ["-qec", "zsh -i", "/dev/null"], { ZDOTDIR: folder });
  return offeredIn(readFileSync(join(folder, "offered"), "utf8"));
};

describe("really completes verbs, options, values and sessions", () => {
  let start = "";
  beforeAll(async () => {
    await rig.up();
    await converse(rig, "first", ["say hello"]);
    const { rows } = JSON.parse((await rig.run(["sessions", "--json"])).out) as { rows: { id: string }[] };
    start = rows[0]?.id.slice(0, 8) ?? "";
  });

  const lines = (): readonly (readonly [line: string, words: readonly string[]])[] => [
    ["aperture ver", ["verify", "version"]],
    ["aperture --quiet bloc", ["blocks"]],
    ["aperture --port 4400 contex", ["context"]],
    ["aperture blocks --s", ["--session", "--sort", "--stream"]],
    ["aperture blocks --sort t", ["tokens"]],
    ["aperture up --det", ["--detach"]],
    ["aperture mode o", ["observe"]],
    ["aperture env c", ["claude", "codex"]],
    ["aperture help l", ["leave", "log", "look"]],
    [`aperture context ${start.slice(0, 3)}`, [start]],
    ["aperture log --session las", ["last"]],
  ];

  const optionLine = (verb: string): string => `aperture ${verb} --`;

  test.for([
    ["bash", inBash],
    ["zsh", inZsh],
    ["fish", inFish],
  ] as const)("in %s", { timeout: installMs }, async ([name, offering], context) => {
    await needsProgram(context, name);
    needsTerminals(context);
    const { out: script } = await rig.run(["completion", name]);
    const expected = lines();
    const all = [...expected.map(([line]) => line), ...verbTable.map((verb) => optionLine(verb.name))];
    const offered = offering(script, all);
    for (const [line, words] of expected) expect([line, offered.get(line)]).toEqual([line, words]);
    for (const { name: verb, flags } of verbTable) {
      const options = [...flags, ...globalFlags].map((flag) => `--${flag.name}`);
      expect(offered.get(optionLine(verb)), verb).toEqual(expect.arrayContaining(options));
    }
  });
});
