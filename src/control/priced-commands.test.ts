import { expect, test } from "vitest";
import { skipReasons } from "./priced-commands.ts";

const refused = (block: number) => ({
  block,
  code: "AP_COMMAND_REFUSED",
  message: `archive of #${block} is not allowed: the client sends it.`,
});

test("blocks with the same reason share one line that names them", () => {
  const pinned = { block: 12, code: "AP_CHANGE_PINNED", message: "#12 is pinned; unpin it first." };
  expect(skipReasons([refused(1), pinned, refused(2), refused(12)])).toEqual([
    "archive of #1..#2 #12 is not allowed: the client sends it.",
    "#12 is pinned; unpin it first.",
  ]);
  expect(skipReasons([])).toEqual([]);
});

test("a reason that does not name its block is prefixed with it", () => {
  expect(skipReasons([{ block: 1, code: "X", message: "#17 is about it." }])).toEqual([
    "#1: #17 is about it.",
  ]);
});

test("blocks that one of them holds share a line", () => {
  const held = [5, 6, 7].map((block) => ({ block, code: "X", message: "#5 is pinned; unpin it first." }));
  expect(skipReasons(held)).toEqual(["#5..#7: #5 is pinned; unpin it first."]);
});

test("of many blocks some are named and the rest counted", () => {
  const odd = Array.from({ length: 20 }, (_, at) => refused(at * 2 + 1));
  expect(skipReasons(odd)).toEqual([
    "archive of #1 #3 #5 #7 #9 #11 #13 #15 +12 is not allowed: the client sends it.",
  ]);
});
