import { describe, expect, test } from "vitest";
import type { Delta } from "../../engine/index.ts";
import { frameWords, typesInWords } from "./frame-words.ts";

/** As the API sends them: data whose ids have lost their brands. */
const words = (...deltas: readonly Readonly<Record<string, unknown>>[]): string =>
  frameWords({ deltas: deltas as unknown as readonly Delta[] });

const added = (id: number) => ({ type: "block-added", block: { id } });
const set = (type: string, block: number, value: unknown) => ({ type, block, to: { value, by: "user" } });
const usage = { input: 1_000, cacheRead: 300, cacheWrite: 0, output: 42 };

describe("a frame in words", () => {
  test.each([
    [[added(4)], "added #4"],
    [[added(4), added(5), added(6)], "added 3 blocks (#4 to #6)"],
    [[added(4), added(9)], "added 2 blocks (#4 #9)"],
    [[1, 3, 5, 7, 9, 11].map(added), "added 6 blocks (#1 #3 #5 #7 #9 …)"],
    [[set("pin-set", 3, "top"), set("pin-set", 4, "none")], "pinned top #3, unpinned #4"],
    [[set("archive-set", 3, { reason: "done" })], "archived #3"],
    [[set("archive-set", 3, null)], "restored #3"],
    [[set("level-set", 2, "trimmed")], "trimmed #2"],
    [[{ type: "exchange-opened", exchange: { id: 5, role: "turn" } }], "request 5 opened (turn)"],
    [
      [{ type: "exchange-closed", end: { exchange: 5, outcome: "complete", status: 200, usage } }],
      "request 5 complete 200, 1.3k in, 42 out",
    ],
    [
      [{ type: "exchange-closed", end: { exchange: 5, outcome: "aborted", status: null, usage: null } }],
      "request 5 aborted",
    ],
  ])("%#: %j", (deltas, expected) => {
    expect(words(...deltas)).toBe(expected);
  });

  test("bookkeeping is said only where nothing else happened", () => {
    expect(words({ type: "ids-reserved" }, added(4))).toBe("added #4");
    expect(words({ type: "ids-reserved" })).toBe("reserved ids");
    expect(words()).toBe("nothing");
  });

  test("what a newer Aperture says is named as it is", () => {
    expect(words({ type: "moon-risen" })).toBe("moon risen");
    expect(typesInWords(["block-added", "turn-sent"])).toBe("block added; turn sent");
  });
});
