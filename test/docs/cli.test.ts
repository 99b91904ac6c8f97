// The reference of the command line and the table of verbs say the same, in both directions.
import { describe, expect, test } from "vitest";
import { type Flag, flagText } from "../../src/cli/args/verb-spec.ts";
import { globalFlags, verbGroups, verbTable } from "../../src/cli/args/verb-table.ts";
import { exitMeanings } from "../../src/cli/exit-codes.ts";
import { headings, page, tableWords } from "./markdown.ts";

const text = page("docs/reference/cli.md");
const sorted = (words: readonly string[]) => [...words].sort();

function section(heading: string): string {
  const [, after = ""] = text.split(`${heading}\n`);
  return after.split(/^##/m)[0] ?? "";
}

/** First cells of the tables in a section, without their headings. */
function rows(heading: string): readonly string[] {
  return tableWords(section(heading)).filter((word) => word !== "option" && word !== "code");
}

function written(flags: readonly Flag[]): readonly string[] {
  return flags.flatMap((flag) => flagText(flag).split(", "));
}

describe("the reference of the command line", () => {
  test("has every verb, and none that is gone", () => {
    expect(sorted(headings(text, 3))).toEqual(sorted(verbTable.map(({ name }) => name)));
  });

  test("has every group with its verbs", () => {
    for (const { name, verbs } of verbGroups) {
      expect(text).toContain(`| ${name} | ${verbs.map((verb) => verb.name).join(" ")} |`);
    }
  });

  test.each([...verbTable])("has every option of $name, and none that is gone", ({ name, flags }) => {
    expect(sorted(rows(`### ${name}`))).toEqual(sorted(written(flags)));
  });

  test("has every option of all verbs, and every exit code", () => {
    expect(sorted(rows("## Options of every verb"))).toEqual(sorted(written(globalFlags)));
    expect(sorted(rows("## Exit codes"))).toEqual(sorted(exitMeanings.map(([code]) => `${code}`)));
  });
});
