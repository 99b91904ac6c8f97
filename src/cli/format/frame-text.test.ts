import { describe, expect, test } from "vitest";
import type { Delta } from "../../engine/frames/index.ts";
import { deltaTypesText, frameText } from "./frame-text.ts";

/** Deltas as the API sends them, without branded ids. */
const text = (...deltas: readonly Readonly<Record<string, unknown>>[]): string =>
  frameText({ deltas: deltas as unknown as readonly Delta[] });

const added = (id: number) => ({ type: "block-added", block: { id } });
const set = (type: string, block: number, value: unknown) => ({ type, block, to: { value, by: "user" } });
const permits = (rule: string, scope: string) => ({
  type: "permission-set",
  actor: "model",
  verb: "pin",
  to: { rule, scope, until: null },
});
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
    [
      [
        {
          type: "approval-asked",
          approval: { id: 2, actor: "model", command: "@pin(#4)\u001b[2J", why: "tainted" },
        },
      ],
      "model asks for approval 2: @pin(#4) (tainted)",
    ],
    [[{ type: "approval-decided", approval: 2, to: "denied", reason: "" }], "approval 2 denied"],
    [
      [{ type: "approval-decided", approval: 2, to: "expired", reason: "nobody decided" }],
      "approval 2 expired (nobody decided)",
    ],
    [
      [permits("allow", "once"), permits("deny", "turn")],
      "allows pin by model once, denies pin by model in this turn",
    ],
    [[permits("ask", "session")], "asks about pin by model in this session"],
    [
      [{ type: "permission-set", actor: "model", verb: "pin", to: null }],
      "removes the rule for pin by model",
    ],
    [[{ type: "mode-set", to: "ask" }], "set the mode to ask"],
    [[{ type: "mode-set", to: null }], "set the mode as configured"],
  ])("%#: %j", (deltas, expected) => {
    expect(text(...deltas)).toBe(expected);
  });

  test("bookkeeping is mentioned only if nothing else happened", () => {
    expect(text({ type: "ids-reserved" }, added(4))).toBe("added #4");
    expect(text({ type: "ids-reserved" })).toBe("reserved ids");
    expect(text()).toBe("nothing");
  });

  test("an unknown delta type is named as it is", () => {
    expect(text({ type: "moon-risen" })).toBe("moon risen");
    expect(deltaTypesText(["block-added", "turn-sent"])).toBe("block added; turn sent");
  });
});
