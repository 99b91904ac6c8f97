import { describe, expect, it } from "vitest";
import { blockId, unwrap } from "../base/index.ts";
import type { Verb } from "./command.ts";
import { parseCommand } from "./grammar.ts";
import {
  type Acts,
  commandsExcess,
  dampedBlocks,
  excessOf,
  type Load,
  noActs,
  turnLimits,
  withAct,
  withFailure,
} from "./limit.ts";

const block = blockId(3);

function load(text: string, over: Partial<Load> = {}): Load {
  const command = unwrap(parseCommand(text));
  const none = { changed: [], pinnedTokens: 0, memoryTokens: 0 };
  return { turn: 1, command, windowTokens: 1_000, ...none, ...over };
}

const sized = (...tokens: readonly number[]) =>
  tokens.map((count, at) => ({ block: blockId(at + 1), tokens: count }));

/** After these verbs on block 3, each in its turn. */
function having(acts: readonly (readonly [number, string])[]): Acts {
  return acts.reduce<Acts>((so, [turn, text]) => withAct(so, load(text, { turn }), [block]), noActs);
}

function damping(acts: Acts, turn: number, verb: Verb) {
  return [...dampedBlocks(acts, { turn, verb, blocks: [blockId(9), block] }).entries()];
}

describe("a turn", () => {
  it("has twenty commands, done or failed, and the next one has them again", () => {
    let acts = noActs;
    for (let count = 0; count < turnLimits.commandsMax; count += 1) {
      expect(commandsExcess(acts, 1)).toBeNull();
      acts = count % 2 === 0 ? withAct(acts, load("@pin(3)"), []) : withFailure(acts, 1).acts;
    }
    expect(commandsExcess(acts, 1)).toMatch(/^20 commands were used in this turn; go on with the task/);
    expect(commandsExcess(acts, 2)).toBeNull();
  });

  it("changes 30 % of the window, all commands together", () => {
    const first = load("@compress(3)", { changed: sized(200) });
    expect(excessOf(noActs, first)).toBeNull();
    const acts = withAct(noActs, first, [block]);
    expect(excessOf(acts, load("@compress(4)", { changed: sized(100) }))).toBeNull();
    expect(excessOf(acts, load("@compress(4)", { changed: sized(101) }))).toBe(
      "it would change 101 tokens and 100 are left in this turn; choose fewer blocks",
    );
    expect(excessOf(acts, load("@compress(4)", { changed: sized(101), turn: 2 }))).toBeNull();
    const full = withAct(acts, load("@compress(4)", { changed: sized(100) }), []);
    expect(excessOf(full, load("@focus(4)"))).toBeNull();
  });

  it("names a beginning that would not be too much", () => {
    expect(excessOf(noActs, load("@compress(middle)", { changed: sized(100, 150, 51, 1) }))).toBe(
      "it would change 302 tokens and 300 are left in this turn; choose fewer blocks, such as block-1..block-2",
    );
  });

  it("pins up to a quarter of the window, and notes take 2 % of it", () => {
    expect(excessOf(noActs, load("@pin(3)", { pinnedTokens: 250 }))).toBeNull();
    expect(excessOf(noActs, load("@pin(3)", { pinnedTokens: 251 }))).toBe(
      "pins would take 251 tokens and may take 250; unpin something first",
    );
    for (const text of ["@create('a')", "@update(3, 'a')"]) {
      expect(excessOf(noActs, load(text, { memoryTokens: 20 }))).toBeNull();
      expect(excessOf(noActs, load(text, { memoryTokens: 21 }))).toBe(
        "notes would take 21 tokens and may take 20; shorten this one, or archive an older one",
      );
    }
  });
});

describe("to and fro", () => {
  it("a block is pinned and unpinned three times, then it stays for a while", () => {
    const acts = having([
      [1, "@pin(3)"],
      [2, "@unpin(3)"],
      [3, "@pin(3)"],
    ]);
    const why = "it was pinned and unpinned 3 times within 10 turns; leave it as it is for now";
    expect(damping(acts, 4, "unpin")).toEqual([[block, why]]);
    expect(damping(acts, 4, "pin")).toEqual([[block, why]]);
    expect(damping(acts, 4, "archive")).toEqual([]);
    expect(damping(acts, 11, "unpin")).toEqual([]);
  });

  it("compressing what was expanded again and again is refused; reading it never is", () => {
    const acts = having([
      [1, "@compress(3)"],
      [2, "@expand(3)"],
      [3, "@compress(3)"],
      [4, "@expand(3)"],
    ]);
    expect(damping(acts, 5, "compress")).toEqual([
      [block, "it was compressed and expanded by turns 3 times within 10 turns; leave it as it is for now"],
    ]);
    expect(damping(acts, 5, "expand")).toEqual([]);
    const steady = having([1, 2, 3, 4, 5].map((turn) => [turn, "@expand(3)"] as const));
    expect(damping(steady, 6, "compress")).toEqual([]);
  });

  it("a block is updated three times", () => {
    const acts = having([1, 2, 3].map((turn) => [turn, `@update(3, 'text ${turn}')`] as const));
    expect(damping(acts, 4, "update")).toEqual([
      [block, "it was updated 3 times within 10 turns; leave it as it is for now"],
    ]);
  });

  it("the same note is made once, and five in a turn", () => {
    const acts = having([[1, "@create('One  thing')"]]);
    expect(excessOf(acts, load("@create(' one thing ')", { turn: 4 }))).toBe(
      "the same note was made at turn 1; it is kept",
    );
    expect(excessOf(acts, load("@create('another')", { turn: 4 }))).toBeNull();
    expect(excessOf(acts, load("@update(3, 'one thing')", { turn: 4 }))).toBeNull();
    expect(excessOf(acts, load("@create('one thing')", { turn: 11 }))).toBeNull();
    const many = having([1, 2, 3, 4, 5].map((count) => [7, `@create('note ${count}')`] as const));
    expect(excessOf(many, load("@create('note 6')", { turn: 7 }))).toMatch(
      /^5 notes were made in this turn; put/,
    );
    expect(excessOf(many, load("@create('note 6')", { turn: 8 }))).toBeNull();
  });
});

describe("failures", () => {
  it("three in a row bring one reminder, not one for each", () => {
    let acts = noActs;
    const reminders: (string | null)[] = [];
    for (let count = 0; count < 9; count += 1) {
      const failed = withFailure(acts, count);
      acts = failed.acts;
      reminders.push(failed.reminder);
    }
    expect(reminders.map((reminder) => reminder !== null)).toEqual([
      ...[false, false, true],
      ...[false, false, false, false, false, false],
    ]);
    expect(reminders[2]).toMatch(/^Three commands in a row failed\. Use ids/);
    expect(withAct(acts, load("@pin(3)"), []).failures).toBe(0);
  });
});

describe("what is remembered", () => {
  it("stays small, however much is done", () => {
    let acts = noActs;
    const many = Array.from({ length: 5_000 }, (_, at) => blockId(at + 1));
    for (let turn = 1; turn < 60; turn += 1) {
      for (let count = 0; count < 30; count += 1) acts = withAct(acts, load("@pin(3)", { turn }), many);
    }
    expect(acts.recent.length).toBeLessThanOrEqual(200);
    expect(acts.recent.every(({ blocks }) => blocks.length <= 200)).toBe(true);
    expect(acts.recent.every(({ turn }) => 59 - turn < turnLimits.dampingTurns)).toBe(true);
  });
});
