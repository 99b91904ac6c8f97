import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";

test.each([
  [[], "up"],
  [["up"], "up"],
  [["help"], "help"],
  [["--help"], "help"],
  [["up", "-h"], "help"],
  [["version"], "version"],
  [["--version"], "version"],
])("%j means %s", (args, verb) => {
  expect(readArguments(args)).toEqual({ verb });
});

test.each([
  [["dance"], "unknown verb: dance"],
  [["--dance"], "unknown option: --dance"],
  [["up", "now"], "unexpected argument: now"],
])("%j is a misuse", (args, problem) => {
  expect(readArguments(args)).toEqual({ verb: "misused", problem });
});
