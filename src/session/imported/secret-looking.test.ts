import { expect, test } from "vitest";
import { secretsIn } from "./secret-looking.ts";

const long = "aB3".repeat(20);

test.each([
  ["a key of a provider", `export KEY=sk-ant-api03-${long}`, `sk-ant-api03-${long}`],
  ["a token of a forge", `ghp_${long.slice(0, 36)} is mine`, `ghp_${long.slice(0, 36)}`],
  ["an id of a cloud", "AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"],
  ["a signed token", `Bearer eyJ${long}.${long}.${long}`, `eyJ${long}.${long}.${long}`],
])("%s is found", (_, text, secret) => {
  expect(secretsIn(`${text} and ${text}`)).toEqual([secret]);
});

test("names that only begin alike are none", () => {
  expect(secretsIn("sk-learn task-force-of-the-whole-team ghp_short AKIA eyJ.a.b")).toEqual([]);
});
