import { expect, test } from "vitest";
import { coloured, plain, wantsColour } from "./paint.ts";
import { alignRows, tableLines } from "./table.ts";

test("columns are aligned, numbers to the right", () => {
  const rows = [
    [{ text: "a" }, { text: "7", align: "right" as const }, { text: "x" }],
    [{ text: "long" }, { text: "120", align: "right" as const }, { text: "" }],
  ];
  expect(alignRows(rows)).toEqual(["a       7  x", "long  120"]);
  expect(tableLines(["name", "n", ""], rows, plain)[0]).toBe("name    n");
});

test("wide characters take two columns, accents none", () => {
  const lines = alignRows(["修复", "éé", "ab"].map((text) => [{ text }, { text: "|" }]));
  expect(lines).toEqual(["修复  |", "éé    |", "ab    |"]);
});

test("colours take no width", () => {
  const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
  const rows = [
    [{ text: "ok", style: "green" as const }, { text: "x" }],
    [{ text: "fail" }, { text: "y" }],
  ];
  expect(alignRows(rows, coloured)[0]).not.toBe(alignRows(rows)[0]);
  expect(alignRows(rows, coloured).map((line) => line.replace(escapes, ""))).toEqual(alignRows(rows));
});

test.each([
  { name: "a terminal", env: {}, isTerminal: true, expected: true },
  { name: "a pipe", env: {}, isTerminal: false, expected: false },
  { name: "NO_COLOR", env: { NO_COLOR: "1" }, isTerminal: true, expected: false },
  { name: "an empty NO_COLOR", env: { NO_COLOR: "" }, isTerminal: true, expected: true },
  {
    name: "NO_COLOR before FORCE_COLOR",
    env: { NO_COLOR: "1", FORCE_COLOR: "1" },
    isTerminal: true,
    expected: false,
  },
  { name: "FORCE_COLOR in a pipe", env: { FORCE_COLOR: "1" }, isTerminal: false, expected: true },
  { name: "a dumb terminal", env: { TERM: "dumb" }, isTerminal: true, expected: false },
])("colours: $name", ({ env, isTerminal, expected }) => {
  expect(wantsColour({ env, isTerminal, isSwitchedOff: false })).toBe(expected);
  expect(wantsColour({ env, isTerminal, isSwitchedOff: true })).toBe(false);
});
