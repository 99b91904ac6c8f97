import { describe, expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { takesValue } from "./verb-spec.ts";
import { globalFlags, verbTable } from "./verb-table.ts";

function called(args: readonly string[]) {
  const invocation = readArguments(args);
  if (!("operands" in invocation)) return invocation;
  return { ...invocation, flags: Object.fromEntries(invocation.flags) };
}

describe("an invocation", () => {
  test.each([
    [[], { verb: "up", operands: [], flags: {} }],
    [["up"], { verb: "up", operands: [], flags: {} }],
    [["--port", "4410"], { verb: "up", operands: [], flags: { port: "4410" } }],
    [["--port=4410", "status"], { verb: "status", operands: [], flags: { port: "4410" } }],
    [
      ["status", "-q", "--json", "--no-color"],
      { verb: "status", operands: [], flags: { quiet: "", json: "", "no-color": "" } },
    ],
    [["context", "3f9a", "--at", "7"], { verb: "context", operands: ["3f9a"], flags: { at: "7" } }],
    [["request", "7", "--client"], { verb: "request", operands: ["7"], flags: { client: "" } }],
    [["log", "--limit", "1", "--limit", "2"], { verb: "log", operands: [], flags: { limit: "2" } }],
    [["sessions", "--data-dir=a=b"], { verb: "sessions", operands: [], flags: { "data-dir": "a=b" } }],
    [
      ["select", "#12", "14..18", "27", "--stream", "2"],
      { verb: "select", operands: ["#12", "14..18", "27"], flags: { stream: "2" } },
    ],
    [["select", "--clear"], { verb: "select", operands: [], flags: { clear: "" } }],
    [["version"], { verb: "version" }],
    [["--version"], { verb: "version" }],
    [["help"], { verb: "help", about: null }],
    [["--help"], { verb: "help", about: null }],
  ])("%j", (args, expected) => {
    expect(called(args)).toEqual(expected);
  });

  test.each([[["up", "-h"]], [["help", "up"]], [["up", "--nonsense", "--help"]]])(
    "%j explains up",
    (args) => {
      expect(readArguments(args)).toMatchObject({
        verb: "help",
        about: { of: "verb", verb: { name: "up" } },
      });
    },
  );

  test("help knows verbs, groups, the options and everything, and suggests a name", () => {
    expect(readArguments(["help", "all"])).toEqual({ verb: "help", about: { of: "all" } });
    expect(readArguments(["help", "options"])).toEqual({ verb: "help", about: { of: "options" } });
    const look = { of: "group", group: { name: "look" } };
    expect(readArguments(["help", "look"])).toMatchObject({ verb: "help", about: look });
    const problem = "unknown verb: contxt; did you mean context?";
    expect(readArguments(["contxt", "--help"])).toEqual({ verb: "misused", problem, about: null });
  });
});

describe("run", () => {
  test.each([
    [["run", "claude"], ["claude"]],
    [
      ["run", "claude", "--help"],
      ["claude", "--help"],
    ],
    [
      ["run", "claude", "--", "--continue"],
      ["claude", "--continue"],
    ],
    [
      ["run", "--", "claude", "-p", "hi"],
      ["claude", "-p", "hi"],
    ],
    [
      ["run", "npm", "run", "build", "--", "--watch"],
      ["npm", "run", "build", "--", "--watch"],
    ],
    [
      ["run", "claude", "--port", "1"],
      ["claude", "--port", "1"],
    ],
    [
      ["run", "claude", "--", "--", "x"],
      ["claude", "--", "x"],
    ],
  ])("%j passes the client's own arguments on", (args, operands) => {
    expect(called(args)).toEqual({ verb: "run", operands, flags: {} });
  });

  test("options before the client belong to aperture", () => {
    expect(called(["run", "--port", "4410", "-q", "claude", "-q"])).toEqual({
      verb: "run",
      operands: ["claude", "-q"],
      flags: { port: "4410", quiet: "" },
    });
  });
});

describe("a misuse is reported", () => {
  test.each([
    [["dance"], "unknown verb: dance"],
    [["contxt"], "unknown verb: contxt; did you mean context?"],
    [["sesions"], "unknown verb: sesions; did you mean sessions?"],
    [["stauts"], "unknown verb: stauts; did you mean status?"],
    [["help", "doctr"], "unknown verb: doctr; did you mean doctor?"],
    [["--jubilee"], "unknown option: --jubilee"],
    [["log", "--limt", "2"], "unknown option: --limt; did you mean --limit?"],
    [["context", "--foo"], "unknown option: --foo"],
    [["log", "-x"], "unknown option: -x"],
    [["up", "now"], "unexpected argument: now"],
    [["request"], "aperture request needs N, for example: aperture request 7"],
    [["run"], "aperture run needs CLIENT, for example: aperture run claude"],
    [["up", "--json"], "aperture up has no option --json"],
    [["log", "--limit"], "--limit needs a value: --limit N"],
    [["log", "--limit", "--json"], "--limit needs a value: --limit N"],
    [["log", "--limit="], "--limit needs a value: --limit N"],
    [["log", "--limit", "0"], '--limit must be a whole number above 0, not "0"'],
    [["log", "--limit", "many"], '--limit must be a whole number above 0, not "many"'],
    [["log", "--json=yes"], "--json takes no value"],
    [["mode", "loud"], 'MODE must be observe, ask, auto or default, not "loud"'],
    [["install", "vim"], 'CLIENT must be claude, codex, gemini, opencode or pi, not "vim"'],
    [["compress", "4", "--level", "tiny"], '--level must be trimmed, summarized or minimal, not "tiny"'],
    [["pin", "4", "--when"], "--when needs a value: --when now|cache-break"],
  ])("%j", (args, problem) => {
    expect(readArguments(args)).toMatchObject({ verb: "misused", problem });
  });
});

test("every example in the table is valid", () => {
  for (const { name, examples } of verbTable) {
    expect(examples.length, name).toBeGreaterThan(0);
    for (const example of examples) {
      const [program, ...args] = (example.split(" > ")[0] ?? "").match(/'[^']*'|\S+/g) ?? [];
      expect(program).toBe("aperture");
      expect(readArguments(args).verb, example).toBe(name);
    }
  }
});

test("an option of two verbs is read as the called verb defines it", () => {
  expect(readArguments(["fork", "--to", "claude"])).toMatchObject({ verb: "fork" });
  expect(readArguments(["replay", "--to", "7"])).toMatchObject({ verb: "replay" });
  expect(readArguments(["replay", "--to", "claude"])).toMatchObject({ verb: "misused" });
});

test("an option takes a value in every verb or in none, because the scanner does not know the verb", () => {
  const all = [...globalFlags, ...verbTable.flatMap(({ flags }) => flags)];
  for (const flag of all) {
    const sameName = all.filter(({ name }) => name === flag.name);
    expect(new Set(sameName.map(takesValue)).size, flag.name).toBe(1);
  }
});

test("words after -- are operands, and short options may be joined", () => {
  expect(called(["note", "--", "-x"])).toEqual({ verb: "note", operands: ["-x"], flags: {} });
  expect(called(["status", "-qv"])).toMatchObject({ verb: "status", flags: { quiet: "", verbose: "" } });
});

test("a word that is not among the choices is accepted where the verb checks it itself", () => {
  expect(called(["run", "python"])).toMatchObject({ verb: "run", operands: ["python"] });
  expect(called(["env", "claude", "--shell", "zsh"])).toMatchObject({ verb: "env" });
});
