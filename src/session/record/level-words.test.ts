import { expect, test } from "vitest";
import { wordsIn } from "./level-words.ts";

const result = (text: string): Uint8Array =>
  Buffer.from(JSON.stringify({ type: "tool_result", tool_use_id: "a", content: text }));

test("what was masked is not told from the record: it does not hold it in full", () => {
  for (const text of [
    `key: ${"*".repeat(40)}`,
    `Bearer ${"*".repeat(8)} was refused`,
    `one\nkey=${"*".repeat(20)}`,
  ])
    expect(wordsIn(result(text)), text).toBeNull();
});

test("asterisks that begin a line are a ruler or frame a comment", () => {
  const framed = [
    "/********",
    " * The store.",
    " *********/",
    "",
    "Title",
    "*********",
    "  12\t/***** Boxed *****/",
  ];
  expect(wordsIn(result(framed.join("\n")))).toMatchObject({ text: framed.join("\n") });
  expect(wordsIn(result([...framed, `token ${"*".repeat(12)}`].join("\n")))).toBeNull();
});
