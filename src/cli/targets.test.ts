import { describe, expect, test } from "vitest";
import { exitCodes } from "./exit-codes.ts";
import { readBlocks, readExpandTarget, readTarget } from "./targets.ts";

describe("a target", () => {
  test.each([
    ["12", { of: "block", first: 12, last: 12 }],
    ["#12", { of: "block", first: 12, last: 12 }],
    ["block-12", { of: "block", first: 12, last: 12 }],
    ["12..18", { of: "block", first: 12, last: 18 }],
    ["#12..18", { of: "block", first: 12, last: 18 }],
    ["#12..#18", { of: "block", first: 12, last: 18 }],
    ["block-12..18", { of: "block", first: 12, last: 18 }],
    ["block-12..block-18", { of: "block", first: 12, last: 18 }],
    ["message-10", { of: "message", first: 10, last: 10 }],
    ["message-10..25", { of: "message", first: 10, last: 25 }],
    ["message-10..message-25", { of: "message", first: 10, last: 25 }],
  ])("%s", (word, target) => {
    expect(readTarget(word)).toEqual(target);
  });

  test.each([
    "",
    "0",
    "#0",
    "seven",
    "-3",
    "18..12",
    "1..",
    "..3",
    "1...3",
    "block12",
    "message-10..block-12",
  ])("is not %j", (word) => {
    expect(readTarget(word)).toBeNull();
  });
});

describe("blocks", () => {
  test("are numbers without repetition", () => {
    expect(readBlocks(["#12", "12..14", "block-27"])).toEqual({ ok: true, value: [12, 13, 14, 27] });
  });

  test.each(["seven", "message-3"])("are not %s, and the problem says how to write them", (word) => {
    const read = readBlocks(["1", word]);
    expect(read).toMatchObject({ ok: false, problem: { exit: exitCodes.usage } });
    expect(!read.ok && read.problem.message).toContain(`"${word}" is not a block. Write 12`);
    expect(!read.ok && read.problem.message).toContain("`aperture blocks`");
  });

  test("are at most 1000", () => {
    const read = readBlocks(["1..900000000000000"]);
    expect(!read.ok && read.problem.message).toContain("more than 1000 blocks");
  });
});

describe("an expand target", () => {
  test("is one block, or a range of messages", () => {
    expect(readExpandTarget("#27")).toEqual({ ok: true, value: { block: "27" } });
    expect(readExpandTarget("message-10..25")).toEqual({ ok: true, value: { messages: "10..25" } });
  });

  test.each([
    ["27..30", "message-10..25"],
    ["x", "cannot be expanded"],
  ])("is not %s", (word, text) => {
    const read = readExpandTarget(word);
    expect(!read.ok && read.problem.message).toContain(text);
  });
});
