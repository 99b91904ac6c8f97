import { describe, expect, it } from "vitest";
import { blockId, unwrap } from "../base/index.ts";
import type { Verb } from "./command.ts";
import { parseCommand } from "./grammar.ts";
import {
  type CommandHistory,
  type CommandLoad,
  commandsExcess,
  dampedBlocks,
  loadExcess,
  noCommands,
  turnLimits,
  withCommand,
  withFailure,
} from "./limit.ts";

const block = blockId(3);

function load(text: string, over: Partial<CommandLoad> = {}): CommandLoad {
  const command = unwrap(parseCommand(text));
  const none = { changed: [], pinnedTokens: 0, memoryTokens: 0 };
  return { turn: 1, command, windowTokens: 1_000, ...none, ...over };
}

const sized = (...tokens: readonly number[]) =>
  tokens.map((count, at) => ({ block: blockId(at + 1), tokens: count }));

/** The history after these commands on block 3, each in its turn. */
function historyAfter(commands: readonly (readonly [number, string])[]): CommandHistory {
  return commands.reduce<CommandHistory>(
    (so, [turn, text]) => withCommand(so, load(text, { turn }), [block]),
    noCommands,
  );
}

function damping(history: CommandHistory, turn: number, verb: Verb) {
  return [...dampedBlocks(history, { turn, verb, blocks: [blockId(9), block] }).entries()];
}

describe("a turn", () => {
  it("allows twenty commands, done or failed, and the next turn allows twenty again", () => {
    let history = noCommands;
    for (let count = 0; count < turnLimits.commandsMax; count += 1) {
      expect(commandsExcess(history, 1)).toBeNull();
      history = count % 2 === 0 ? withCommand(history, load("@pin(3)"), []) : withFailure(history, 1).history;
    }
    expect(commandsExcess(history, 1)).toMatch(/^20 commands were used in this turn; go on with the task/);
    expect(commandsExcess(history, 2)).toBeNull();
  });

  it("changes at most 30 % of the window, all commands together", () => {
    const first = load("@compress(3)", { changed: sized(200) });
    expect(loadExcess(noCommands, first)).toBeNull();
    const history = withCommand(noCommands, first, [block]);
    expect(loadExcess(history, load("@compress(4)", { changed: sized(100) }))).toBeNull();
    expect(loadExcess(history, load("@compress(4)", { changed: sized(101) }))).toBe(
      "it would change 101 tokens and 100 are left in this turn; choose fewer blocks",
    );
    expect(loadExcess(history, load("@compress(4)", { changed: sized(101), turn: 2 }))).toBeNull();
    const full = withCommand(history, load("@compress(4)", { changed: sized(100) }), []);
    expect(loadExcess(full, load("@focus(4)"))).toBeNull();
  });

  it("names the first blocks that would still fit", () => {
    expect(loadExcess(noCommands, load("@compress(middle)", { changed: sized(100, 150, 51, 1) }))).toBe(
      "it would change 302 tokens and 300 are left in this turn; choose fewer blocks, such as block-1..block-2",
    );
  });

  it("pins at most a quarter of the window, and memories take at most 2 % of it", () => {
    expect(loadExcess(noCommands, load("@pin(3)", { pinnedTokens: 250 }))).toBeNull();
    expect(loadExcess(noCommands, load("@pin(3)", { pinnedTokens: 251 }))).toBe(
      "pins would take 251 tokens and may take 250; unpin something first",
    );
    for (const text of ["@create('a')", "@update(3, 'a')"]) {
      expect(loadExcess(noCommands, load(text, { memoryTokens: 20 }))).toBeNull();
      expect(loadExcess(noCommands, load(text, { memoryTokens: 21 }))).toBe(
        "notes would take 21 tokens and may take 20; shorten this one, or archive an older one",
      );
    }
  });
});

describe("damping", () => {
  it("a block that was pinned and unpinned three times stays as it is for a while", () => {
    const history = historyAfter([
      [1, "@pin(3)"],
      [2, "@unpin(3)"],
      [3, "@pin(3)"],
    ]);
    const why = "it was pinned and unpinned 3 times within 10 turns; leave it as it is for now";
    expect(damping(history, 4, "unpin")).toEqual([[block, why]]);
    expect(damping(history, 4, "pin")).toEqual([[block, why]]);
    expect(damping(history, 4, "archive")).toEqual([]);
    expect(damping(history, 11, "unpin")).toEqual([]);
  });

  it("a block compressed and expanded in turns is not compressed again, but can always be read", () => {
    const history = historyAfter([
      [1, "@compress(3)"],
      [2, "@expand(3)"],
      [3, "@compress(3)"],
      [4, "@expand(3)"],
    ]);
    expect(damping(history, 5, "compress")).toEqual([
      [block, "it was compressed and expanded by turns 3 times within 10 turns; leave it as it is for now"],
    ]);
    expect(damping(history, 5, "expand")).toEqual([]);
    const steady = historyAfter([1, 2, 3, 4, 5].map((turn) => [turn, "@expand(3)"] as const));
    expect(damping(steady, 6, "compress")).toEqual([]);
  });

  it("a block is updated at most three times", () => {
    const history = historyAfter([1, 2, 3].map((turn) => [turn, `@update(3, 'text ${turn}')`] as const));
    expect(damping(history, 4, "update")).toEqual([
      [block, "it was updated 3 times within 10 turns; leave it as it is for now"],
    ]);
  });

  it("the same memory is made once, and at most five are made in a turn", () => {
    const history = historyAfter([[1, "@create('One  thing')"]]);
    expect(loadExcess(history, load("@create(' one thing ')", { turn: 4 }))).toBe(
      "the same note was made at turn 1; it is kept",
    );
    expect(loadExcess(history, load("@create('another')", { turn: 4 }))).toBeNull();
    expect(loadExcess(history, load("@update(3, 'one thing')", { turn: 4 }))).toBeNull();
    expect(loadExcess(history, load("@create('one thing')", { turn: 11 }))).toBeNull();
    const many = historyAfter([1, 2, 3, 4, 5].map((count) => [7, `@create('note ${count}')`] as const));
    expect(loadExcess(many, load("@create('note 6')", { turn: 7 }))).toMatch(
      /^5 notes were made in this turn; put/,
    );
    expect(loadExcess(many, load("@create('note 6')", { turn: 8 }))).toBeNull();
  });
});

describe("failures", () => {
  it("three in a row bring one reminder, not one for each", () => {
    let history = noCommands;
    const reminders: (string | null)[] = [];
    for (let count = 0; count < 9; count += 1) {
      const failed = withFailure(history, count);
      history = failed.history;
      reminders.push(failed.reminder);
    }
    expect(reminders.map((reminder) => reminder !== null)).toEqual([
      ...[false, false, true],
      ...[false, false, false, false, false, false],
    ]);
    expect(reminders[2]).toMatch(/^Three commands in a row failed\. Use ids/);
    expect(withCommand(history, load("@pin(3)"), []).failures).toBe(0);
  });
});

describe("the history", () => {
  it("stays small after any number of commands", () => {
    let history = noCommands;
    const many = Array.from({ length: 5_000 }, (_, at) => blockId(at + 1));
    for (let turn = 1; turn < 60; turn += 1) {
      for (let count = 0; count < 30; count += 1)
        history = withCommand(history, load("@pin(3)", { turn }), many);
    }
    expect(history.recent.length).toBeLessThanOrEqual(200);
    expect(history.recent.every(({ blocks }) => blocks.length <= 200)).toBe(true);
    expect(history.recent.every(({ turn }) => 59 - turn < turnLimits.dampingTurns)).toBe(true);
  });
});
