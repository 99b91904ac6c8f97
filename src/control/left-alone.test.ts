import { expect, test } from "vitest";
import { leftAlone } from "./left-alone.ts";

const refused = (block: number) => ({
  block,
  code: "AP_COMMAND_REFUSED",
  message: `archive of #${block} is not allowed: the client sends it.`,
});

test("what is said of several blocks in the same words is one line that names them", () => {
  const pinned = { block: 12, code: "AP_CHANGE_PINNED", message: "#12 is pinned; unpin it first." };
  expect(leftAlone([refused(1), pinned, refused(2), refused(12)])).toEqual([
    "archive of #1..#2 #12 is not allowed: the client sends it.",
    "#12 is pinned; unpin it first.",
  ]);
  expect(leftAlone([])).toEqual([]);
});

test("words that do not name their block are said of it", () => {
  expect(leftAlone([{ block: 1, code: "X", message: "#17 is about it." }])).toEqual(["#1: #17 is about it."]);
});

test("what holds several, one of them included, is one line too", () => {
  const held = [5, 6, 7].map((block) => ({ block, code: "X", message: "#5 is pinned; unpin it first." }));
  expect(leftAlone(held)).toEqual(["#5..#7: #5 is pinned; unpin it first."]);
});

test("of very many blocks some are named and the others counted", () => {
  const odd = Array.from({ length: 20 }, (_, at) => refused(at * 2 + 1));
  expect(leftAlone(odd)).toEqual([
    "archive of #1 #3 #5 #7 #9 #11 #13 #15 +12 is not allowed: the client sends it.",
  ]);
});
