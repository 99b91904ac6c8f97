import { expect, test } from "vitest";
import { skippedLines } from "./command.ts";

test("what is said of several blocks in the same words is one line that names them", () => {
  const refused = (block: number) => ({
    block,
    code: "AP_COMMAND_REFUSED",
    message: `archive of #${block} is not allowed: the client sends it.`,
  });
  const pinned = { block: 12, code: "AP_CHANGE_PINNED", message: "#12 is pinned; unpin it first." };
  expect(skippedLines([refused(1), pinned, refused(12)])).toEqual([
    "archive of #1 #12 is not allowed: the client sends it.",
    "#12 is pinned; unpin it first.",
  ]);
  expect(skippedLines([{ block: 1, code: "X", message: "#17 is about it." }])).toEqual(["#17 is about it."]);
  expect(skippedLines([])).toEqual([]);
});
