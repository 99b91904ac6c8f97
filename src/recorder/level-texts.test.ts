import { expect, test } from "vitest";
import { readUnmasked } from "./level-texts.ts";

const result = (text: string): Uint8Array =>
  Buffer.from(JSON.stringify({ type: "tool_result", tool_use_id: "a", content: text }));

test("a masked unit cannot be read from the record", () => {
  for (const text of [
    `key: ${"*".repeat(40)}`,
    `Bearer ${"*".repeat(8)} was refused`,
    `one\nkey=${"*".repeat(20)}`,
  ])
    expect(readUnmasked(result(text), { form: "anthropic" }), text).toBeNull();
});

test("asterisks at the start of a line are not a mask", () => {
  const framed = [
    "/********",
    " * The store.",
    " *********/",
    "",
    "Title",
    "*********",
    "  12\t/***** Boxed *****/",
  ];
  expect(readUnmasked(result(framed.join("\n")), { form: "anthropic" })).toMatchObject({
    text: framed.join("\n"),
  });
  expect(
    readUnmasked(result([...framed, `token ${"*".repeat(12)}`].join("\n")), { form: "anthropic" }),
  ).toBeNull();
});
