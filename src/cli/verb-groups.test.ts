import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { fullUsage, usage, verbUsage } from "./usage.ts";
import { firstSteps, verbGroups } from "./verb-groups.ts";
import { verbTable } from "./verb-table.ts";

test("every verb stands in exactly one group", () => {
  const grouped = verbGroups.flatMap(({ verbs }) => verbs);
  expect([...grouped].sort()).toEqual(verbTable.map(({ name }) => name).sort());
});

test("no group but that of help is called like a verb, which would win", () => {
  const verbs = verbTable.map(({ name }) => `${name}`);
  expect(verbGroups.map(({ name }) => name).filter((name) => verbs.includes(name))).toEqual(["help"]);
});

test("the first steps are five lines that are understood", () => {
  expect(firstSteps).toHaveLength(5);
  for (const [line] of firstSteps) {
    expect(readArguments(line.split(" ").slice(1)).verb).not.toBe("misused");
  }
});

test("the first screen is one screen, and names every verb and the five steps", () => {
  const text = usage(80);
  const lines = text.split("\n");
  expect(lines.length).toBeLessThanOrEqual(30);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  for (const { name } of verbTable) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
  const steps = firstSteps.map(([line]) => lines.findIndex((each) => each.startsWith(`  ${line} `)));
  expect(steps[0]).toBe(3);
  expect(steps).toEqual([...steps].sort((one, other) => one - other));
});

test.each([40, 60, 80, 100])("at %i columns nothing but an example or one long word is wider", (width) => {
  for (const text of [fullUsage(width), ...verbTable.map((verb) => verbUsage(verb, width))]) {
    const [help = "", examples = ""] = text.split("\nexamples:\n");
    const rest = examples.split("\n\n").slice(1).join("\n");
    const wide = `${help}\n${rest}`.split("\n").filter((line) => line.length > width);
    expect(wide.filter((line) => /\S\s+\S/.test(line) && !line.startsWith("usage:"))).toEqual([]);
  }
});
