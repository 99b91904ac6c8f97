import { expect, test } from "vitest";
import { answersText } from "./answers.ts";
import { isOwnLine } from "./own-line.ts";

test("each answer stands behind a line of ours that names what it answers", () => {
  const asked = `@create("${"x".repeat(200)}")`;
  const lines = answersText("k7f3", [
    { command: "@pin(4)", text: "#4 pinned." },
    { command: asked, text: "noted" },
  ]).split("\n");
  expect(lines.map((line) => isOwnLine(line, "k7f3"))).toEqual([true, false, true, false]);
  expect(lines.slice(0, 2)).toEqual(["[k7f3 answer to @pin(4)]", "#4 pinned."]);
  expect(lines[2]?.length).toBeLessThan(120);
});
