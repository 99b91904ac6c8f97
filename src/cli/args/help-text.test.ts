import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { firstSteps, fullUsage, usage, verbUsage } from "./help-text.ts";
import { flagText } from "./verb-spec.ts";
import { globalFlags, verbGroups, verbTable } from "./verb-table.ts";

test("no verb stands twice in the groups", () => {
  const names = verbGroups.flatMap(({ verbs }) => verbs.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});

test("no group except help has the name of a verb, which would win", () => {
  const verbs = verbTable.map(({ name }) => `${name}`);
  expect(verbGroups.map(({ name }) => name).filter((name) => verbs.includes(name))).toEqual(["help"]);
});

test("the first steps are five valid command lines", () => {
  expect(firstSteps).toHaveLength(5);
  for (const [line] of firstSteps) {
    expect(readArguments(line.split(" ").slice(1)).verb).not.toBe("misused");
  }
});

test("the first screen fits one screen, and names every verb and the five steps", () => {
  const text = usage(80);
  const lines = text.split("\n");
  expect(lines.length).toBeLessThanOrEqual(30);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  for (const { name } of verbTable) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
  const steps = firstSteps.map(([line]) => lines.findIndex((each) => each.startsWith(`  ${line} `)));
  expect(steps[0]).toBe(3);
  expect(steps).toEqual([...steps].sort((one, other) => one - other));
});

test.each([...verbTable])(
  "the help of $name has its own options first, and points to the global ones",
  (verb) => {
    const text = verbUsage(verb, 100);
    for (const flag of verb.flags) expect(text).toContain(`  ${flagText(flag)}`);
    for (const { name } of globalFlags.filter(({ name }) => name !== "session")) {
      expect(text).not.toMatch(new RegExp(`^ +(?:-., )?--${name}\\b`, "m"));
    }
    if (verb.flags.length > 0)
      expect(text.indexOf("\noptions:\n")).toBeLessThan(text.indexOf("\nexamples:\n"));
    expect(text.trimEnd().split("\n").at(-1)).toContain("aperture help options");
  },
);

test.each([40, 60, 80, 100])("at %i columns nothing but an example or one long word is wider", (width) => {
  for (const text of [fullUsage(width), ...verbTable.map((verb) => verbUsage(verb, width))]) {
    const [help = "", examples = ""] = text.split("\nexamples:\n");
    const rest = examples.split("\n\n").slice(1).join("\n");
    const wide = `${help}\n${rest}`.split("\n").filter((line) => line.length > width);
    expect(wide.filter((line) => /\S\s+\S/.test(line) && !line.startsWith("usage:"))).toEqual([]);
  }
});
